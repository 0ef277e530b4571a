"""What comes next: after every event there is exactly one answer."""

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ouro.core.brief import FailureKind, Phase, Problem
from ouro.core.chain import extend
from ouro.core.events import (
    Action,
    Data,
    EvolveStepInterrupted,
    Method,
    NoteAdded,
    PauseCleared,
    PolicyChanged,
    Question,
)
from ouro.core.lateral import Pattern, Persona
from ouro.core.lineage import Lineage, Pause, evolve, fold
from ouro.core.moves import (
    CarryOver,
    Complete,
    Ended,
    Move,
    RunPhase,
    ThinkLaterally,
    Wait,
    completion,
    next_move,
    standing_decision,
)
from ouro.core.policy import Given, Policy
from ouro.core.retry import failure
from ouro.core.seed import Field
from tests.core.builders import (
    ALONE,
    PAPER,
    TWO,
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
    wondered,
)

LATER = "2026-02-01T00:00:00.000000Z"
"""When the pause of `builders.failed` is over."""


def move(*facts: Data, policy: Policy = ALONE, code: str = "t1", now: str = LATER) -> Move:
    return next_move(lineage(*facts, policy=policy), code, now)


def phase(*facts: Data, policy: Policy = ALONE) -> str:
    """The phase that comes after `facts`, or the name of another move."""
    found = move(*facts, policy=policy)
    return found.phase if isinstance(found, RunPhase) else type(found).__name__


FIRST: tuple[Data, ...] = (executed(), judged(True, False), completed())
PASSED: tuple[Data, ...] = (executed(), judged(True, True), completed())
OTHER_SEED = TWO.with_ontology((Field("else"),))


# --- the phases of a generation


def test_the_first_generation_executes_and_judges() -> None:
    assert phase(policy=Policy()) == "execute"
    assert phase(executed(), policy=Policy()) == "evaluate"
    assert phase(executed(), judged(True, True), policy=Policy()) == "qa"
    assert phase(executed(), judged(True, True), qa(90), policy=Policy()) == "Complete"
    assert phase(executed(), judged(True, True)) == "Complete", "QA is off"


def test_the_later_ones_think_first() -> None:
    wonder, reflect = wondered(), reflected(TWO)
    assert phase(*FIRST) == "wonder"
    assert phase(*FIRST, wonder) == "reflect"
    assert phase(*FIRST, wonder, reflect) == "execute"
    assert phase(*FIRST, wonder, reflect, executed()) == "evaluate"
    assert phase(*FIRST, wonder, reflect, executed(), judged(True, False)) == "Complete"


def test_lateral_thinking_changes_no_phase() -> None:
    assert phase(*FIRST, persona()) == "wonder"
    assert phase(*FIRST, persona(), wondered()) == "reflect"


def test_a_frozen_ontology_is_neither_wondered_about_nor_reflected_on() -> None:
    frozen = replace(ALONE, freeze_ontology=True)
    assert phase(policy=frozen) == "execute"
    assert phase(*FIRST, policy=frozen) == "execute"


def test_on_paper_there_is_only_thinking() -> None:
    assert phase(policy=PAPER) == "Complete"
    assert phase(completed(), policy=PAPER) == "wonder"
    assert phase(completed(), wondered(), policy=PAPER) == "reflect"
    assert phase(completed(), wondered(), reflected(OTHER_SEED), policy=PAPER) == "Complete"


@pytest.mark.parametrize(
    "trouble",
    [
        (EvolveStepInterrupted(phase="execute", rescue=None),),
        (failed(),),
        (failed(retry_at=None),),
        (failed(FailureKind.RATE_LIMITED), EvolveStepInterrupted(phase="wonder", rescue=None)),
        (NoteAdded(text="be kind"),),
    ],
)
def test_trouble_at_any_point_leaves_the_same_phases(trouble: tuple[Data, ...]) -> None:
    whole = (*FIRST, persona(), wondered(), reflected(TWO), executed(), judged(True, False))
    for at in range(len(whole) + 1):
        assert phase(*whole[:at], *trouble) == phase(*whole[:at])


