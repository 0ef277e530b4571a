"""Texts of a landing: what git and people are told, whatever others wrote."""

import pytest
from msgspec.structs import replace

from ouro.core.events import EvaluateCompleted, Method, Verdict
from ouro.core.landing import landed, literal, message, objections, pull_request, title
from ouro.core.lineage import Generation, Lineage
from ouro.core.seed import Criterion, Seed
from tests.core.builders import completed, executed, judged, lineage, qa

COMMIT = "c0" * 20
SEED = Seed(
    goal="Greet\n  people",
    acceptance_criteria=(Criterion("ac1", "It\nworks"), Criterion("ac2", "It flies")),
)


def grown(*passed: bool, score: float | None = None) -> tuple[Lineage, Generation]:
    reviewed = [qa(score)] if score is not None else []
    found = lineage(executed(), judged(*passed), *reviewed, completed(), seed=SEED)
    return found, found.generations[-1]


def test_the_message_names_goal_criteria_and_where_it_came_from() -> None:
    assert message(*grown(True, False), COMMIT) == (
        "Greet people\n\nGeneration 1 of the lineage greet.\n\n"
        "Criteria met:\n- ac1: It works\n\nCriteria open:\n- ac2: It flies\n\n"
        f"Ouro-Lineage: greet\nOuro-Generation: 1\nOuro-Commit: {COMMIT}\n"
    )


@pytest.mark.parametrize("passed", [(True, True), (False, False)])
def test_a_part_without_criteria_is_left_out(passed: tuple[bool, ...]) -> None:
    said = message(*grown(*passed), COMMIT)
    assert ("Criteria met" in said) == passed[0]
    assert ("Criteria open" in said) != passed[0]


def test_a_long_goal_makes_a_short_subject() -> None:
    found, _ = grown(True, True)
    assert len(title(replace(found, seed=replace(SEED, goal="word " * 100)))) <= 72


def test_landings_are_found_wherever_the_line_stands() -> None:
    said = message(*grown(True, True), COMMIT)
    other = "d1" * 20
    assert landed(f"Many\n\n* {said}\n* and\n\nOuro-Commit: {other}\r\n") == [COMMIT, other]
    assert landed(f"Ouro-Commit: {COMMIT[:12]}\n> Ouro-Commit: {COMMIT}\n") == []


@pytest.mark.parametrize(
    ("passed", "score", "qa_on", "said"),
    [
        ((True, True), 90, True, ()),
        ((True, True), None, False, ()),
        ((True, True), None, True, ("QA has not looked at it",)),
        ((True, True), 55, True, ("QA revise",)),
        ((True, False), 55, True, ("ac2: It flies (open)",)),
    ],
)
def test_what_keeps_it_from_being_approved(
    passed: tuple[bool, ...], score: float | None, qa_on: bool, said: tuple[str, ...]
) -> None:
    _, generation = grown(*passed, score=score)
    assert objections(generation, qa_on) == said
    assert generation.approved(qa_on) == (not said)


@pytest.mark.parametrize(
    ("text", "code"), [("plain", "`plain`"), ("a `b`", "`` a `b` ``"), ("```", "```` ``` ````")]
)
def test_what_others_wrote_is_no_markup(text: str, code: str) -> None:
    assert literal(text) == code


def test_a_pull_request_tells_verdicts_review_history_and_cost() -> None:
    found, generation = grown(True, False, score=55)
    said = pull_request(found, generation, COMMIT)
    assert said.startswith("Greet\n  people\n\n## Criteria\n\n- [x] **ac1** It works  \n")
    assert "\n- [ ] **ac2** It flies" in said
    assert "QA: revise (55 of 100)\n\n## How" in said
    assert generation.qa
    differing = replace(generation, qa=replace(generation.qa, differences=("@you, `see`",)))
    assert "of 100)\n\n- `` @you, `see` ``\n" in pull_request(found, differing, COMMIT)
    assert "| 1 | continue |  | 1/2 criteria passed, QA revise (55) |" in said
    assert "git log --first-parent --oneline ooo/greet" in said
    for calls, cost in ((5, "0.00 USD known, 2 calls of unknown cost"), (2, "cost unknown")):
        total = replace(generation.total, cost=0.0, calls=calls, unknown=2)
        assert f"s of work, {cost}." in pull_request(
            found, replace(generation, total=total), COMMIT
        )


@pytest.mark.parametrize("method", Method)
def test_every_way_of_judging_is_told(method: Method) -> None:
    found, generation = grown(True, True)
    verdict = Verdict(id="ac1", passed=True, score=1.0, method=method, evidence="")
    judged_so = EvaluateCompleted(verdicts=(verdict,), score=1.0, seconds=0.0, usage=None)
    alike = replace(generation, evaluate=judged_so, completed=completed())
    done = replace(
        found, generations=(replace(alike, completed=replace(completed(), similarity=0.5)),)
    )
    said = pull_request(done, alike, COMMIT)
    assert "**ac2** It flies  \n  not judged" in said
    assert "No reviewer looked at it." in said
    assert "| 1 | continue | 0.5 |" in said
