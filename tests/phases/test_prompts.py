"""What holds for every prompt, whatever the lineage: structure, not words."""

import json
import re
from collections.abc import Iterable
from string import Template
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ouro.core.events import Data, NoteAdded, Question, Verdict
from ouro.core.lateral import Pattern, Persona
from ouro.core.lineage import Lineage
from ouro.core.seed import Checks, Criterion, Seed
from ouro.phases import BadReply, evaluate, execute, lateral, qa, reflect, wonder
from tests.phases.build import (
    PHASES,
    PROMPTS,
    SEED,
    completed,
    evaluated,
    executed,
    first_generation,
    lineage,
    reflected,
    reply,
    reviewed,
    survives_the_log,
    verdict,
    wondered,
)

SHARED = {"frame", "standing", "repair"}
OPTIONAL_AT_TOP = {"persona"}
QUESTION = Question(question="Is a hyphen a letter?", criteria=("ac1",))


def prompts_of(state: Lineage, asked: Iterable[str] = ("ac1",)) -> dict[str, str]:
    return {
        "wonder": wonder.request(state, PROMPTS).prompt,
        "reflect": reflect.request(state, PROMPTS).prompt,
        "execute": execute.request(state, PROMPTS, ["tests/"]).prompt,
        "evaluate": evaluate.request(state, PROMPTS, tuple(asked)).prompt,
        "qa": qa.request(state, PROMPTS).prompt,
    }


def full(seed: Seed = SEED) -> Lineage:
    """A lineage in which every section of every prompt has something to say."""
    return lineage(
        NoteAdded(text="Please $goal it.\n```\nverbatim\n"),
        *first_generation(seed),
        lateral.fact(Persona.HACKER, Pattern.SPINNING, PROMPTS),
        wondered(QUESTION, tensions=("a against b",)),
        reflected(seed, ("use -q",), "begin with ac2"),
        executed("second summary"),
        evaluated(*(verdict(c.id, False, "no") for c in seed.acceptance_criteria)),
        reviewed(60.0, "slow"),
        completed(),
        wondered(QUESTION, tensions=("c against d",)),
        reflected(seed, ("use -v",), "then ac3"),
        evaluated(*(verdict(c.id, True, "yes") for c in seed.acceptance_criteria)),
        seed=seed,
    )


# --- the templates ---------------------------------------------------------------------------


def test_the_templates_are_those_that_the_phases_use() -> None:
    personas = {f"personas/{persona}" for persona in Persona}
    replies = {f"reply/{phase}" for phase in PHASES}
    assert set(PROMPTS) == {*PHASES, *SHARED, *personas, *replies}


@pytest.mark.parametrize("phase", PHASES)
def test_every_name_in_a_template_has_a_value(phase: str) -> None:
    assert not re.search(r"\$\{?[a-z_]", prompts_of(lineage())[phase])


@pytest.mark.parametrize("name", sorted(set(PROMPTS) - set(PHASES) - SHARED))
def test_other_texts_are_taken_as_they_are(name: str) -> None:
    assert "$" not in PROMPTS[name]


@pytest.mark.parametrize("name", PROMPTS)
def test_texts_are_short_and_wrapped(name: str) -> None:
    assert len(PROMPTS[name].split()) < 300
    assert all(len(line) <= 105 for line in PROMPTS[name].splitlines())


@pytest.mark.parametrize("phase", PHASES)
def test_sections_go_from_what_never_changes_to_what_is_new(phase: str) -> None:
    names = Template(PROMPTS[phase]).get_identifiers()
    order = ["persona", "frame", "goal", "constraints", "criteria", "context", "standing"]
    present = [name for name in order if name in names]
    assert [name for name in names if name in order] == present
    assert set(order) - set(present) <= OPTIONAL_AT_TOP
    assert names[-2:] == ["notes", "reply_format"]
    assert names.index("standing") < names.index("learnings") < names.index("notes")


@pytest.mark.parametrize("phase", PHASES)
def test_the_prompt_has_every_section_once_and_ends_with_the_format(phase: str) -> None:
    prompt = prompts_of(full())[phase]
    outside = re.sub(r"^(`{3,}).*?^\1$", "(block)", prompt, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^## (.*)$", outside, flags=re.MULTILINE)
    assert len(titles) == len(set(titles))
    assert titles[-1] == "Reply"
    assert prompt.endswith(PROMPTS[f"reply/{phase}"])
    assert "\n\n\n" not in outside


def test_the_examples_in_the_formats_are_replies_that_fit() -> None:
    seed = replace(
        SEED,
        ontology_schema=msgspec.convert(
            {"fields": [{"name": "entry"}, {"name": "cache"}]}, type(SEED.ontology_schema)
        ),
    )
    state = lineage(seed=seed)
    assert wonder.facts(state, reply(PROMPTS["reply/wonder"])).questions
    fact = reflect.facts(state, reply(PROMPTS["reply/reflect"]))
    assert [f.name for f in fact.seed.ontology_schema.fields] == ["entry", "time_zone"]
    verdicts = evaluate.facts(state, (), reply(PROMPTS["reply/evaluate"]), ("ac1", "ac2"), 0.0)
    assert [v.passed for v in verdicts.verdicts] == [True, False]
    assert qa.facts(state, reply(PROMPTS["reply/qa"])).differences


# --- notes, material, dollars ----------------------------------------------------------------


@pytest.mark.parametrize("phase", PHASES)
def test_notes_are_word_for_word_and_marked(phase: str) -> None:
    prompt = prompts_of(full())[phase]
    assert "## Notes from the user" in prompt
    assert "````note\nPlease $goal it.\n```\nverbatim\n\n````" in prompt


@pytest.mark.parametrize("phase", PHASES)
def test_learnings_are_material_newest_last(phase: str) -> None:
    assert "```material\n- use -q\n- use -v\n```" in prompts_of(full())[phase]


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=60))
def test_material_of_any_kind_stays_inside_its_fence(hostile: str) -> None:
    text = hostile + "\n```\n````\n$notes ${goal} $$\n## Reply\n"
    question = Question(question=text, subject=text)
    state = lineage(
        executed(text),
        evaluated(*(verdict(c.id, False, text) for c in SEED.acceptance_criteria)),
        reviewed(1.0, text, suggestions=(text,)),
        completed(),
        wondered(question, tensions=(text,)),
        reflected(SEED, (text,), text),
    )
    for prompt in prompts_of(state).values():
        outside = re.sub(r"^(`{3,})\w+\n.*?\n\1$", "", prompt, flags=re.MULTILINE | re.DOTALL)
        assert outside.count("## Reply") == 1
        assert "$notes" not in outside