def test_the_policy_of_the_next_generation_does_not_touch_this_one() -> None:
    change = PolicyChanged(policy=PAPER, given=Given())
    assert phase(executed(), change) == "evaluate"
    assert phase(change) == "Complete"


# --- waiting


def test_a_pause_is_waited_out() -> None:
    just_before = "2026-01-31T23:59:59.999999Z"
    assert move(failed(), now=just_before) == Wait(Pause(LATER, "overloaded", "too busy"))
    assert move(failed(), now=LATER) == RunPhase(Phase.EXECUTE)
    assert move(failed(), PauseCleared(), now=just_before) == RunPhase(Phase.EXECUTE)
    assert move(failed(retry_at=None), now=just_before) == RunPhase(Phase.EXECUTE)


# --- carrying over

REFLECTED = (wondered(), reflected(TWO))
WITH_QA = Policy()
REVIEWED: tuple[Data, ...] = (executed(), judged(True, True), qa(90), completed())


def test_old_verdicts_are_taken_over_where_nothing_changed() -> None:
    found = move(*REVIEWED, *REFLECTED, policy=WITH_QA)
    assert isinstance(found, CarryOver)
    assert {v.method for v in found.evaluate.verdicts} == {Method.CARRIED}
    assert [(v.id, v.passed, v.evidence) for v in found.evaluate.verdicts] == [
        ("ac1", True, "seen"),
        ("ac2", True, "seen"),
    ]
    assert (found.evaluate.score, found.evaluate.usage, found.evaluate.seconds) == (1.0, None, 0.0)
    assert found.qa == qa(90, carried=True)


def test_what_was_carried_over_is_not_asked_for_again() -> None:
    found = move(*REVIEWED, *REFLECTED, policy=WITH_QA)
    assert isinstance(found, CarryOver)
    assert found.qa is not None
    assert phase(*REVIEWED, *REFLECTED, found.evaluate, found.qa, policy=WITH_QA) == "Complete"


def test_carried_verdicts_can_be_carried_on() -> None:
    patient = replace(WITH_QA, min_generations=9)
    found = move(*REVIEWED, *REFLECTED, policy=patient)
    assert isinstance(found, CarryOver)
    assert found.qa is not None
    again = (*REVIEWED, *REFLECTED, found.evaluate, found.qa, completed(), *REFLECTED)
    assert move(*again, policy=patient) == found


def test_without_qa_only_the_verdicts_are_taken_over() -> None:
    found = move(*REVIEWED, *REFLECTED)
    assert isinstance(found, CarryOver)
    assert found.qa is None


def note(text: str = "be kind") -> Data:
    return NoteAdded(text=text)


@pytest.mark.parametrize(
    ("facts", "policy", "code"),
    [
        ((*FIRST, *REFLECTED), ALONE, "t1"),  # not approved
        ((*PASSED, *REFLECTED), WITH_QA, "t1"),  # QA was off then
        ((executed(), judged(True, True), qa(60), completed(), *REFLECTED), WITH_QA, "t1"),
        ((*PASSED, wondered(), reflected(OTHER_SEED)), ALONE, "t1"),  # another seed
        ((*PASSED, *REFLECTED), ALONE, "t2"),  # other code
        ((*PASSED, note(), *REFLECTED), ALONE, "t1"),
        ((*PASSED, *REFLECTED, note()), ALONE, "t1"),
        ((executed(), note(), judged(True, True), completed(), *REFLECTED), ALONE, "t1"),
        ((*PASSED, completed(), *REFLECTED), ALONE, "t1"),  # the one before was on paper
    ],
)
def test_anything_else_is_executed(facts: tuple[Data, ...], policy: Policy, code: str) -> None:
    assert move(*facts, policy=policy, code=code) == RunPhase(Phase.EXECUTE)


def test_a_note_that_was_executed_keeps_nothing_from_being_carried() -> None:
    assert phase(note(), *PASSED, *REFLECTED) == "CarryOver"


def test_the_first_generation_carries_nothing() -> None:
    assert move() == RunPhase(Phase.EXECUTE)


# --- between generations


def test_a_finished_lineage_has_ended() -> None:
    again = (*REFLECTED, executed(), judged(True, True))
    found = move(*PASSED, *again, completed(Action.CONVERGED, None))
    assert isinstance(found, Ended)
    assert found.decision.action is Action.CONVERGED
    assert found.decision.next_generation is None


