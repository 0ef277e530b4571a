"""The user's contract: no generation changes goal, constraints or criteria that the user gave."""

from collections.abc import Iterator

from ouro.core.events import ReflectCompleted
from ouro.core.lineage import Lineage
from ouro.core.seed import Criterion, Seed
from ouro.core.seed_changes import next_seed


def faults(before: Lineage, data: ReflectCompleted) -> Iterator[str]:
    """What is wrong with the seed that a reflection leads to."""
    broken = [*_broken(before.original, data.seed)]
    yield from broken
    users = {c.id for c in before.original.acceptance_criteria}
    for change in data.criteria:
        if change.action == "revise" and change.id in users:
            yield f"it revises {change.id}, a criterion of the user's"
    if not broken and data.seed != next_seed(before.current.seed, data, before.number):
        yield "the new seed is not the one before with the changes that are listed"


def _broken(original: Seed, seed: Seed) -> Iterator[str]:
    if seed.goal != original.goal:
        yield "the user's goal is changed in the new seed"
    if seed.constraints != original.constraints:
        yield "the user's constraints are changed in the new seed"
    for criterion in original.acceptance_criteria:
        now = seed.criterion(criterion.id)
        if now is None:
            yield f"{criterion.id}, a criterion of the user's, is gone from the new seed"
        elif _words(now) != _words(criterion):
            yield f"{criterion.id}, a criterion of the user's, is changed in the new seed"


def _words(criterion: Criterion) -> tuple[object, ...]:
    return criterion.description, criterion.checks, criterion.hidden, criterion.added_in
