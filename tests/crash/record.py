"""All the instants of a lineage's life: recorded on one, and arranged into the plans of many."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path

from tests.crash.points import Plan, Point, spread
from tests.crash.stand import GENERATIONS, PHASES_OF, Stand

READING = frozenset(
    "config diff-index for-each-ref ls-files rev-parse status var worktree-list".split()
)
"""Git commands that change nothing: before and after one is the same instant."""
LOCKING = ("add", "read-tree", "reset", "symbolic-ref", "update-ref", "worktree-add")
MOMENTS = ("before", "middle", "after")
TIMED = 40
SEED = 20
"""Of the random instants: which second of which start."""

Place = tuple[int, str]
"""Generation, and phase/what/n."""


def everything(folder: Path) -> list[Plan]:
    """The plans of all lives, a few dozen."""
    return [*_first_starts(folder / "whole"), *_second_starts(folder / "killed"), *_timed()]


def _first_starts(folder: Path) -> list[Plan]:
    """Every git call in every way, every other effect, and every moment of every agent call."""
    stand = _recorded(folder, ())
    calls, effects = [], []
    for generation, (git, others) in enumerate(stand.traces, 1):
        calls += [(generation, place) for place in git]
        effects += [(generation, place) for place in others]
    points = [*_git_points(calls), *_effect_points(effects)]
    for generation, phases in PHASES_OF.items():
        points += [
            Point(generation, "agent", f"{phase}/{moment}")
            for phase in phases
            for moment in MOMENTS
        ]
    return spread(points)


def _second_starts(folder: Path) -> list[Plan]:
    """The same while a second start puts right what the first one left; each in a few phases."""
    deaths = [Point(g, "agent", f"{PHASES_OF[g][-1]}/middle") for g in range(1, GENERATIONS + 1)]
    deaths[0], deaths[2] = Point(1, "agent", "execute/middle"), Point(3, "agent", "execute/middle")
    stand = _recorded(folder, tuple(deaths))
    calls, effects = [], []
    # Every generation has two starts: one that dies, one that first recovers.
    for generation, (git, others) in enumerate(stand.traces[1::2], 1):
        calls += [(generation, place) for place in git if place.startswith("recovery/")]
        effects += [(generation, place) for place in others if place.startswith("recovery/")]
    second = [p._replace(attempt=2) for p in (*_git_points(calls), *_effect_points(effects))]
    return [
        tuple(sorted((*plan, *(deaths[p.generation - 1] for p in plan)), key=_order))
        for plan in spread(second)
    ]


def _order(point: Point) -> tuple[int, int]:
    return point.generation, point.attempt


def _recorded(folder: Path, plan: Plan) -> Stand:
    folder.mkdir()
    stand = Stand(folder, trace=True).set_up()
    stand.live(plan)
    return stand


def _git_points(calls: Sequence[Place]) -> list[Point]:
    wanted = [(place, how) for place in _names(calls) for how in _ways(place)]
    return [Point(g, "git", place, how) for g, place, how in _in_turn(wanted, calls)]


def _effect_points(effects: Sequence[Place]) -> list[Point]:
    """Starts of git are left out: they are git's points already, but for the first of a phase,
    which is the agent's."""
    kept = [p for p in _names(effects) if "/fork_exec/" not in p or p.endswith("/fork_exec/1")]
    return [Point(g, "effect", place) for g, place, _ in _in_turn([(p, "") for p in kept], effects)]


def _names(places: Iterable[Place]) -> list[str]:
    return list(dict.fromkeys(name for _, name in places))


def _ways(place: str) -> tuple[str, ...]:
    command = place.split("/")[1]
    if command in READING:
        return ("before",)
    if command.startswith(LOCKING):
        return ("before", "after", "orphan", "lock", "half")
    return ("before", "after", "orphan")


def _in_turn(
    wanted: Sequence[tuple[str, str]], places: Sequence[Place]
) -> Iterable[tuple[int, str, str]]:
    """Each wanted one in one of the generations that have its place: that with the least so far."""
    taken = Counter({generation: 0 for generation, _ in places})
    for name, how in wanted:
        generation = min((g for g, other in places if other == name), key=lambda g: (taken[g], g))
        taken[generation] += 1
        yield generation, name, how


def _timed() -> list[Plan]:
    chance = random.Random(SEED)
    seconds = [f"{chance.uniform(0.1, 3.0):.3f}" for _ in range(TIMED)]
    generations = cycle(range(1, GENERATIONS + 1))
    return spread(Point(next(generations), "time", second) for second in seconds)
