from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from ouro.core import jumps
from ouro.core.chain import extend
from ouro.core.codec import EMPTY_LOG, Log
from ouro.core.events import Data, Event, LineageRestored, LineageRewound
from ouro.core.lineage import Lineage, fold
from ouro.core.moves import Ended, RunPhase, next_move
from ouro.core.seed import Seed
from ouro.errors import UsageProblem
from tests.core.builders import (
    TWO,
    completed,
    created,
    executed,
    forked,
    judged,
    seal_all,
    wondered,
)

LEFT, TARGET = "1e" * 20, "7a" * 20
GENERATION: tuple[Data, ...] = (executed(), judged(True, False), completed())


def log(*facts: Data) -> Log:
    return extend(EMPTY_LOG, seal_all((created(), *facts)))


THREE = log(*GENERATION * 3)
"""Three generations: the events 1, 2–4, 5–7 and 8–10."""


def state(events: Sequence[Event]) -> Lineage:
    folded = fold(events)
    assert folded
    return folded


def after(events: Sequence[Event], *facts: Data) -> Sequence[Event]:
    before = extend(EMPTY_LOG, tuple(events))
    return extend(before, seal_all(facts, before, events[-1].lineage_id)).events


def back(before: Sequence[Event], to: int, left: str = LEFT) -> Sequence[Event]:
    """The log of a rewind of `before`, at the tip `left`."""
    target = before[: jumps.length_at(before, to)]
    fact = jumps.jump(LineageRewound, state(before), left, state(target), TARGET)
    return after(target, fact)


# --- where to go ---


@pytest.mark.parametrize(("generation", "length"), [(0, 1), (1, 4), (2, 7), (3, 10)])
def test_where_a_generation_ends(generation: int, length: int) -> None:
    assert jumps.length_at(THREE.events, generation) == length


def test_a_generation_that_is_not_finished_is_no_place_to_go() -> None:
    events = after(THREE.events, wondered())
    with pytest.raises(UsageProblem, match="generation 4 was not completed in greet") as problem:
        jumps.length_at(events, 4)
    assert problem.value.hint == "choose one of 0 to 3"


def test_below_the_fork_another_lineage_has_to_go() -> None:
    events = after(THREE.events, forked(source="greet"), *GENERATION)
    assert jumps.length_at(events, 3) == 11
    assert jumps.length_at(events, 4) == 14
    with pytest.raises(UsageProblem, match="generation 2 belongs to greet") as problem:
        jumps.length_at(events, 2)
    assert problem.value.hint == "fork it again: ouro fork greet NEW --at 2"


def test_where_it_stands_already() -> None:
    assert jumps.stands_at(THREE.events, 10)
    assert not jumps.stands_at(THREE.events, 7)
    assert not jumps.stands_at(after(THREE.events, wondered()), 10)
    assert jumps.stands_at(back(THREE.events, 2), 7)
    assert not jumps.stands_at(back(THREE.events, 2), 4)


# --- what it says, and what follows ---


def test_a_rewind_is_the_state_at_its_target_but_for_money_and_numbers() -> None:
    events = back(THREE.events, 1)
    was, now, target = state(THREE.events), state(events), state(THREE.events[:4])
    assert now == replace(target, spent=was.spent, jumps=1, left=LEFT, last_at=events[-1].at)
    data = events[-1].data
    assert isinstance(data, LineageRewound)
    assert (data.from_generation, data.to_generation, data.commit) == (3, 1, TARGET)


def test_numbers_of_jumps_never_come_again() -> None:
    once = back(THREE.events, 2)
    again = back(after(once, *GENERATION), 1, left="2e" * 20)
    assert state(again).jumps == 2
    undone = jumps.jump(LineageRestored, state(again), "3e" * 20, state(once), "2e" * 20)
    assert undone.n == 3
    assert state(after(once, undone)).jumps == 3


def test_an_open_generation_is_where_it_stood() -> None:
    events = back(after(THREE.events, wondered()), 3)
    data = events[-1].data
    assert isinstance(data, LineageRewound)
    assert (data.from_generation, data.to_generation) == (4, 3)


def test_what_is_left_behind() -> None:
    behind = back(THREE.events, 1)
    assert jumps.left_behind(THREE.events, behind) == (2, 3)
    assert jumps.left_behind(behind, THREE.events) == ()
    anew = after(behind, *GENERATION)
    assert jumps.left_behind(anew, THREE.events) == (2,)
    assert jumps.left_behind(THREE.events, anew) == (2, 3)


