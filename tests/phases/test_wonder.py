from typing import Any

import pytest
from msgspec.structs import replace

from ouro.core.brief import Phase
from ouro.core.events import Question
from ouro.core.seed import Criterion
from ouro.phases import BadReply, wonder
from tests.phases.build import (
    PROMPTS,
    SEED,
    USAGE,
    completed,
    executed,
    first_generation,
    forked,
    lineage,
    reflected,
    reply,
    survives_the_log,
    wondered,
)

SECOND = lineage(*first_generation())


def facts(content: Any) -> Any:
    fact = wonder.facts(SECOND, reply(content))
    assert survives_the_log(fact)
    return fact


def test_questions_become_facts() -> None:
    fact = facts(
        {
            "questions": [
                {
                    "question": " What is\na word? ",
                    "criteria": ["ac1", "ac3", "ac1"],
                    "subject": "word",
                },
                {"question": "Which files?", "criteria": []},
                {"question": "And stdin?", "subject": None},
            ],
            "tensions": ["speed against memory", "  "],
        }
    )
    assert fact.questions == (
        Question(question="What is a word?", criteria=("ac1", "ac3"), subject="word"),
        Question(question="Which files?"),
        Question(question="And stdin?"),
    )
    assert fact.tensions == ("speed against memory",)
    assert fact.usage == USAGE


def test_nothing_open_is_an_answer() -> None:
    assert facts({"questions": []}).questions == ()


def test_long_texts_are_cut_in_the_middle() -> None:
    long = "start " + "x" * 5_000 + " end"
    fact = facts({"questions": [{"question": long, "subject": long}], "tensions": [long]})
    for text, limit in (
        (fact.questions[0].question, 1_000),
        (fact.questions[0].subject, 100),
        (fact.tensions[0], 1_000),
    ):
        assert len(text) <= limit
        assert text.startswith("start")
        assert text.endswith("end")
        assert "characters cut" in text


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({}, "missing required field `questions`"),
        ({"questions": [{"question": "?", "criteria": ["ac9"]}]}, "question 1 names 'ac9'"),
        ({"questions": [{"question": "?"}, {"question": " \t"}]}, "question 2 is empty"),
        ({"questions": [{"question": "?"}] * 51}, "length <= 50"),
        ({"questions": [], "tensions": ["x"] * 51}, "length <= 50"),
    ],
)
def test_what_does_not_fit(content: Any, problem: str) -> None:
    with pytest.raises(BadReply, match=problem):
        facts(content)


def test_the_brief_holds_the_newest_verdicts() -> None:
    brief = wonder.request(SECOND, PROMPTS).brief
    assert brief.phase is Phase.WONDER
    assert (brief.lineage_id, brief.generation, brief.seed) == ("words", 2, SEED)
    assert [v.id for v in brief.verdicts] == ["ac1", "ac2", "ac3"]
    assert brief.questions == ()
    assert brief.asked == ()


def test_verdicts_survive_a_generation_that_was_not_judged() -> None:
    later = lineage(*first_generation(), wondered(), reflected(), completed("ontology only"))
    assert [v.id for v in wonder.request(later, PROMPTS).brief.verdicts] == ["ac1", "ac2", "ac3"]


def test_a_verdict_on_other_words_is_not_known_any_more() -> None:
    first, *rest = SEED.acceptance_criteria
    seed = replace(SEED, acceptance_criteria=(replace(first, description="other"), *rest[:1]))
    later = lineage(*first_generation(), wondered(), reflected(seed), executed(), completed())
    assert [v.id for v in wonder.request(later, PROMPTS).brief.verdicts] == ["ac2"]
    prompt = wonder.request(later, PROMPTS).prompt
    assert "Open: `ac1`, not judged yet as it stands" in prompt


def test_a_verdict_by_another_check_is_not_known_any_more() -> None:
    first, second, third = SEED.acceptance_criteria
    stricter = replace(second, checks=replace(second.checks, output_assertion="4 passed"))
    seed = replace(SEED, acceptance_criteria=(first, stricter, third))
    later = lineage(*first_generation(), wondered(), reflected(seed))
    assert [v.id for v in wonder.request(later, PROMPTS).brief.verdicts] == ["ac1", "ac3"]


def test_after_a_fork_with_another_seed_nothing_was_judged() -> None:
    later = lineage(*first_generation(), forked(replace(SEED, goal="Count lines")))
    request = wonder.request(later, PROMPTS)
    assert request.brief.verdicts == ()
    assert "## Verdicts" not in request.prompt
    assert "## Review" not in request.prompt


def test_added_criteria_are_told_apart() -> None:
    added = Criterion(id="ac4", description="Reads stdin", added_in=2)
    seed = replace(SEED, acceptance_criteria=(*SEED.acceptance_criteria, added))
    prompt = wonder.request(lineage(seed=seed), PROMPTS).prompt
    assert "- `ac4` (added in generation 2): Reads stdin" in prompt


def test_the_prompt_shows_the_questions_of_the_last_generation() -> None:
    asked = Question(question="Is a hyphen a letter?", criteria=("ac1",), subject="word")
    gap = Question(question="Who reads the output?")
    third = lineage(*first_generation(), wondered(asked, gap), reflected(), *first_generation())
    prompt = wonder.request(third, PROMPTS).prompt
    assert "## Questions of generation 2" in prompt
    assert (
        "1. [ac1] Is a hyphen a letter? (subject: word)\n2. [gap] Who reads the output?" in prompt
    )


def test_the_prompt_shows_what_the_last_generation_reached() -> None:
    prompt = wonder.request(SECOND, PROMPTS).prompt
    assert "Generation 1 ended with `continue`: 1/3 criteria passed." in prompt
    assert "## Verdicts of generation 1: 1 of 3 criteria passed" in prompt
    assert "### Open: `ac2`, score 0\n\n```material\n2 passed, 1 failed\n```" in prompt
    assert "### Passing: `ac1`\n\n```material\nran it: 7\n```" in prompt
    assert "## Review of generation 1: revise, 55 of 100" in prompt
    assert "Differences:\n- no help text\n\nSuggestions:\n- add --help" in prompt
    assert "- fileName (string): Path of the input" in prompt
    assert "## What generation 1 said of its work\n\n```material\nwrote wc.py\n```" in prompt


def test_without_a_past_the_prompt_has_no_sections_about_it() -> None:
    prompt = wonder.request(lineage(), PROMPTS).prompt
    for title in ("Verdicts", "Review of", "Questions of", "What generation", "Learnings so far"):
        assert f"## {title}" not in prompt
    assert "It is the first." in prompt
