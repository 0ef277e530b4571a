"""Which generation brought what, as a table."""

from __future__ import annotations

from ouro.core.blame import Blame, Point
from ouro.render.screen import NOTED, Screen, printable

_COLUMNS = ("brought", "changed", "met", "broke", "state")


def blame_text(one: Blame, screen: Screen) -> str:
    criteria = [
        (c.criterion.id, *map(_point, (c.brought, c.changed, c.met, c.broke)), str(c.state))
        for c in one.criteria
    ]
    fields = [(f.field.name, *map(_point, (f.brought, f.changed))) for f in one.fields]
    rows = [("criterion", *_COLUMNS), *criteria, ("field", *_COLUMNS[:2]), *fields]
    widths = [max(len(row[at]) for row in rows if at < len(row)) for at in range(1 + len(_COLUMNS))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False)).rstrip()
        for row in rows
    ]
    heads = (0, len(criteria) + 1)
    return "\n".join(
        screen.painted(printable(line), NOTED) if at in heads else printable(line)
        for at, line in enumerate(lines)
    )


def _point(point: Point | None) -> str:
    """`gen 3 1a2b3c4d`, where generation 0 is the creation."""
    return f"gen {point.generation} {point.commit[:8]}" if point else "–"
