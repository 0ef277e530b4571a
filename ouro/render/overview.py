"""A lineage as a page: its spec, and how far it has come."""

from __future__ import annotations

from ouro.core.overview import CriterionState, Overview
from ouro.render.fact import criterion_text, listed, named_lines
from ouro.render.screen import TITLE, Screen, printable


def overview_text(one: Overview, screen: Screen) -> str:
    lines = [
        *named_lines("goal", one.goal),
        *named_lines("constraints", one.constraints),
        "criteria:",
        *(f"  {line}" for each in one.criteria for line in _criterion(each)),
        *named_lines(f"ontology {one.ontology.name}".rstrip(), one.ontology.fields),
        f"generation: {_progress(one)}",
    ]
    title = screen.painted(printable(f"lineage {one.lineage_id}"), TITLE)
    return "\n".join([title, *(printable(line) for line in lines)])


def _criterion(one: CriterionState) -> list[str]:
    first, *more = listed(criterion_text(one.criterion).splitlines())
    return [f"{first} [{one.state}]", *more]


def _progress(one: Overview) -> str:
    if one.generation == 0:
        return "none yet"
    if one.action:
        return f"{one.generation}, {one.action}: {one.reason}"
    return f"{one.generation}, in progress: {', '.join(one.done) or 'nothing'} done"
