from typing import Any

import pytest
from msgspec.structs import replace

from ouro.core.brief import Phase
from ouro.core.events import Method, Verdict
from ouro.phases import BadReply, evaluate
from tests.phases.build import PROMPTS, SEED, USAGE, lineage, reply, survives_the_log, verdict

FIRST = lineage()
ASKED = ("ac1", "ac3")
CHECKED = (verdict("ac2", True, "exit 0"),)


def v(criterion_id: str, passed: bool = True, score: float = 1.0, evidence: str = "e") -> Any:
    return {"id": criterion_id, "passed": passed, "score": score, "evidence": evidence}


def facts(*verdicts: Any, agent: str = "claude", asked: tuple[str, ...] = ASKED) -> Any:
    answer = reply({"criteria": verdicts}, agent)
    fact = evaluate.facts(FIRST, CHECKED, answer, asked, 1.5)
    assert survives_the_log(fact)
    return fact


def judged(one: Any, agent: str = "claude") -> Verdict:
    found: Verdict = facts(one, v("ac3"), agent=agent).verdicts[0]
    assert found.id == "ac1"
    return found


def test_asked_is_what_no_check_decides() -> None:
    assert evaluate.asked(SEED, ()) == ("ac1", "ac3")
    assert evaluate.asked(SEED, {"ac3": "its checks"}) == ("ac1",)
    assert evaluate.asked(SEED, {"ac1", "ac2", "ac3"}) == ()


def test_verdicts_go_by_id_and_stand_in_the_seeds_order() -> None:
    fact = facts(v("ac3", passed=False, score=0.25), v("ac1"))
    assert [(x.id, x.passed, x.score) for x in fact.verdicts] == [
        ("ac1", True, 1.0),
        ("ac2", True, 1.0),
        ("ac3", False, 0.25),
    ]
    assert [x.method for x in fact.verdicts] == [Method.AGENT, Method.CHECK, Method.AGENT]
    assert fact.score == pytest.approx(2.25 / 3)
    assert fact.seconds == 1.5
    assert fact.usage == USAGE


def test_without_an_agent_the_checks_stand_alone() -> None:
    fact = evaluate.facts(FIRST, CHECKED, None, (), 0.5)
    assert fact.verdicts == CHECKED
    assert fact.score == 1.0
    assert fact.usage is None
    assert survives_the_log(fact)


def test_nothing_judged_scores_nothing() -> None:
    assert evaluate.facts(FIRST, (), None, (), 0.0).score == 0.0


def test_the_check_decides_over_the_agent() -> None:
    fact = facts(v("ac2", passed=False, score=0.0), asked=("ac2",))
    assert fact.verdicts == CHECKED


@pytest.mark.parametrize(
    ("passed", "score", "expected"),
    [
        (True, 1.0, (True, 1.0)),
        (True, 0.8, (True, 0.8)),
        (True, 0.79, (False, 0.79)),
        (True, 0.795, (False, 0.79)),
        (True, 0.1, (False, 0.1)),
        (False, 0.1, (False, 0.1)),
        (False, 1.0, (False, 0.79)),
        (False, 0.0, (False, 0.0)),
    ],
)
def test_numbers_decide(passed: bool, score: float, expected: tuple[bool, float]) -> None:
    found = judged(v("ac1", passed, score))
    assert (found.passed, found.score) == expected


def test_offline_shows_as_offline() -> None:
    assert judged(v("ac1"), agent="offline").method is Method.OFFLINE


def test_unresolved_is_no_pass() -> None:
    found = judged(v("ac1", True, 1.0, "unresolved: needs a reader"), agent="offline")
    assert (found.passed, found.score, found.method) == (False, 0.0, Method.UNRESOLVED)
    assert found.evidence == "unresolved: needs a reader"


def test_only_offline_can_leave_a_criterion_unresolved() -> None:
    assert judged(v("ac1", True, 1.0, "unresolved: no")).method is Method.AGENT


def test_long_evidence_keeps_head_and_tail() -> None:
    evidence = judged(v("ac1", evidence="head\n" + "x" * 9_999 + "\ntail")).evidence
    assert len(evidence) <= 4_000
    assert evidence.startswith("head\n")
    assert evidence.endswith("\ntail")


@pytest.mark.parametrize(
    ("verdicts", "problem"),
    [
        ([v("ac1")], "no verdict on ac3"),
        ([], "no verdict on ac1, ac3"),
        ([v("ac1"), v("ac3"), v("ac1")], "two verdicts on ac1"),
        ([v("ac1"), v("ac3"), v("ac2")], "verdict on 'ac2', which was not asked about"),
        ([v("ac1"), v("ac3"), v("ac9")], "verdict on 'ac9'"),
        ([v("ac1", score=1.1), v("ac3")], "<= 1.0"),
        ([v("ac1", score=-0.1), v("ac3")], ">= 0.0"),
        ([v("ac1", evidence=" \n"), v("ac3")], "ac1 passes without any evidence"),
        (
            [{"id": "ac1", "passed": True, "score": 1}, v("ac3")],
            "missing required field `evidence`",
        ),
        ([{**v("ac1"), "passed": "true"}, v("ac3")], "got `str`"),
    ],
)
def test_what_does_not_fit(verdicts: list[Any], problem: str) -> None:
    with pytest.raises(BadReply, match=problem):
        facts(*verdicts)


def test_a_missing_reply_is_not_a_verdict() -> None:
    with pytest.raises(BadReply, match="no verdict on ac1"):
        evaluate.facts(FIRST, CHECKED, None, ["ac1"], 0.0)


def test_failing_needs_no_evidence() -> None:
    assert not judged(v("ac1", False, 0.0, "")).passed


def test_only_what_is_asked_about_is_shown() -> None:
    request = evaluate.request(FIRST, PROMPTS, ("ac3",))
    assert request.brief.phase is Phase.EVALUATE
    assert request.brief.asked == ("ac3",)
    assert request.brief.verdicts == ()
    assert "## Acceptance criteria\n\n- `ac3`: An empty file counts 0\n\n" in request.prompt
    assert "The tests pass" not in request.prompt
    assert "python -m pytest" not in request.prompt


def test_the_users_principles_are_shown() -> None:
    seed = replace(SEED, evaluation_principles=["be strict"])
    prompt = evaluate.request(lineage(seed=seed), PROMPTS, ASKED).prompt
    assert "## Principles of evaluation\n\n- be strict" in prompt
