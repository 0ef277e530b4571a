"""What changed between two generations, in the signs of a diff."""

from __future__ import annotations

from collections.abc import Sequence

from ouro.app.diff import Difference
from ouro.core.comparison import Comparison, SeedChanges
from ouro.core.seed import Criterion
from ouro.render.fact import criterion_text, field_text
from ouro.render.screen import ADDED, REMOVED, TITLE, Screen, printable

_COLOURS = {"+": ADDED, "-": REMOVED}


def difference_text(one: Difference, screen: Screen) -> str:
    """All but the code: git tells that itself."""
    found = one.comparison
    title = f"{one.lineage_id}: generation {found.before} against {found.after}"
    lines = [
        f"similarity {found.seed.similarity:g}",
        *seed_change_lines(found.seed),
        *_judgement_lines(found),
    ]
    return "\n".join(
        [screen.painted(printable(title), TITLE), *(_painted(line, screen) for line in lines)]
    )


def seed_change_lines(one: SeedChanges) -> list[str]:
    """A line for each field and criterion that came (+) or went (-); what changed is both."""
    lines = [f"+ field {field_text(field)}" for field in one.added]
    lines += [f"- field {field_text(field)}" for field in one.removed]
    for field in one.modified:
        lines += [f"- field {field_text(field.before)}", f"+ field {field_text(field.after)}"]
    lines += _criteria("+", one.criteria_added) + _criteria("-", one.criteria_removed)
    for criterion in one.criteria_changed:
        lines += _criteria("-", [criterion.before]) + _criteria("+", [criterion.after])
    return lines


def _criteria(sign: str, criteria: Sequence[Criterion]) -> list[str]:
    texts = [f"criterion {criterion_text(one)}" for one in criteria]
    return [f"{sign} {line}" for text in texts for line in text.splitlines()]


def _judgement_lines(one: Comparison) -> list[str]:
    lines = [f"{change.id}: {change.before} → {change.after}" for change in one.states]
    if one.qa_before != one.qa_after:
        lines.append(f"QA: {_score(one.qa_before)} → {_score(one.qa_after)}")
    return lines


def _score(score: float | None) -> str:
    return "none" if score is None else f"{score:g}"


def _painted(line: str, screen: Screen) -> str:
    text = printable(line)
    code = _COLOURS.get(line[:1])
    return screen.painted(text, code) if code else text
