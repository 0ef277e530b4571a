"""What is left over, and what stays."""

from __future__ import annotations

from ouro.app.gc import Collection
from ouro.render.screen import printable


def collection_text(one: Collection) -> str:
    """What can go, or went, and what stays, with the reasons."""
    did = "removed" if one.removed else "can go"
    lines = []
    for item in one.items:
        lines.append(f"{did:<8} {item.kind:<10} {item.name}{_size(item.bytes)}: {item.why}")
        lines += [f"{'':<8} {name:<10} {text}" for name, text in item.hints() if text]
    lines += [f"{'kept':<8} {kept.kind:<10} {kept.name}: {kept.why}" for kept in one.kept]
    if not one.items:
        lines.append("nothing to remove")
    elif not one.removed:
        lines.append("nothing was removed; with --yes it is")
    return printable("\n".join(lines))


def _size(number: int | None) -> str:
    if number is None:
        return ""
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f" ({number} {unit})"
        number //= 1000
    return f" ({number} GB)"
