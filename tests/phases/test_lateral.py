import pytest

from ouro.core.lateral import Pattern, Persona
from ouro.phases import evaluate, execute, lateral, qa, reflect, wonder
from tests.phases.build import PROMPTS, first_generation, lineage, survives_the_log


@pytest.mark.parametrize("persona", Persona)
def test_the_advice_is_the_personas_text(persona: Persona) -> None:
    fact = lateral.fact(persona, Pattern.SPINNING, PROMPTS)
    assert survives_the_log(fact)
    assert (fact.persona, fact.pattern) == (persona.value, "spinning")
    assert fact.advice == PROMPTS[f"personas/{persona.value}"].strip()
    assert type(fact.persona) is str


def test_a_users_own_text_may_be_anything() -> None:
    prompts = {**PROMPTS, "personas/hacker": "\ud800" + "x" * 9_999}
    fact = lateral.fact(Persona.HACKER, Pattern.PLATEAU, prompts)
    assert len(fact.advice) <= 4_000
    assert survives_the_log(fact)


def test_the_advice_comes_first_where_something_is_to_be_changed() -> None:
    fact = lateral.fact(Persona.ARCHITECT, Pattern.OSCILLATION, PROMPTS)
    opened = lineage(*first_generation(), fact)
    for phase in (wonder, reflect, execute):
        prompt = phase.request(opened, PROMPTS).prompt
        assert prompt.startswith("## Another way, for this generation\n\n")
        assert "(oscillation)" in prompt
        assert fact.advice in prompt
    for prompt in (
        evaluate.request(opened, PROMPTS, ("ac1",)).prompt,
        qa.request(opened, PROMPTS).prompt,
    ):
        assert fact.advice not in prompt