def test_it_goes_on_where_the_policy_of_now_no_longer_ends_it() -> None:
    few = replace(ALONE, max_generations=1)
    more = PolicyChanged(policy=ALONE, given=Given())
    end = (executed(), judged(True, False), completed(Action.EXHAUSTED, None))
    assert isinstance(move(*end, policy=few), Ended)
    assert move(*end, more, policy=few) == RunPhase(Phase.WONDER)


def test_money_that_failures_took_ends_it_too() -> None:
    """Two calls cost 0.5 each, one of them failed."""
    policy = replace(ALONE, max_cost=1.0)
    assert phase(*FIRST, policy=policy) == "wonder"
    paid = failed(usage=executed().usage)
    assert phase(*FIRST, paid, policy=policy) == "Ended"
    assert phase(executed(), judged(True, False), paid, policy=policy) == "Complete"


STUCK: tuple[Data, ...] = tuple(
    fact
    for number in range(3)
    for fact in (
        wondered(),
        reflected(TWO.with_ontology((Field(f"f{number * 7919}"),))),
        executed(tree="same"),
        judged(False, False),
        completed(),
    )
)


def test_a_stagnated_one_thinks_laterally() -> None:
    assert move(*STUCK) == ThinkLaterally(Persona.HACKER, Pattern.SPINNING)
    assert phase(*STUCK, persona()) == "wonder"


def test_personas_already_used_are_passed_over() -> None:
    found = move(persona("hacker"), *STUCK)
    assert found == ThinkLaterally(Persona.CONTRARIAN, Pattern.SPINNING)


def test_a_stagnated_one_without_retries_has_ended() -> None:
    found = move(*STUCK, policy=replace(ALONE, max_retries=0))
    assert isinstance(found, Ended)
    assert found.decision.action is Action.STAGNATED


# --- from paper to code

ON_PAPER: tuple[Data, ...] = (
    completed(),
    wondered(),
    reflected(OTHER_SEED),
    completed(),
    wondered(),
    reflected(OTHER_SEED),
    replace(completed(Action.CONVERGED, None), similarity=1.0),
)
NOW_EXECUTE = PolicyChanged(policy=ALONE, given=Given())


def test_converged_on_paper_is_finished_while_execution_is_off() -> None:
    assert isinstance(move(*ON_PAPER, policy=PAPER), Ended)


def test_with_execution_on_the_seed_is_kept_and_carried_out() -> None:
    assert move(*ON_PAPER, NOW_EXECUTE, policy=PAPER) == RunPhase(Phase.EXECUTE)
    assert phase(*ON_PAPER, NOW_EXECUTE, executed(), policy=PAPER) == "evaluate"
    done = (*ON_PAPER, NOW_EXECUTE, executed(), judged(True, True))
    found = move(*done, policy=PAPER)
    assert isinstance(found, Complete)
    assert found.decision.action is Action.CONVERGED, "the ontology is as it was agreed on"
    assert phase(*done[:-1], judged(False, True), completed(), policy=PAPER) == "wonder"


def test_however_long_it_stood_still_on_paper() -> None:
    still = (wondered(), reflected(OTHER_SEED), replace(completed(), similarity=1.0))
    facts = (*ON_PAPER[:-1], replace(completed(), similarity=1.0), *still, *still, *still[:2])
    end = replace(completed(Action.CONVERGED, None), similarity=1.0)
    assert move(*facts, end, NOW_EXECUTE, policy=PAPER) == RunPhase(Phase.EXECUTE)


def test_still_on_paper_under_a_stricter_policy_it_goes_on_thinking() -> None:
    stricter = PolicyChanged(policy=replace(PAPER, min_generations=9), given=Given())
    assert move(*ON_PAPER, stricter, policy=PAPER) == RunPhase(Phase.WONDER)


# --- recording


