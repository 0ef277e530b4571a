from typing import Any

import pytest
from msgspec.structs import replace

from ouro.core.brief import Phase
from ouro.core.events import Question
from ouro.core.seed import Field
from ouro.phases import BadReply, reflect
from tests.phases.build import (
    PROMPTS,
    SEED,
    USAGE,
    first_generation,
    lineage,
    reflected,
    reply,
    survives_the_log,
    wondered,
)

QUESTION = Question(question="Is a hyphen a letter?", criteria=("ac1",))
SECOND = lineage(*first_generation(), wondered(QUESTION, tensions=("ac1 against ac3",)))


def facts(content: Any) -> Any:
    fact = reflect.facts(SECOND, reply(content))
    assert survives_the_log(fact)
    return fact


def test_the_fact_holds_the_whole_next_seed() -> None:
    fact = facts(
        {
            "ontology_mutations": [
                {"action": "add", "name": "hyphen", "description": "joins", "reason": "q1"}
            ],
            "criteria": [{"action": "add", "description": "Hyphens join words"}],
            "learnings": ["run with -q"],
            "reasoning": " first this\nthen that ",
        }
    )
    assert fact.seed.goal == SEED.goal
    assert fact.seed.acceptance_criteria[:3] == SEED.acceptance_criteria
    added = fact.seed.acceptance_criteria[3]
    assert (added.id, added.description, added.added_in) == ("ac4", "Hyphens join words", 2)
    assert fact.seed.ontology_schema.name == "Counting"
    assert fact.seed.ontology_schema.fields[2] == Field("hyphen", "string", "joins")
    assert fact.mutations[0].reason == "q1"
    assert fact.criteria[0].id == "ac4"
    assert fact.learnings == ("run with -q",)
    assert fact.reasoning == "first this\nthen that"
    assert fact.usage == USAGE


def test_no_change_is_an_answer() -> None:
    fact = facts({"ontology_mutations": []})
    assert fact.seed == SEED
    assert (fact.mutations, fact.criteria, fact.learnings, fact.reasoning) == ((), (), (), "")


def test_learnings_come_once_and_only_the_newest() -> None:
    given = ["a", " a ", "", "b\nc", *(f"n{n}" for n in range(19)), "l" * 999]
    learnings = facts({"ontology_mutations": [], "learnings": given}).learnings
    assert len(learnings) == 20
    assert learnings[:2] == ("n0", "n1")
    assert len(learnings[-1]) <= 500
    few = facts({"ontology_mutations": [], "learnings": ["a", " a ", "", "b\nc"]}).learnings
    assert few == ("a", "b c")


def test_long_reasoning_is_cut() -> None:
    fact = facts({"ontology_mutations": [], "reasoning": "r" * 9_999})
    assert len(fact.reasoning) <= 4_000


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({}, "missing required field `ontology_mutations`"),
        ({"ontology_mutations": [{"action": "remove", "name": "x"}]}, "no field 'x'"),
        (
            {
                "ontology_mutations": [],
                "criteria": [{"action": "revise", "id": "ac1", "description": "x"}],
            },
            "is the user's",
        ),
        (
            {"ontology_mutations": [], "criteria": [{"action": "note", "id": "ac1"}]},
            "`description`",
        ),
    ],
)
def test_what_does_not_fit(content: Any, problem: str) -> None:
    with pytest.raises(BadReply, match=problem):
        facts(content)


def test_the_request_shows_this_generations_questions() -> None:
    request = reflect.request(SECOND, PROMPTS)
    assert request.brief.phase is Phase.REFLECT
    assert request.brief.questions == (QUESTION,)
    assert [v.id for v in request.brief.verdicts] == ["ac1", "ac2", "ac3"]
    assert "## Questions of this generation" in request.prompt
    assert "1. [ac1] Is a hyphen a letter?" in request.prompt
    assert "## Tensions\n\n```material\n- ac1 against ac3\n```" in request.prompt


def test_a_request_without_wonder_has_no_questions() -> None:
    request = reflect.request(lineage(*first_generation()), PROMPTS)
    assert request.brief.questions == ()
    assert "## Questions" not in request.prompt
    assert "## Tensions" not in request.prompt


def test_remarks_and_learnings_are_material() -> None:
    first, *rest = SEED.acceptance_criteria
    seed = replace(SEED, acceptance_criteria=(replace(first, notes=("slow",)), *rest))
    learnt = tuple(f"learning {n}" for n in range(25))
    third = lineage(*first_generation(), wondered(), reflected(seed, learnt), *first_generation())
    prompt = reflect.request(third, PROMPTS).prompt
    assert "## Remarks on criteria\n\n```material\n- ac1: slow\n```" in prompt
    assert "```material\n- learning 5\n" in prompt
    assert "\n- learning 24\n```" in prompt


def test_an_empty_ontology_says_so() -> None:
    bare = replace(SEED, ontology_schema=replace(SEED.ontology_schema, name="", fields=()))
    assert (
        "## Ontology\n\nIt has no fields yet."
        in reflect.request(lineage(seed=bare), PROMPTS).prompt
    )
    nameless = replace(SEED, ontology_schema=replace(SEED.ontology_schema, name="", description=""))
    prompt = reflect.request(lineage(seed=nameless), PROMPTS).prompt
    assert "## Ontology\n\n```material\n- word (string)" in prompt
