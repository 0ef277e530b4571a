"""Rule 1, by whole histories: each generation in brief, and what was decided after each."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ouro.core.decision import Decision, decide, standing
from ouro.core.events import Action, Delta, Question, Spent
from ouro.core.lateral import Pattern
from ouro.core.ontology import similarity
from ouro.core.policy import Policy
from tests.core.builders import ALONE, PAPER, Turn, played, turned, verdicts_of

BOTH, ONE, NONE = (True, True), (True, False), (False, False)


def after(turns: Sequence[Turn], policy: Policy = ALONE, spent: Spent | None = None) -> Decision:
    """The decision after the last of `turns`."""
    return decide(played(turns, policy), policy, spent or Spent())


def words(turns: Sequence[Turn], policy: Policy = ALONE) -> list[str]:
    return verdicts_of(played(turns, policy))


def moving(*numbers: int, **more: object) -> list[Turn]:
    """Generations that share no field with each other, none of them approved."""
    more = {"passed": NONE} | more
    return [Turn(fields=f"f{number * 7919}", **more) for number in numbers]  # type: ignore[arg-type]


def scores(*values: float) -> list[Turn]:
    return [turn._replace(score=value) for turn, value in zip(moving(*range(9)), values)]  # noqa: B905


# --- continue


def test_the_first_generation_goes_on() -> None:
    assert after([Turn()]) == Decision(
        action=Action.CONTINUE,
        reason="1/2 criteria passed",
        similarity=None,
        delta=Delta(),
        next_generation=2,
    )


def test_similarity_delta_and_standing_are_told() -> None:
    found = after([Turn(), Turn("name greeting tone")])
    assert (found.similarity, found.delta) == (0.6666, Delta(added=("tone",)))
    assert found.reason == "1/2 criteria passed, similarity 0.6666 < 0.95"


def test_all_passed_at_once_is_looked_at_once_more() -> None:
    found = after([Turn(passed=BOTH)])
    assert (found.action, found.next_generation) == (Action.CONTINUE, 2)


def test_standing() -> None:
    assert standing(turned(Turn(passed=ONE, review=55.0), 1, None)) == (
        "1/2 criteria passed, QA revise (55)"
    )
    assert standing(turned(Turn(passed=None), 1, None)) == "0/2 criteria passed"


# --- converged


def test_settled_and_approved_converges() -> None:
    found = after([Turn(passed=BOTH), Turn(passed=BOTH)])
    assert found == Decision(
        action=Action.CONVERGED,
        reason="similarity 1.0 ≥ 0.95, 2/2 criteria passed",
        similarity=1.0,
        delta=Delta(),
    )


@pytest.mark.parametrize("passed", [ONE, NONE])
def test_similarity_1_with_failing_criteria_never_converges(passed: tuple[bool, ...]) -> None:
    found = after([Turn(passed=passed)] * 2)
    assert (found.action, found.similarity) == (Action.CONTINUE, 1.0)
    assert found.reason.endswith("/2 criteria passed, similarity 1.0 ≥ 0.95")
    assert "converged" not in words([Turn(passed=passed)] * 9)


def test_approved_and_not_settled_goes_on() -> None:
    assert words([Turn(passed=BOTH), Turn("other", passed=BOTH)]) == ["continue", "continue"]


@pytest.mark.parametrize(
    ("threshold", "wanted"), [(0.6666, Action.CONVERGED), (0.6667, Action.CONTINUE)]
)
def test_the_threshold_is_met_by_equality(threshold: float, wanted: Action) -> None:
    policy = replace(ALONE, convergence_threshold=threshold)
    turns = [Turn(passed=BOTH), Turn("name greeting tone", passed=BOTH)]
    assert after(turns, policy).action is wanted


def test_min_generations() -> None:
    policy = replace(ALONE, min_generations=4)
    assert words([Turn(passed=BOTH)] * 4, policy) == ["continue"] * 3 + ["converged"]


@pytest.mark.parametrize(
    ("review", "wanted"),
    [(80.0, "converged"), (79.9, "continue"), (39.0, "continue"), (None, "continue")],
)
def test_qa_must_pass_where_it_is_on(review: float | None, wanted: str) -> None:
    turn = Turn(passed=BOTH, review=review)
    assert words([turn, turn], Policy()) == ["continue", wanted]
    assert words([turn, turn], ALONE) == ["continue", "converged"]


def test_stop_on_pass_needs_no_second_generation() -> None:
    policy = replace(ALONE, stop_on_pass=True)
    found = after([Turn(passed=BOTH)], policy)
    assert (found.action, found.reason) == (
        Action.CONVERGED,
        "2/2 criteria passed; stop_on_pass",
    )
    assert words([Turn(), Turn("other", passed=BOTH)], policy) == ["continue", "converged"]
    assert words([Turn(passed=BOTH, review=50.0)], Policy(stop_on_pass=True)) == ["continue"]


def test_a_frozen_ontology_needs_only_approval() -> None:
    policy = replace(ALONE, freeze_ontology=True)
    assert words([Turn(), Turn(passed=BOTH)], policy) == ["continue", "converged"]
    reason = "2/2 criteria passed; the ontology is frozen"
    assert after([Turn(passed=BOTH)], policy).reason == reason


# --- exhausted


def test_max_generations() -> None:
    found = after(moving(1, 2), replace(ALONE, max_generations=2))
    assert (found.action, found.next_generation) == (Action.EXHAUSTED, None)
    assert found.reason == "generation 2 is the last allowed: max_generations 2"


def test_converged_on_the_last_allowed_generation_is_converged() -> None:
    policy = replace(ALONE, max_generations=2, max_cost=1.0)
    found = after([Turn(passed=BOTH)] * 2, policy, Spent(cost=5.0))
    assert found.action is Action.CONVERGED


def test_exhausted_comes_before_stagnated() -> None:
    turns = [Turn(passed=NONE, tree="same")] * 3
    assert words(turns)[2] == "spinning"
    assert words(turns, replace(ALONE, max_generations=3))[2] == "exhausted"


@pytest.mark.parametrize(
    ("policy", "spent", "reason"),
    [
        (Policy(max_cost=1.5), Spent(cost=1.5), "1.50 USD spent, max_cost is 1.5"),
        (Policy(max_cost=1.5), Spent(cost=1.49), None),
        (Policy(max_runtime=60.0), Spent(seconds=60.0), "60 s of work, max_runtime is 60"),
        (Policy(max_runtime=60.0), Spent(seconds=59.0), None),
        (Policy(), Spent(cost=1e9, seconds=1e9), None),
    ],
)
def test_cost_and_time(policy: Policy, spent: Spent, reason: str | None) -> None:
    found = after([Turn()], policy, spent)
    assert (found.action is Action.EXHAUSTED) == (reason is not None)
    assert reason is None or found.reason == reason


# --- stagnated: each pattern


def test_spinning() -> None:
    turns = moving(1, 2, 3, tree="same")
    found = after(turns)
    assert found.pattern is Pattern.SPINNING
    assert found.next_generation == 4
    assert found.reason == (
        "spinning: the same code 3 generations running; lateral thinking next (1 of 2)"
    )
    other = [*moving(1, 2, tree="same"), *moving(3, score=0.5)]
    assert words(other) == ["continue"] * 3


def test_oscillation() -> None:
    there, back = Turn("name greeting", passed=NONE), Turn("who what when", passed=NONE)
    jitter = [0.0, 0.1, 0.2, 0.3]
    turns = [
        turn._replace(score=score) for turn, score in zip([there, back] * 2, jitter, strict=True)
    ]
    found = after(turns)
    assert found.pattern is Pattern.OSCILLATION
    assert "goes back and forth between two forms" in found.reason
    thrice = [turns[0], turns[1], turns[0]]
    assert words(thrice) == ["continue"] * 3, "three are not enough"
    only_once = [turns[0], Turn("else", passed=NONE, score=0.1), turns[2], turns[3]]
    assert words(only_once) == ["continue"] * 4, "n - 1 is not as n - 3"
    not_back = [*turns[:3], Turn("else", passed=NONE, score=0.3)]
    assert words(not_back) == ["continue"] * 4, "n is not as n - 2"


def test_blocked() -> None:
    turns = [Turn(passed=NONE, score=score) for score in (0.0, 0.1, 0.2, 0.3)]
    found = after(turns)
    assert found.pattern is Pattern.BLOCKED
    assert "has settled for 3 generations, the criteria have not passed" in found.reason
    assert words(turns[:3]) == ["continue"] * 3, "the first is like nothing before it"
    assert words(turns, replace(ALONE, stagnation_window=4))[3] == "continue"
    assert words(turns, replace(ALONE, freeze_ontology=True))[3] == "continue"


def asked(*subjects: str) -> tuple[Question, ...]:
    return tuple(Question(question=f"what about {word}?", subject=word) for word in subjects)


def asking(*questions: tuple[Question, ...]) -> list[Turn]:
    """Generations 2, 3, … that ask `questions`; nothing else stands still."""
    first, *later = scores(*(at / 10 for at in range(len(questions) + 1)))
    return [first, *(t._replace(questions=q) for t, q in zip(later, questions, strict=True))]


def test_repetition() -> None:
    same = asked("tone", "length", "name")
    found = after(asking(same, same, same))
    assert found.pattern is Pattern.REPETITION
    assert "at least 70% of the questions" in found.reason


@pytest.mark.parametrize(
    ("history", "wanted"),
    [
        ([asked("a", "b"), asked("a", "b"), asked("A ", "_b")], "repetition"),
        ([asked("a", "b"), asked("a", "b"), asked("a", "c")], "continue"),  # 50 %
        ([asked(*"abcdefg"), asked(*"abcdefg"), asked(*"abcdefgxyz")], "repetition"),  # 70 %
        ([asked(*"abcdef"), asked(*"abcdefg"), asked(*"abcdefgxyz")], "continue"),  # 60 % of one
        ([asked(*"abcdefg"), asked(*"abcdef"), asked(*"abcdefgxyz")], "continue"),
        ([asked("a"), asked("b"), asked("a")], "continue"),
        ([(), (), ()], "continue"),
        ([asked("a"), asked("a"), ()], "continue"),
        ([asked("a"), (), asked("a")], "continue"),
        ([asked("a"), asked("a")], "continue"),  # generation 1 asked nothing
    ],
)
def test_what_counts_as_repeated(history: list[tuple[Question, ...]], wanted: str) -> None:
    assert words(asking(*history))[-1] == wanted


def test_questions_without_a_subject_are_compared_by_their_words() -> None:
    first = (Question(question="How long may a greeting be at most?"),)
    alike = (Question(question="How long may a greeting be, at most?", subject="length"),)
    other = (Question(question="Who is greeted first, and who is greeted last?"),)
    assert words(asking(alike, first, first))[-1] == "repetition"
    assert words(asking(other, first, first))[-1] == "continue"
    assert words(asking(first, first, alike))[-1] == "continue", "with a subject, that alone counts"


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ((0.5, 0.5, 0.5), "plateau"),
        ((0.5, 0.509, 0.505), "plateau"),
        ((0.5, 0.51, 0.5), "continue"),
        ((0.08, 0.09, 0.08), "continue"),  # in binary a little less than 0.01 apart
        ((0.5, 0.6, 0.5), "continue"),
        ((0.1, 0.5, 0.5, 0.5), "plateau"),
        ((0.5, 0.5), "continue"),
    ],
)
def test_plateau(values: tuple[float, ...], wanted: str) -> None:
    assert words(scores(*values))[-1] == wanted


def test_the_reason_of_a_plateau() -> None:
    assert "plateau: three generations score between 0.5 and 0.505;" in (
        after(scores(0.505, 0.5, 0.5)).reason
    )


def test_the_first_pattern_that_fits_is_the_one() -> None:
    """From the one that is looked for first to the last, each with all that follow it."""
    still = Turn(passed=NONE, tree="same", questions=asked("tone"), score=0.5)
    swing = [still, still._replace(fields="who what")] * 2
    swing = [turn._replace(tree=None) for turn in swing]
    shift = [turn._replace(questions=still.questions, score=0.5) for turn in moving(1, 2, 3, 4)]

    def last(turns: list[Turn]) -> str:
        """Decided after the last only: what came before it is taken as mere continuing."""
        generations = played(turns)
        whole = [
            g
            if g.completed is None
            else replace(
                g,
                persona=None,
                completed=replace(g.completed, action=Action.CONTINUE, pattern=None),
            )
            for g in generations
        ]
        return str(decide(whole, ALONE, Spent()).pattern)

    assert last([still] * 4) == "spinning"
    assert last(swing) == "oscillation"
    assert last([still._replace(tree=str(at)) for at in range(4)]) == "blocked"
    assert last(shift) == "repetition"
    assert last([turn._replace(questions=()) for turn in shift]) == "plateau"


# --- stagnated: when it does not count


def test_approved_is_not_stagnated() -> None:
    turns = [*moving(1, passed=BOTH, tree="same"), *moving(2, 3, 4, passed=BOTH, tree="same")]
    assert words(turns) == ["continue"] * 4
    unreviewed = words([turn._replace(review=50.0) for turn in turns], Policy())
    assert unreviewed[3] == "spinning", "QA did not pass, and the best share is long ago"


def test_a_new_best_share_within_the_window_is_progress() -> None:
    rises = [NONE, ONE, ONE, ONE, ONE]
    turns = [
        turn._replace(passed=passed, score=0.5)
        for turn, passed in zip(moving(1, 2, 3, 4, 5), rises, strict=True)
    ]
    assert words(turns) == ["continue"] * 4 + ["plateau"]
    assert words(turns, replace(ALONE, stagnation_window=2)) == ["continue"] * 3 + [
        "plateau",
        "continue",
    ]


def test_reaching_the_best_again_is_no_progress() -> None:
    shares = [ONE, NONE, ONE, NONE]
    turns = [
        turn._replace(passed=passed, score=0.5)
        for turn, passed in zip(moving(1, 2, 3, 4), shares, strict=True)
    ]
    assert words(turns) == ["continue"] * 3 + ["plateau"]


def test_where_nothing_ever_passed_no_window_is_waited_for() -> None:
    """No best share was reached, so none can have been reached within the window."""
    turns = moving(1, 2, 3, tree="same")
    assert words(turns, replace(ALONE, stagnation_window=10))[2] == "spinning"


def test_generations_before_the_last_lateral_thinking_do_not_count() -> None:
    found = words(moving(*range(7), tree="same"), replace(ALONE, max_retries=9))
    assert found == ["continue", "continue", "spinning"] * 2 + ["continue"]
    settled = [Turn(passed=NONE, score=at / 10) for at in range(8)]
    assert words(settled, replace(ALONE, max_retries=9)) == (
        ["continue"] * 3 + ["blocked"] + ["continue"] * 2 + ["blocked"] + ["continue"]
    )


# --- how often


@pytest.mark.parametrize("retries", [0, 1, 2, 3])
def test_more_than_max_retries_stagnations_end_the_loop(retries: int) -> None:
    policy = replace(ALONE, max_retries=retries)
    turns = moving(*range(3 * (retries + 1)), tree="same")
    generations = played(turns, policy)
    assert verdicts_of(generations) == ["continue", "continue", "spinning"] * (retries + 1)
    ends = [g.completed.next_generation for g in generations if g.completed]
    assert ends == [*range(2, len(turns) + 1), None]
    assert after(turns, policy).reason == (
        f"spinning: the same code 3 generations running; stagnated {retries + 1} times "
        f"without progress, max_retries is {retries}"
    )


def test_progress_starts_the_count_anew() -> None:
    first = moving(*range(3), tree="same")
    better = moving(3, passed=ONE)
    rest = moving(*range(4, 13), passed=ONE, tree="other")
    found = played([*first, *better, *rest], replace(ALONE, max_retries=1))
    assert verdicts_of(found)[:7] == (
        ["continue"] * 2 + ["spinning"] + ["continue"] * 3 + ["spinning"]
    )
    assert found[6].completed is not None
    assert found[6].completed.reason.endswith("lateral thinking next (1 of 1)")
    ends = [g.number for g in found if g.completed and g.completed.next_generation is None]
    assert ends[0] == 10


# --- on paper


def test_on_paper_nothing_is_executed_and_the_reason_says_so() -> None:
    found = after([Turn(passed=None)], PAPER)
    assert (found.action, found.reason) == (Action.CONTINUE, "ontology only, nothing executed")
    second = after([Turn(passed=None), Turn("other", passed=None)], PAPER)
    assert second.reason == "ontology only, nothing executed, similarity 0.0 < 0.95"


def paper(*fields: str) -> list[Turn]:
    return [Turn(each, passed=None) for each in fields]


def test_on_paper_it_converges_once_the_ontology_changed_and_settled() -> None:
    found = after(paper("a", "a b", "a b"), PAPER)
    assert found.action is Action.CONVERGED
    assert found.reason == "similarity 1.0 ≥ 0.95; ontology only, nothing executed"


def test_on_paper_unchanged_is_not_converged() -> None:
    found = played(paper(*["a"] * 4), PAPER)
    assert verdicts_of(found) == ["continue"] * 3 + ["unchanged"]
    assert found[3].completed is not None
    assert found[3].completed.reason == (
        "unchanged: the ontology is as it was for 3 generations; lateral thinking next (1 of 2)"
    )


def test_on_paper_another_spelling_is_no_change() -> None:
    assert words(paper("user_name", "userName", "UserName", "user_name"), PAPER) == (
        ["continue"] * 3 + ["unchanged"]
    )


def test_on_paper_stagnations_count_since_the_ontology_changed() -> None:
    policy = replace(PAPER, max_retries=1, convergence_threshold=1.0, min_generations=99)
    found = words(paper(*["a"] * 5, *["b"] * 9), policy)
    assert found[:4] == ["continue"] * 3 + ["unchanged"]
    assert found[4:8] == ["continue"] * 4, "the change at 6"
    assert found[8] == "unchanged", "the first since then"
    generations = played(paper(*["a"] * 5, *["b"] * 9), policy)
    ends = [g.number for g in generations if g.completed and not g.completed.next_generation]
    assert ends[0] == 12


def test_on_paper_a_failure_known_from_before_keeps_it_open() -> None:
    """Execution was turned off after two generations, in which criteria had failed."""
    turns = [Turn("a", passed=ONE), Turn("a b", passed=ONE), *paper("a b")]
    generations = [*played(turns[:2]), turned(turns[2], 3, None)]
    assert decide(generations, PAPER, Spent()).action is Action.CONTINUE
    passed = [Turn("a", passed=ONE), Turn("a b", passed=BOTH)]
    generations = [*played(passed), turned(turns[2], 3, None)]
    assert decide(generations, PAPER, Spent()).action is Action.CONVERGED


def test_on_paper_code_and_scores_say_nothing() -> None:
    executed = moving(1, 2, 3, tree="same")
    generations = [turned(turn, at, None) for at, turn in enumerate(executed, start=1)]
    assert decide(generations, ALONE, Spent()).pattern is Pattern.SPINNING
    assert decide(generations, PAPER, Spent()).pattern is None


# --- taken again


def test_taken_again_the_decision_is_the_same() -> None:
    for turns in ([Turn()] * 2, [Turn(passed=BOTH)] * 2, moving(1, 2, 3, tree="same")):
        generations = played(turns)
        found = decide(generations, ALONE, Spent())
        done = generations[-1].completed
        assert done is not None
        assert (found.action, found.reason, found.pattern, found.similarity) == (
            done.action,
            done.reason,
            done.pattern,
            done.similarity,
        )


def test_taken_again_under_another_policy() -> None:
    stuck = played(moving(1, 2, 3, tree="same"), replace(ALONE, max_retries=0))
    assert decide(stuck, ALONE, Spent()).next_generation == 4
    done = played([Turn(passed=BOTH)] * 2)
    assert decide(done, replace(ALONE, min_generations=5), Spent()).action is Action.CONTINUE
    full = played(moving(1, 2), replace(ALONE, max_generations=2))
    assert decide(full, ALONE, Spent()).action is Action.CONTINUE
    assert decide(done, replace(ALONE, stop_on_pass=True), Spent()).reason.endswith("stop_on_pass")


def test_what_was_decided_on_paper_ends_nothing_once_execution_is_on() -> None:
    """Nothing has been judged yet: neither converged nor stuck, whatever stood still on paper."""
    policy = replace(PAPER, min_generations=6)
    settled = played(paper("a", *["a b"] * 5), policy)
    assert verdicts_of(settled)[5] == "converged"
    found = decide(settled, ALONE, Spent())
    assert (found.action, found.next_generation) == (Action.CONTINUE, 7)
    given_up = played(paper(*["a"] * 4), replace(PAPER, max_retries=0))
    assert given_up[3].completed is not None
    assert given_up[3].completed.next_generation is None
    assert decide(given_up, ALONE, Spent()).action is Action.CONTINUE


# --- any history

TURNS = st.builds(
    Turn,
    fields=st.sampled_from(["name", "name greeting", "userName", "a b c", "a b"]),
    passed=st.sampled_from([None, BOTH, ONE, NONE]),
    tree=st.sampled_from(["t1", "t2"]),
    questions=st.sampled_from([(), asked("a"), asked("a", "b"), (Question(question="why?"),)]),
    score=st.sampled_from([None, 0.5, 0.505]),
    review=st.sampled_from([None, 90.0, 50.0]),
)
POLICIES = st.builds(
    Policy,
    execute=st.booleans(),
    qa=st.booleans(),
    max_retries=st.integers(0, 2),
    max_generations=st.integers(1, 9),
    min_generations=st.integers(1, 3),
    convergence_threshold=st.sampled_from([0.5, 0.95, 1.0]),
    stagnation_window=st.integers(2, 4),
    stop_on_pass=st.booleans(),
    freeze_ontology=st.booleans(),
)


@settings(max_examples=150)
@given(st.lists(TURNS, min_size=1, max_size=8), POLICIES)
def test_what_holds_of_every_decision(turns: list[Turn], policy: Policy) -> None:
    generations = played(turns, policy)
    now = generations[-1]
    found = decide(generations, policy, Spent())
    ended = found.next_generation is None
    assert (found.pattern is not None) == (found.action is Action.STAGNATED)
    assert found.next_generation in (None, now.number + 1)
    assert found.reason
    if found.action is Action.CONTINUE:
        assert not ended
    if found.action in (Action.CONVERGED, Action.EXHAUSTED):
        assert ended
    if found.action is Action.CONVERGED and policy.execute:
        assert now.approved(policy.qa)
    if found.action is Action.STAGNATED:
        assert not now.approved(policy.qa)
    if now.number >= policy.max_generations:
        assert ended
    if len(generations) > 1:
        assert found.similarity == similarity(generations[-2].ontology, now.ontology)
