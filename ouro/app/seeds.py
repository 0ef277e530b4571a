"""Seeds as files: a template to begin with, and what to say of one before it costs money."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from ouro.app import templates
from ouro.app.create import read_seed
from ouro.core.seed_advice import Advice, advice


class Checkup(Struct, frozen=True):
    """`warnings` are the reader's, `uncovered` the criteria that the offline rules cannot meet."""

    file: str
    criteria: int
    checked: int
    hidden: int
    warnings: tuple[str, ...]
    advice: tuple[Advice, ...]
    uncovered: tuple[str, ...]


def new(path: Path) -> None:
    """Write a commented template; raises UsageProblem where there is a file already."""
    templates.write_new(path, templates.text("seed.yaml"))


def check(path: Path) -> Checkup:
    """What there is to say of the seed in `path`; raises UsageProblem where it cannot be read."""
    from ouro.agents.offline import uncovered

    parsed = read_seed(path)
    criteria = parsed.seed.acceptance_criteria
    return Checkup(
        file=str(path),
        criteria=len(criteria),
        checked=sum(bool(c.checks) for c in criteria),
        hidden=len(parsed.hidden),
        warnings=parsed.warnings,
        advice=advice(parsed.seed),
        uncovered=uncovered(parsed.seed),
    )