# --- what is wrong with one ---


def rewind_fault(before: Sequence[Event], target: Sequence[Event], **lies: object) -> str | None:
    fact = jumps.jump(LineageRewound, state(before), LEFT, state(target), TARGET)
    return jumps.fault(replace(fact, **lies), before, LEFT, target)


def test_an_honest_rewind_has_no_fault() -> None:
    assert rewind_fault(THREE.events, THREE.events[:4]) is None
    assert rewind_fault(THREE.events, THREE.events[:1]) is None


@pytest.mark.parametrize(
    "lie", [{"n": 2}, {"left": "0" * 40}, {"from_generation": 4}, {"to_generation": 2}]
)
def test_a_jump_that_lies_about_itself(lie: dict[str, object]) -> None:
    said = rewind_fault(THREE.events, THREE.events[:4], **lie)
    assert said == "its numbers are not those of the logs that it goes from and to"


def test_a_rewind_takes_no_money_back() -> None:
    cheaper = state(THREE.events[:4]).spent
    assert rewind_fault(THREE.events, THREE.events[:4], spent=cheaper)


def test_a_rewind_into_the_middle_of_a_generation() -> None:
    said = rewind_fault(THREE.events, THREE.events[:6])
    assert said == "it goes back into the middle of a generation"


def test_a_rewind_to_a_log_of_another_past() -> None:
    other = log(executed("other"), judged(True, True), completed())
    said = rewind_fault(THREE.events, other.events)
    assert said == "the log that it goes back to is none that this one began with"


def test_a_rewind_to_before_the_fork() -> None:
    events = after(THREE.events, forked(source="greet"), *GENERATION)
    assert rewind_fault(events, events[:11]) is None
    assert rewind_fault(events, events[:10]) == "it goes back to before the fork"


def test_a_jump_to_no_log_at_all() -> None:
    fact = jumps.jump(LineageRewound, state(THREE.events), LEFT, state(THREE.events), TARGET)
    assert jumps.fault(fact, THREE.events, LEFT, ()) == f"{TARGET} holds no log to go to"


def test_an_undo_goes_where_the_last_jump_left_and_nowhere_else() -> None:
    behind = back(THREE.events, 1)
    fact = jumps.jump(LineageRestored, state(behind), "2e" * 20, state(THREE.events), LEFT)
    assert jumps.fault(fact, behind, "2e" * 20, THREE.events) is None
    elsewhere = replace(fact, commit=TARGET)
    said = jumps.fault(elsewhere, behind, "2e" * 20, THREE.events)
    assert said == "it does not go where the last jump left"


# --- forks ---


def forked_from_three(seed: Seed | None = None) -> Lineage:
    return state(
        after(
            log(*GENERATION * 2, executed(), judged(True, True), ENDED).events,
            forked(seed, source="greet"),
        )
    )


ENDED = completed(next_generation=None)
OTHER = replace(TWO, goal="Greet nobody")


def test_a_fork_goes_on_as_its_source_did() -> None:
    fork = forked_from_three()
    assert fork.id == "greet_forked"
    assert fork.latest is fork.generations[-1]
    assert fork.seed == TWO


def test_a_fork_with_another_seed_begins_anew_at_execute() -> None:
    fork = forked_from_three(OTHER)
    assert (fork.seed, fork.original, fork.number) == (OTHER, OTHER, 4)
    assert fork.counted == ()
    assert fork.latest is None
    assert next_move(fork, "t1", "2026-02-01") == RunPhase("execute")


def test_after_a_fork_with_another_seed_old_verdicts_count_for_nothing() -> None:
    events = after(
        log(*GENERATION * 2, executed(), judged(True, True), completed()).events,
        forked(OTHER, source="greet"), executed(), judged(True, True),
    )  # fmt: skip
    done = after(events, completed())
    assert len(state(done).counted) == 1
    assert not isinstance(next_move(state(done), "t1", "2026-02-01"), Ended)


def test_a_fork_has_no_jump_to_take_back() -> None:
    behind = after(back(THREE.events, 1), *GENERATION)
    assert state(behind).left == LEFT
    assert state(after(behind, forked(source="greet"))).left is None
    assert state(after(behind, forked(source="greet"))).jumps == 1
