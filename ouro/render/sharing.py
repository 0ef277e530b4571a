"""What a push or a pull did, and how to take it back."""

from __future__ import annotations

from ouro.app.pull import Pulled
from ouro.app.push import Pushed
from ouro.core.story import counted
from ouro.render.screen import printable


def pushed_text(one: Pushed) -> str:
    """What a push did, or would do, for one lineage."""
    if one.outcome == "same":
        return printable(f"{one.lineage_id}: {one.remote} has all of it")
    would = "would be " if one.dry_run else ""
    lines = [f"{one.lineage_id} {would}pushed to {one.remote}"]
    lines += [
        f"  {(c.old or 'new')[:12]:<13}{(c.new or 'deleted')[:12]:<13}{c.ref}" for c in one.changes
    ]
    if not one.dry_run:
        lines.append(f"  undo         {one.undo}")
    return printable("\n".join(lines))


def pulled_text(one: Pulled) -> str:
    """What a pull did for one lineage."""
    tags = f"  {counted(one.tags, 'tag')} set"
    lines = {
        "same": [f"{one.lineage_id}: nothing new at {one.remote}", *([tags] if one.tags else [])],
        "ahead": [f"{one.lineage_id}: only here is something new: ouro push {one.remote}"],
    }.get(one.outcome)
    if lines is None:
        lines = [
            f"{one.lineage_id} pulled from {one.remote} ({one.outcome})",
            f"  old tip      {one.old or 'none'}",
            f"  new tip      {one.new}",
            tags.replace("  ", "  tags         ", 1),
            *([f"  yours        {one.fork}"] if one.fork else []),
            *([f"  kept         {one.rescue}"] if one.rescue else []),
            f"  undo         {one.undo}",
        ]
    return printable("\n".join(lines))


def refusal_text(lineage_id: str, reason: str, hint: str | None) -> str:
    """What stood in the way of one lineage among several."""
    advice = f"\n  hint: {hint}" if hint else ""
    return printable(f"ouro: {lineage_id}: {reason}{advice}")
