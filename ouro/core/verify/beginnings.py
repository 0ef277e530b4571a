"""The rules of the lines that stand alone: a creation, a fork, a jump."""

from collections.abc import Iterator, Sequence

from ouro.core import jumps
from ouro.core.events import Event, Jump, LineageCreated, LineageForked
from ouro.core.lineage import Lineage
from ouro.core.verify.history import Commit


def creation_faults(event: Event, base: Commit | None, commit: Commit) -> Iterator[str]:
    """What is wrong with the lineage's first line, in `commit` on top of `base`."""
    data = event.data
    assert isinstance(data, LineageCreated), "the codec lets no log begin otherwise"
    if event.generation != 0:
        yield f"the creation is of generation {event.generation}, not 0"
    if commit.parents != ((data.base,) if data.base else ()):
        yield f"the lineage starts from {data.base or 'nothing'}, its commit from another parent"
    if base and data.base and base.code != commit.code:
        yield "the code is not that of the base"
    if any(criterion.added_in for criterion in data.seed.acceptance_criteria):
        yield "a criterion of the first seed is marked as added later"


def fork_faults(
    event: Event, events: Sequence[Event], was: Lineage, before: Commit
) -> Iterator[str]:
    """What is wrong with a fork on top of the commit `before`, whose log is `events`."""
    data = event.data
    assert isinstance(data, LineageForked), "the codec lets nothing else hand a log on"
    if data.commit != before.id:
        yield f"it says that it was forked at {data.commit}"
    reached = len(was.generations)
    if (data.generation, event.generation) != (reached, reached):
        yield f"it was forked at generation {reached}, and says {data.generation}"
    if not isinstance(events[-1].data, jumps.ENDS):
        yield "it was forked in the middle of a generation"
    same = (data.hidden, data.seed_sha256) == (was.hidden, was.seed_sha256)
    if data.seed is None and not same:
        yield "its checks are others, and no other seed was given"


def jump_faults(
    event: Event, before: Sequence[Event], left: str, target: Sequence[Event]
) -> Iterator[str]:
    """What is wrong with a jump from the log `before`, at the commit `left`, to `target`."""
    assert isinstance(event.data, Jump), "only jumps are looked at here"
    if event.generation != target[-1].generation:
        yield f"the jump is of generation {event.generation}, not {target[-1].generation}"
    if fault := jumps.fault(event.data, before, left, target):
        yield fault
