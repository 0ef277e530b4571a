"""The step's JSON: the contract with scripts."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from ouro.core.decision import Decision
from ouro.core.events import Action, Data, Delta
from ouro.core.lineage import Generation
from ouro.core.report import Report, of_end, of_failure, of_generation, to_json
from tests.core.builders import USAGE, completed, executed, judged, lineage, persona, qa, wondered

CONTRACT = [
    "action",
    "generation",
    "lineage_id",
    "similarity",
    "next_generation",
    "lateral_think_applied",
    "qa",
    "error",
]
COMMIT = "c0" * 20


def shown(report: Report) -> dict[str, Any]:
    text = to_json(report)
    assert "\n" not in text
    found: dict[str, Any] = json.loads(text)
    assert list(found)[:8] == CONTRACT
    return found


def latest(*facts: Data) -> Generation:
    found = lineage(*facts).latest
    assert found is not None
    return found


def test_a_completed_generation() -> None:
    done = replace(completed(), similarity=0.87, next_generation=3, reason="1/2 criteria passed")
    first = (executed(), judged(True, True), qa(60), completed())
    generation = latest(*first, wondered(), judged(True, False), qa(92.3), done)
    assert shown(of_generation("greet", generation, COMMIT)) == {
        "action": "continue",
        "generation": 2,
        "lineage_id": "greet",
        "similarity": 0.87,
        "next_generation": 3,
        "lateral_think_applied": False,
        "qa": {"verdict": "pass", "score": 92.3, "error": None},
        "error": None,
        "reason": "1/2 criteria passed",
        "criteria": {"passed": 1, "total": 2},
        "commit": COMMIT,
        "tag": "ooo/greet/gen_2",
        "usage": {
            "input_tokens": 20,
            "output_tokens": 10,
            "cost": 1.0,
            "seconds": 5.0,
            "unknown_calls": 0,
            "total": {
                "input_tokens": 40,
                "output_tokens": 20,
                "cost": 2.0,
                "seconds": 10.0,
                "unknown_calls": 0,
                "total": None,
            },
        },
    }


def test_on_paper_there_is_no_qa_and_no_similarity_at_first() -> None:
    found = shown(of_generation("greet", latest(completed()), COMMIT))
    assert (found["qa"], found["similarity"]) == (None, None)
    assert found["criteria"] == {"passed": 0, "total": 2}


def test_only_what_was_completed_has_a_report() -> None:
    with pytest.raises(AssertionError, match="completed"):
        of_generation("greet", lineage(executed()).current, COMMIT)


def test_the_end_is_said_again_as_it_was_recorded() -> None:
    done = completed(Action.CONVERGED, next_generation=None)
    generation = latest(executed(), judged(True, True), done)
    otherwise = Decision(action=Action.EXHAUSTED, reason="x", similarity=None, delta=Delta())
    assert of_end("greet", generation, COMMIT, otherwise) == of_generation(
        "greet", generation, COMMIT
    )


def test_an_end_that_only_the_policy_of_now_makes() -> None:
    generation = latest(executed(), judged(True, False), completed())
    now = Decision(action=Action.EXHAUSTED, reason="enough", similarity=0.5, delta=Delta())
    report = of_end("greet", generation, COMMIT, now)
    assert report == replace(
        of_generation("greet", generation, COMMIT),
        action=Action.EXHAUSTED,
        reason="enough",
        next_generation=None,
    )


def test_a_failure_has_the_same_shape() -> None:
    state = lineage(executed(), judged(True, True), completed(), persona(), judged(True, False))
    found = shown(of_failure(state, "timeout: nothing came", "next try later", COMMIT))
    assert list(found.values())[:8] == [
        "failed",
        2,
        "greet",
        None,
        2,
        True,
        None,
        "timeout: nothing came",
    ]
    assert found["reason"] == "next try later"
    assert (found["commit"], found["tag"]) == (COMMIT, None)
    assert found["criteria"] == {"passed": 1, "total": 2}
    assert found["usage"]["seconds"] == 1.0
    assert found["usage"]["total"]["seconds"] == 4.0
    assert shown(of_failure(lineage(), "busy", "wait", None))["commit"] is None


def test_figures_are_rounded_for_people() -> None:
    fact = executed()
    odd = replace(fact, usage=replace(fact.usage, cost=0.1 + 0.2, seconds=1 / 3))
    usage = shown(of_generation("greet", latest(odd, completed()), COMMIT))["usage"]
    assert (usage["cost"], usage["seconds"]) == (0.3, 0.333)


def test_what_nobody_says_is_unknown_and_not_zero() -> None:
    silent = replace(USAGE, cost=None, input_tokens=None, output_tokens=None)
    first = latest(replace(executed(), usage=silent), judged(True, True), completed())
    usage = shown(of_generation("greet", first, COMMIT))["usage"]
    assert [usage[key] for key in ("input_tokens", "output_tokens", "cost")] == [None] * 3
    assert (usage["unknown_calls"], usage["seconds"]) == (1, 3.0)
    facts = (replace(executed(), usage=silent), judged(True, True), qa(90), completed())
    usage = shown(of_generation("greet", latest(*facts), COMMIT))["usage"]
    assert (usage["input_tokens"], usage["cost"], usage["unknown_calls"]) == (10, 0.5, 1)
    nothing = shown(of_generation("greet", latest(completed()), COMMIT))["usage"]
    assert (nothing["input_tokens"], nothing["cost"], nothing["unknown_calls"]) == (0, 0.0, 0)
    free = replace(USAGE, cost=0.0, input_tokens=0, output_tokens=0)
    offline = latest(replace(executed(), usage=free), completed())
    usage = shown(of_generation("greet", offline, COMMIT))["usage"]
    assert (usage["input_tokens"], usage["cost"]) == (0, 0.0)