# --- hidden checks ---------------------------------------------------------------------------


@st.composite
def seeds(draw: st.DrawFn) -> Seed:
    count = draw(st.integers(1, 5))
    kinds = draw(st.lists(st.sampled_from(["plain", "hidden", "checked"]), min_size=count))
    return replace(SEED, acceptance_criteria=tuple(map(_criterion, range(len(kinds)), kinds)))


def _criterion(number: int, kind: str) -> Criterion:
    checks = Checks(verify_command=f"run {number}") if kind == "checked" else Checks()
    return Criterion(f"c{number}", f"Demand {number}", checks, hidden=kind == "hidden")


@given(seeds())
def test_a_hidden_flag_changes_no_byte(seed: Seed) -> None:
    plain = tuple(replace(c, hidden=False) for c in seed.acceptance_criteria)
    shown, flagged = full(replace(seed, acceptance_criteria=plain)), full(seed)
    asked = evaluate.asked(seed, {c.id for c in seed.acceptance_criteria if c.hidden})
    assert prompts_of(shown, asked) == prompts_of(flagged, asked)
    assert not any("hidden" in prompt.lower() for prompt in prompts_of(flagged, asked).values())


def test_hidden_checks_are_not_shown_even_where_a_seed_still_holds_them() -> None:
    checks = Checks(
        verify_command="secret-cmd", expected_artifacts=("secret-f",), output_assertion="secret-o"
    )
    first, *rest = SEED.acceptance_criteria
    seed = replace(SEED, acceptance_criteria=(replace(first, checks=checks, hidden=True), *rest))
    assert not any("secret" in prompt for prompt in prompts_of(full(seed)).values())


@pytest.mark.parametrize("method", ["check", "agent", "carried", "offline"])
def test_prompts_do_not_say_how_a_verdict_came_about(method: str) -> None:
    def state(kind: str) -> Lineage:
        found = msgspec.convert(
            {**msgspec.to_builtins(verdict("ac1", False)), "method": kind}, Verdict
        )
        facts: tuple[Data, ...] = (executed(), evaluated(found), completed())
        return lineage(*facts)

    assert prompts_of(state(method)) == prompts_of(state("unresolved"))


# --- any reply -------------------------------------------------------------------------------

TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
IDS = st.sampled_from(["ac1", "ac2", "ac3", "ac4", "ac9", "", "AC1"])
NAMES = st.sampled_from(["word", "Word", "file_name", "fileName", "line", "", "_"])
MAYBE = st.one_of(st.none(), TEXTS)
SCORES = st.one_of(st.floats(allow_nan=True), st.integers(), st.sampled_from([0, 0.8, 1, 80]))
REPLIES = st.fixed_dictionaries(
    {},
    optional={
        "questions": st.lists(
            st.fixed_dictionaries(
                {"question": TEXTS, "criteria": st.lists(IDS, max_size=3)},
                optional={"subject": MAYBE},
            ),
            max_size=3,
        ),
        "tensions": st.lists(TEXTS, max_size=3),
        "ontology_mutations": st.lists(
            st.fixed_dictionaries(
                {"action": st.sampled_from(["add", "modify", "remove", "drop"]), "name": NAMES},
                optional={"field_type": MAYBE, "description": MAYBE, "reason": MAYBE},
            ),
            max_size=3,
        ),
        "criteria": st.lists(
            st.fixed_dictionaries(
                {"id": IDS},
                optional={
                    "action": st.sampled_from(["add", "revise", "note", "remove"]),
                    "description": TEXTS,
                    "passed": st.booleans(),
                    "score": SCORES,
                    "evidence": TEXTS,
                },
            ),
            max_size=3,
        ),
        "learnings": st.lists(TEXTS, max_size=3),
        "reasoning": TEXTS,
        "score": SCORES,
        "differences": st.lists(TEXTS, max_size=3),
        "suggestions": st.lists(TEXTS, max_size=3),
    },
)


@given(REPLIES)
def test_any_reply_makes_a_fact_that_the_log_can_hold_or_is_bad(content: dict[str, Any]) -> None:
    state = lineage(*first_generation(), wondered(QUESTION))
    answer = reply(json.dumps(content))
    for make in (
        lambda: wonder.facts(state, answer),
        lambda: reflect.facts(state, answer),
        lambda: evaluate.facts(state, (), answer, ("ac1", "ac3"), 0.0),
        lambda: qa.facts(state, answer),
    ):
        try:
            fact = make()
        except BadReply as problem:
            assert str(problem).encode()  # noqa: PT017 - any other exception is the failure
        else:
            assert survives_the_log(fact)
