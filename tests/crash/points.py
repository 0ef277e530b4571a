"""Where a step is killed: names for instants, and plans that spread them over a lineage's life."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Point(NamedTuple):
    """An instant in the step of `generation`, in its `attempt`-th start.

    `kind` is git, effect, agent or time. `place` is `phase/what/n` (the n-th call of that git
    command, or n-th effect of that name, while the phase is marked; `idle` where none is,
    `recovery` while a dead step's mark stands), `phase/moment` for the agent, seconds for time.
    `how` is for git alone: before, after, orphan, lock, half (see `at_git`).
    """

    generation: int
    kind: str
    place: str
    how: str = ""
    attempt: int = 1

    def __str__(self) -> str:
        again = f" (start {self.attempt})" if self.attempt > 1 else ""
        return " ".join(filter(None, (f"gen {self.generation}{again}:", *self[1:4])))

    @property
    def phase(self) -> str:
        return self.place.partition("/")[0]

    @property
    def between_ref_and_index(self) -> bool:
        """Whether the branch has just moved here, so that the workspace cannot have followed."""
        return "/update-ref-stdin/" in self.place and self.how in ("after", "half")


Plan = tuple[Point, ...]
"""What happens in one life of a lineage, at most one point for each start of a step."""


def point(text: str, kind: str, how: str = "") -> Point:
    """`"2 execute/add/1"`, or with the number of the start: `"2.3 recovery/add/1"`."""
    where, place = text.split(" ", 1)
    generation, _, attempt = where.partition(".")
    return Point(int(generation), kind, place, how, int(attempt or 1))


def git(how: str, *places: str) -> list[Point]:
    return [point(place, "git", how) for place in places]


def effects(*places: str) -> list[Point]:
    return [point(place, "effect") for place in places]


def agents(*places: str) -> list[Point]:
    return [point(place, "agent") for place in places]


def spread(points: Iterable[Point]) -> list[Plan]:
    """As few plans as possible, each with at most one point for a start of a step."""
    queues: dict[tuple[int, int], list[Point]] = defaultdict(list)
    for one in points:
        queues[one.generation, one.attempt].append(one)
    plans = []
    while any(queues.values()):
        plans.append(tuple(queue.pop(0) for _, queue in sorted(queues.items()) if queue))
    return plans


def name(plan: Sequence[Point]) -> str:
    return "; ".join(map(str, plan))