def test_completion_is_the_decision_as_an_event() -> None:
    state = lineage(*STUCK[:-1])
    found = next_move(state, "same", LATER)
    assert isinstance(found, Complete)
    fact = completion(state, found.decision)
    assert (fact.action, fact.pattern, fact.next_generation) == (Action.STAGNATED, "spinning", 4)
    assert (fact.reason, fact.delta) == (found.decision.reason, found.decision.delta)
    assert (fact.similarity, fact.lateral_think_applied) == (0.0, False)
    opened = lineage(*FIRST, persona(), *REFLECTED, executed(), judged(True, False))
    found = next_move(opened, "same", LATER)
    assert isinstance(found, Complete)
    assert completion(opened, found.decision).lateral_think_applied


def test_taken_again_the_decision_is_the_recorded_one() -> None:
    state = lineage(*STUCK[:-1])
    found = next_move(state, "same", LATER)
    assert isinstance(found, Complete)
    closed = lineage(*STUCK[:-1], completion(state, found.decision))
    assert standing_decision(closed, closed.policy) == found.decision


# --- whole lives

POLICIES = st.builds(
    Policy,
    execute=st.booleans(),
    qa=st.booleans(),
    max_retries=st.integers(0, 2),
    max_generations=st.integers(3, 6),
    max_failures=st.integers(1, 3),
    stagnation_window=st.integers(2, 3),
    stop_on_pass=st.booleans(),
    max_cost=st.sampled_from([None, 9.0]),
)
SEEDS = [TWO, OTHER_SEED, TWO.with_ontology((*TWO.ontology_schema.fields, Field("tone")))]
REPLIES: dict[Phase, st.SearchStrategy[Data]] = {
    Phase.WONDER: st.sampled_from([wondered(), wondered(Question(question="why?", subject="a"))]),
    Phase.REFLECT: st.sampled_from([reflected(seed) for seed in SEEDS]),
    Phase.EXECUTE: st.sampled_from([executed(tree="t1"), executed(tree="t2")]),
    Phase.EVALUATE: st.sampled_from([judged(True, True), judged(True, False), judged(False, True)]),
    Phase.QA: st.sampled_from([qa(90), qa(60), qa(10)]),
}
NOW = datetime.fromisoformat(LATER)
ASIDE: st.SearchStrategy[Data] = st.one_of(
    st.just(note()),
    st.just(PauseCleared()),
    st.just(EvolveStepInterrupted(phase="execute", rescue=None)),
    POLICIES.map(lambda policy: PolicyChanged(policy=policy, given=Given())),
)
KINDS = st.sampled_from(FailureKind)


def code_of(state: Lineage) -> str:
    """The code tree at the tip: what was executed last."""
    generations = [state.current, *reversed(state.generations)]
    return next((g.execute.tree for g in generations if g.execute), "none yet")


def answered(data: st.DataObject, state: Lineage, found: Move) -> tuple[Data, ...]:
    """The facts that the step would record for `found`; none where it would stop."""
    match found:
        case Wait():
            return (PauseCleared(),)
        case Ended():
            return ()
        case ThinkLaterally(chosen, pattern):
            return (persona(chosen, pattern),)
        case CarryOver(evaluate, review):
            return (evaluate, review) if review else (evaluate,)
        case Complete(decision):
            return (completion(state, decision),)
        case RunPhase(each):
            return (data.draw(REPLIES[each]),)


@settings(max_examples=60)
@given(st.data())
def test_any_life_moves_on_from_every_point(data: st.DataObject) -> None:
    log = log_of(first=created(data.draw(POLICIES)))
    state = fold(log.events)
    assert state is not None
    for _ in range(60):
        found = next_move(state, code_of(state), LATER)
        facts: tuple[Data, ...] = answered(data, state, found)
        whim = data.draw(st.integers(0, 9))
        if whim == 0:
            facts = (data.draw(ASIDE),)
        elif whim == 1 and isinstance(found, RunPhase):
            problem = Problem(kind=data.draw(KINDS), message="no")
            facts = (failure(state, found.phase, problem, NOW, None, executed().usage),)
        if not facts:
            break
        events = seal_all(facts, log)
        log = extend(log, events)
        for event in events:
            state = evolve(state, event)
    assert state == fold(log.events)
    numbers = [generation.number for generation in state.generations]
    assert numbers == list(range(1, len(numbers) + 1))
