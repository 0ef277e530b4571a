"""Jumps: going back in a lineage, taking that back, and branching off.

A jump is an ordinary commit on top of the tip. Its log is the whole log at an ancestor and one line
more, its code that ancestor's. Rewind, undo, fork and verify all go by the rules here.
"""

from collections.abc import Sequence
from typing import assert_never

from ouro.core.events import (
    Event,
    EvolveStepCompleted,
    Jump,
    LineageCreated,
    LineageForked,
    LineageRestored,
    LineageRewound,
)
from ouro.core.lineage import Lineage, fold
from ouro.errors import UsageProblem

BEGINNINGS = (LineageCreated, LineageForked)
ENDS = (*BEGINNINGS, EvolveStepCompleted)
"""What a log ends with where a rewind may go: a generation, or how the lineage began."""


def length_at(events: Sequence[Event], generation: int) -> int:
    """How many of `events` there were at the end of `generation` (0: at the creation).

    Raises UsageProblem where the log holds no such end, or only another lineage could go there.
    """
    start = beginning(events)
    if generation < events[start].generation:
        fork = events[start].data
        source = fork.source if isinstance(fork, LineageForked) else ""
        raise UsageProblem(
            f"generation {generation} belongs to {source}, from which this lineage was forked at "
            f"generation {events[start].generation}",
            f"fork it again: ouro fork {source} NEW --at {generation}",
        )
    if generation == events[start].generation:
        return start + 1
    ends = completions(events)
    if generation not in ends:
        raise UsageProblem(
            f"generation {generation} was not completed in {events[-1].lineage_id}",
            f"choose one of {events[start].generation} to {max(ends, default=0)}",
        )
    return ends[generation].seq


def beginning(events: Sequence[Event]) -> int:
    """The index of the event with which the lineage itself began: its creation or its fork."""
    return next(i for i in reversed(range(len(events))) if isinstance(events[i].data, BEGINNINGS))


def completions(events: Sequence[Event]) -> dict[int, Event]:
    """The number of each completed generation -> the event that completed it."""
    return {e.generation: e for e in events if isinstance(e.data, EvolveStepCompleted)}


def stands_at(events: Sequence[Event], length: int) -> bool:
    """Whether nothing happened since the first `length` of `events`, but a jump to there."""
    last_is_jump = isinstance(events[-1].data, Jump)
    return len(events) == length + last_is_jump


def jump(kind: type[Jump], before: Lineage, left: str, target: Lineage, commit: str) -> Jump:
    """The fact of going from `before`, at the tip `left`, to `target`, at `commit`."""
    return kind(
        n=before.jumps + 1,
        from_generation=before.reached,
        to_generation=target.reached,
        commit=commit,
        left=left,
        spent=before.spent,
    )


def left_behind(before: Sequence[Event], after: Sequence[Event]) -> tuple[int, ...]:
    """The completed generations that the log `before` holds, and `after` does not."""
    kept = {event.id for event in completions(after).values()}
    return tuple(number for number, end in completions(before).items() if end.id not in kept)


def fault(said: Jump, before: Sequence[Event], left: str, target: Sequence[Event]) -> str | None:
    """What is wrong with a jump from the log `before`, at the commit `left`, to the log `target`,
    at `said.commit`; None where it is as the rules have it."""
    was, goes_to = fold(before), fold(target)
    assert was, "a jump leaves a log"
    if goes_to is None:
        return f"{said.commit} holds no log to go to"
    if said != jump(type(said), was, left, goes_to, said.commit):
        return "its numbers are not those of the logs that it goes from and to"
    match said:
        case LineageRewound():
            return _rewind_fault(before, target)
        case LineageRestored():
            return None if said.commit == was.left else "it does not go where the last jump left"
        case _:  # pragma: no cover
            assert_never(said)


def _rewind_fault(before: Sequence[Event], target: Sequence[Event]) -> str | None:
    if tuple(before[: len(target)]) != tuple(target):
        return "the log that it goes back to is none that this one began with"
    if not isinstance(target[-1].data, ENDS):
        return "it goes back into the middle of a generation"
    if len(target) <= beginning(before):
        return "it goes back to before the fork"
    return None
