from typing import Any

import pytest

from ouro.core.brief import Phase
from ouro.core.events import QaVerdict
from ouro.phases import BadReply, qa
from tests.phases.build import (
    PROMPTS,
    USAGE,
    evaluated,
    executed,
    first_generation,
    lineage,
    reply,
    survives_the_log,
    verdict,
)

FIRST = lineage(executed(), evaluated(verdict("ac1", True, "saw it"), verdict("ac2", False, "no")))


def facts(content: Any) -> Any:
    fact = qa.facts(FIRST, reply(content))
    assert survives_the_log(fact)
    return fact


@pytest.mark.parametrize(
    ("score", "verdict"),
    [
        (100, QaVerdict.PASS),
        (80, QaVerdict.PASS),
        (79.99, QaVerdict.REVISE),
        (40, QaVerdict.REVISE),
        (39.9, QaVerdict.FAIL),
        (0, QaVerdict.FAIL),
        (-0.0, QaVerdict.FAIL),
    ],
)
def test_the_verdict_follows_from_the_score(score: float, verdict: QaVerdict) -> None:
    # What the agent calls it does not count.
    fact = facts({"score": score, "verdict": "pass"})
    assert (fact.verdict, fact.score) == (verdict, score)
    assert (fact.error, fact.carried, fact.usage) == (None, False, USAGE)


def test_findings_become_single_lines() -> None:
    fact = facts({"score": 50, "differences": ["a\nb", " "], "suggestions": ["s" * 9_999]})
    assert fact.differences == ("a b",)
    assert len(fact.suggestions[0]) <= 1_000


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"score": 100.1}, "<= 100"),
        ({"score": -1}, ">= 0"),
        ({"score": None}, "got `null`"),
        ({"verdict": "pass"}, "missing required field `score`"),
        ({"score": 5, "differences": ["x"] * 51}, "length <= 50"),
        ('{"score": 1e999}', "out of range"),
    ],
)
def test_what_does_not_fit(content: Any, problem: str) -> None:
    with pytest.raises(BadReply, match=problem):
        facts(content)


def test_the_request_shows_this_generations_verdicts() -> None:
    request = qa.request(FIRST, PROMPTS)
    assert request.brief.phase is Phase.QA
    assert [v.id for v in request.brief.verdicts] == ["ac1", "ac2"]
    assert "## Verdicts of generation 1: 1 of 3 criteria passed" in request.prompt
    assert "### Passing: `ac1`\n\n```material\nsaw it\n```" in request.prompt


def test_an_earlier_review_is_shown() -> None:
    later = lineage(*first_generation(), executed(), evaluated(verdict("ac1", True)))
    prompt = qa.request(later, PROMPTS).prompt
    assert "## Review of generation 1: revise, 55 of 100" in prompt
    assert "## Verdicts of generation 2" in prompt
