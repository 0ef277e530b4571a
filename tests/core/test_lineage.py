"""The fold: what each event does to the state, and that nothing else does anything."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ouro.core.brief import FailureKind
from ouro.core.codec import encode_lines
from ouro.core.events import (
    Action,
    Data,
    Event,
    EvolveStepInterrupted,
    NoteAdded,
    PauseCleared,
    PolicyChanged,
    Spent,
)
from ouro.core.lineage import (
    MAX_LEARNINGS,
    Generation,
    Lineage,
    Pause,
    canonical,
    evolve,
    fold,
)
from ouro.core.policy import Given, Policy
from ouro.core.seed import Criterion, Field
from tests.core.arbitrary import logs
from tests.core.builders import (
    ALONE,
    EVERYTHING,
    TWO,
    USAGE,
    completed,
    created,
    executed,
    failed,
    judged,
    lineage,
    log_of,
    persona,
    qa,
    reflected,
    seal_all,
    stamp,
    wondered,
)

INTERRUPTED = EvolveStepInterrupted(phase="execute", rescue=None)
ONE_CALL = Spent(input_tokens=10, output_tokens=5, cost=0.5, seconds=2.0, calls=1)
TWO_CALLS = Spent(input_tokens=20, output_tokens=10, cost=1.0, seconds=4.0, calls=2)


def after(state: Lineage, *facts: Data) -> Lineage:
    for event in seal_all(facts, log_of()):
        state = evolve(state, event)
    return state


def timeless(state: Lineage) -> Lineage:
    return replace(state, last_at="")


# --- each event


def test_nothing_is_no_lineage() -> None:
    assert fold([]) is None


def test_created() -> None:
    given_then = Given(file={"qa": False})
    first = created(given=given_then)
    assert fold(log_of(first=first).events) == Lineage(
        id="greet",
        original=TWO,
        seed=TWO,
        hidden=None,
        seed_sha256=first.seed_sha256,
        base=first.base,
        policy=ALONE,
        next_policy=ALONE,
        given=given_then,
        last_at=stamp(0),
    )


def test_before_anything_the_first_generation_is_current_and_empty() -> None:
    state = lineage()
    assert (state.number, state.latest, state.open) == (1, None, None)
    assert state.current == Generation(number=1, seed=TWO)
    assert state.current.ontology == TWO.ontology_schema


def test_another_creation_would_begin_anew() -> None:
    """No log that can be read has one; the fold is total all the same."""
    again = created(Policy(max_retries=7))
    (event,) = log_of(first=again).events
    assert evolve(lineage(*EVERYTHING), event) == fold([event])


@pytest.mark.parametrize(
    ("fact", "part"),
    [
        (persona(), "persona"),
        (wondered(), "wonder"),
        (reflected(TWO), "reflect"),
        (executed(), "execute"),
        (judged(True, True), "evaluate"),
        (qa(90.0), "qa"),
    ],
)
def test_a_phase_opens_its_generation_and_stands_in_it(fact: Data, part: str) -> None:
    state = lineage(fact)
    assert state.open is not None
    assert state.current is state.open
    assert getattr(state.open, part) is fact
    assert (state.open.number, state.number, state.latest) == (1, 1, None)


def test_completed_closes_the_generation() -> None:
    done = completed(Action.STAGNATED)
    state = lineage(executed(), judged(True, False), done)
    assert state.open is None
    assert state.latest is state.generations[0]
    assert (state.latest.number, state.latest.completed) == (1, done)
    assert (state.latest.execute, state.number) == (executed(), 2)
    assert state.current == Generation(number=2, seed=TWO)


def test_a_generation_on_paper_may_be_its_completion_alone() -> None:
    state = lineage(completed(), completed())
    assert [g.number for g in state.generations] == [1, 2]
    assert state.generations[0].verdicts == ()


def test_a_reflection_makes_the_seed_of_its_generation_and_the_later_ones() -> None:
    grown = TWO.with_ontology((*TWO.ontology_schema.fields, Field("tone")))
    state = lineage(completed(), wondered(), reflected(grown))
    assert (state.seed, state.current.seed, state.original) == (grown, grown, TWO)
    assert state.generations[0].seed == TWO
    assert after(state, completed()).current.seed == grown


def test_learnings_are_the_newest_and_each_once() -> None:
    state = lineage(reflected(TWO, learnings=("a", "b")), reflected(TWO, learnings=("c", "a")))
    assert state.learnings == ("b", "c", "a")
    many = tuple(f"lesson {number}" for number in range(MAX_LEARNINGS + 5))
    assert after(state, reflected(TWO, learnings=many)).learnings == many[5:]


def test_personas_are_all_remembered() -> None:
    state = lineage(executed(), completed(), persona("hacker"), completed(), persona("architect"))
    assert state.personas == ("hacker", "architect")
    assert [g.persona.persona if g.persona else None for g in state.generations] == [None, "hacker"]


def test_notes_are_kept_and_fresh_until_an_execution_saw_them() -> None:
    note = NoteAdded(text="be kind")
    state = lineage(executed(), note, NoteAdded(text="be short"))
    assert (state.notes, state.fresh_note) == (("be kind", "be short"), True)
    assert after(state, judged(True, True), completed(), wondered()).fresh_note
    seen = after(state, executed())
    assert (seen.notes, seen.fresh_note) == (("be kind", "be short"), False)


def test_the_last_time_is_that_of_the_last_event() -> None:
    assert lineage(*EVERYTHING).last_at == stamp(len(EVERYTHING))


# --- policy

OTHER = Policy(max_retries=9, qa=False)
CHANGE = PolicyChanged(policy=OTHER, given=Given(environment={"max_retries": 9}))


def test_a_policy_changed_between_generations_holds_at_once() -> None:
    for state in (lineage(CHANGE), lineage(executed(), completed(), CHANGE)):
        assert (state.policy, state.next_policy, state.given) == (OTHER, OTHER, CHANGE.given)


def test_a_policy_changed_within_a_generation_holds_from_the_next() -> None:
    state = lineage(executed(), CHANGE)
    assert (state.policy, state.next_policy, state.given) == (ALONE, OTHER, CHANGE.given)
    assert after(state, judged(True, True)).policy == ALONE
    assert after(state, judged(True, True), completed()).policy == OTHER


# --- failures, pauses, interruptions


def test_a_failure_that_waits() -> None:
    fact = failed(attempt=2)
    state = lineage(executed(), fact)
    assert state.pause == Pause("2026-02-01T00:00:00.000000Z", "overloaded", "too busy")
    assert (state.failures, state.failed, state.limited_since) == (2, fact, None)


def test_a_failure_that_needs_a_person_starts_the_counts_anew() -> None:
    fact = failed(attempt=5, retry_at=None)
    state = lineage(executed(), failed(attempt=4), fact)
    assert (state.failures, state.failed, state.pause) == (0, fact, None)


LIMITED = failed(FailureKind.RATE_LIMITED, attempt=1)


def test_limits_are_counted_from_the_first_of_the_row_and_are_no_failures() -> None:
    state = lineage(failed(attempt=1), LIMITED, LIMITED)
    assert (state.failures, state.limited_since) == (1, stamp(2))
    assert state.pause is not None
    assert after(state, failed(attempt=2)).limited_since is None
    ended = after(state, failed(FailureKind.RATE_LIMITED, retry_at=None))
    assert (ended.limited_since, ended.pause) == (None, None)


def test_a_pause_cleared_by_hand_leaves_the_counts() -> None:
    state = lineage(failed(attempt=3), PauseCleared())
    assert (state.pause, state.failures) == (None, 3)


@pytest.mark.parametrize(
    "fact", [persona(), wondered(), reflected(TWO), executed(), judged(True), qa(80), completed()]
)
def test_a_committed_phase_sets_everything_back(fact: Data) -> None:
    state = lineage(failed(attempt=3), LIMITED, fact)
    assert (state.failures, state.limited_since, state.failed, state.pause) == (0, None, None, None)


@pytest.mark.parametrize("fact", [NoteAdded(text="x"), CHANGE, INTERRUPTED])
def test_nothing_else_does(fact: Data) -> None:
    before, state = lineage(LIMITED), lineage(LIMITED, fact)
    assert (state.limited_since, state.pause, state.failed) == (stamp(1), before.pause, LIMITED)


def test_interrupted_changes_nothing() -> None:
    for facts in ((), (executed(),), (executed(), failed()), (executed(), completed())):
        assert timeless(lineage(*facts, INTERRUPTED)) == timeless(lineage(*facts))


@given(st.data())
def test_a_lineage_that_was_held_up_and_went_on_is_as_one_that_never_was(
    data: st.DataObject,
) -> None:
    """But for the times, and for what the failed calls cost."""
    trouble: tuple[Data, ...] = (
        INTERRUPTED,
        failed(),
        LIMITED,
        failed(retry_at=None),
        PauseCleared(),
    )
    facts: list[Data] = []
    for fact in EVERYTHING:
        if fact not in trouble and not isinstance(fact, type(failed())):
            facts += [*data.draw(st.lists(st.sampled_from(trouble), max_size=2)), fact]
    smooth = [fact for fact in facts if fact not in trouble]
    assert timeless(lineage(*facts)) == timeless(lineage(*smooth))


# --- what was spent


def test_spent_of_the_generation_and_of_the_lineage() -> None:
    first = lineage(executed(), judged(True, False), qa(50), completed())
    assert first.generations[0].spent == Spent(
        20, 10, 1.0, 5.0, calls=2
    )  # two calls, 1 s of checks
    assert first.generations[0].total == first.spent == first.generations[0].spent
    second = after(first, wondered(), completed())
    assert second.generations[1].spent == ONE_CALL
    assert second.generations[1].total == second.spent == Spent(30, 15, 1.5, 7.0, calls=3)


def test_a_call_that_does_not_say_its_cost_is_counted_as_unknown() -> None:
    silent = replace(USAGE, cost=None, input_tokens=None, output_tokens=None)
    state = lineage(replace(executed(), usage=silent), qa(80, carried=True), qa(80))
    assert state.spent == Spent(10, 5, 0.5, 4.0, unknown=1, calls=2, silent=1)


def test_failed_calls_are_paid_too() -> None:
    final = failed(retry_at=None, usage=USAGE)
    assert lineage(failed(usage=USAGE), LIMITED, final).spent == TWO_CALLS


def test_failed_calls_count_in_their_generation() -> None:
    """Before its first phase is done, and later; and in no other."""
    before = lineage(failed(usage=USAGE))
    assert (before.open, before.current.spent) == (None, ONE_CALL)
    opened = lineage(failed(usage=USAGE), executed(), failed(usage=USAGE))
    assert opened.current.spent == opened.spent == ONE_CALL.plus(USAGE).plus(USAGE)
    first = (executed(), completed(), failed(usage=USAGE), failed(usage=USAGE))
    thinking = lineage(*first, persona())
    assert [g.spent for g in thinking.generations] == [ONE_CALL]
    assert thinking.current.spent == TWO_CALLS
    done = lineage(*first, wondered(), completed(), wondered())
    assert done.generations[1].spent == TWO_CALLS.plus(USAGE)
    assert done.current.spent == ONE_CALL
    assert lineage(failed(usage=USAGE), completed()).lost == Spent()


def test_agents_in_the_order_in_which_they_first_served() -> None:
    def by(agent: str) -> Data:
        return replace(executed(), usage=replace(USAGE, agent=agent))

    state = lineage(by("offline"), judged(True), by("codex"), by("offline"), failed(usage=USAGE))
    assert state.agents == ("offline", "codex")


# --- what a generation says


def test_share_and_criteria() -> None:
    assert lineage().current.share == 0.0
    assert lineage(judged(True, False)).current.share == 0.5
    assert not lineage(judged(True, False)).current.criteria_met()
    assert lineage(judged(True, True)).current.criteria_met()
    assert not lineage(judged(True)).current.criteria_met(), "one was not judged at all"
    assert not lineage(executed()).current.criteria_met()


def test_a_criterion_that_was_added_must_pass_too() -> None:
    more = replace(
        TWO, acceptance_criteria=(*TWO.acceptance_criteria, Criterion(id="ac3", description="x"))
    )
    assert not lineage(reflected(more), judged(True, True)).current.criteria_met()
    assert lineage(reflected(more), judged(True, True, True)).current.criteria_met()


@pytest.mark.parametrize(
    ("facts", "without_qa", "with_qa"),
    [
        ((), False, False),
        ((judged(True, False), qa(95)), False, False),
        ((judged(True, True),), True, False),
        ((judged(True, True), qa(95)), True, True),
        ((judged(True, True), qa(55)), True, False),
        ((judged(True, True), qa(10)), True, False),
    ],
)
def test_approved(facts: tuple[Data, ...], without_qa: bool, with_qa: bool) -> None:
    current = lineage(*facts).current
    assert (current.approved(qa=False), current.approved(qa=True)) == (without_qa, with_qa)


# --- pure


@settings(max_examples=50)
@given(logs(4), st.integers(0, 5))
def test_folding_a_beginning_and_going_on_is_folding_the_whole(
    events: tuple[Event, ...], at: int
) -> None:
    state = fold(events[:at])
    for event in events[at:]:
        state = evolve(state, event)
    assert state == fold(events)


def test_the_canonical_bytes_of_a_state_do_not_depend_on_the_order_of_keys() -> None:
    one, other = ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1})
    states = [lineage(*EVERYTHING, seed=replace(TWO, extra=extra)) for extra in (one, other)]
    assert canonical(states[0]) == canonical(states[1])
    assert canonical(states[0]).startswith(b'{"id":"greet","original":{"goal":"Greet people",')
    assert canonical(states[0]) != canonical(lineage(*EVERYTHING))


PRINT = """
import sys, msgspec
from ouro.core.codec import decode_files
from ouro.core.lineage import fold
from ouro.core.moves import next_move
state = fold(decode_files([("log", sys.stdin.buffer.read())]).events)
move = next_move(state, "t2", "2026-01-02T00:00:00.000000Z")
sys.stdout.buffer.write(msgspec.json.encode([state, type(move).__name__, move]))
"""


@pytest.fixture(scope="module")
def printed() -> Callable[..., bytes]:
    content = encode_lines(log_of(*EVERYTHING).events)

    def run(**environment: str) -> bytes:
        command = [sys.executable, "-X", "utf8=0", "-c", PRINT]
        done = subprocess.run(command, input=content, capture_output=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_the_same_bytes_are_the_same_state_everywhere(printed: Callable[..., bytes]) -> None:
    here = printed(PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C.UTF-8")
    assert here.startswith(b'[{"id":"greet"')
    assert here == printed(PYTHONHASHSEED="1", TZ="Asia/Kathmandu", LC_ALL="C")
    assert here == printed(PYTHONHASHSEED="2", TZ="America/St_Johns", LC_ALL="tr_TR.UTF-8")
