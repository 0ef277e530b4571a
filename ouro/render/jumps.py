"""What a jump did, and how to take it back."""

from __future__ import annotations

from ouro.app.fork import Forked
from ouro.app.jump import Jumped
from ouro.core.story import counted
from ouro.render.screen import printable


def jump_text(one: Jumped) -> str:
    """What a jump did, or would do, and how to take it back."""
    left = ", ".join(f"gen_{number}" for number in one.left) or "none"
    would = "would be " if one.dry_run else ""
    steps = f"generation {one.from_generation} -> {one.to_generation}"
    lines = [
        f"{one.lineage_id} {would}{one.action}: {steps}",
        f"  left behind   {left}" + (f" (kept as rewound_{one.n}/)" if one.left else ""),
        f"  code          {counted(one.files, 'file')} {'would ' if one.dry_run else ''}change",
        f"  old tip       {one.old}",
    ]
    if one.commit:
        lines.append(f"  new tip       {one.commit}")
    if one.rescue:
        lines.append(f"  your changes  {one.rescue} (git show {one.rescue})")
    if not one.dry_run:
        lines.append(f"  undo          {one.undo}")
    return printable("\n".join(lines))


def fork_text(one: Forked) -> str:
    seed = ", with another seed from there on" if one.new_seed else ""
    return printable(
        f"{one.lineage_id} forked from {one.source} at generation {one.generation} "
        f"({one.at[:12]}){seed}\n"
        f"  tip           {one.commit}\n"
        f"  go on         ouro step --lineage-id {one.lineage_id}\n"
        f"  undo          {one.undo}"
    )
