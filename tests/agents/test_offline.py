"""The offline agent phase by phase: its replies, and that they settle and repeat."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ouro.agents import Agent
from ouro.agents.offline import OfflineAgent, uncovered
from ouro.agents.offline.terms import MOST, terms_of
from ouro.core.brief import Brief, FailureKind, Phase, Request
from ouro.core.events import Question
from ouro.core.ontology import normalise
from ouro.core.seed import Checks, Field, Seed
from tests.agents.offline_support import (
    HELLO,
    ask,
    evaluate,
    execute,
    ontology,
    passed,
    seed_of,
    verdict,
    with_fields,
)

GOAL = "A tiny Python module that greets people by name"
SEED = seed_of(*HELLO, goal=GOAL, constraints=("Standard library only",))


def wonder(seed: Seed, workspace: Path, **brief: Any) -> dict[str, Any]:
    return dict(json.loads(ask(seed, Phase.WONDER, workspace, **brief)))


def reflect(seed: Seed, questions: list[dict[str, Any]], workspace: Path) -> dict[str, Any]:
    asked = tuple(
        Question(question=q["question"], criteria=tuple(q["criteria"]), subject=q["subject"])
        for q in questions
    )
    return dict(json.loads(ask(seed, Phase.REFLECT, workspace, questions=asked)))


def applied(seed: Seed, mutations: list[dict[str, Any]]) -> Seed:
    for mutation in mutations:
        fields = seed.ontology_schema.fields
        if mutation["action"] == "add":
            added = Field(mutation["name"], mutation["field_type"], mutation["description"])
            seed = with_fields(seed, added)
        else:
            assert mutation["action"] == "modify"
            text = mutation["description"]
            changed = (
                replace(f, description=text) if f.name == mutation["name"] else f for f in fields
            )
            seed = seed.with_ontology(tuple(changed))
    return seed


def test_it_is_an_agent_and_says_what_it_is(tmp_path: Path) -> None:
    agent: Agent = OfflineAgent({})
    brief = Brief(phase=Phase.QA, lineage_id="demo", generation=1, seed=SEED)
    reply = agent.run(Request(brief=brief, prompt=""), tmp_path, "m")
    usage = reply.usage
    assert (agent.name, usage.agent, usage.model) == ("offline", "offline", "rules, no model")
    assert (usage.input_tokens, usage.output_tokens, usage.cost) == (0, 0, 0.0)
    assert usage.seconds >= 0


def test_the_hello_world_seed_is_served_whole(tmp_path: Path) -> None:
    assert uncovered(SEED) == ()
    summary = execute(SEED, tmp_path)
    assert "hello.py: the function greet" in summary
    assert passed(evaluate(SEED, tmp_path)) == ["ac1", "ac2", "ac3"]


def test_what_cannot_be_read_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    agent = OfflineAgent(os.environ)
    brief = Brief(
        phase=Phase.EVALUATE, lineage_id="demo", generation=1, seed=SEED, asked=("ac2", "ac3")
    )
    reply = agent.run(Request(brief=brief, prompt=""), tmp_path / "gone", "m")
    assert reply.problem is not None
    assert reply.problem.kind is FailureKind.AGENT_ERROR


def test_only_what_is_asked_is_judged(tmp_path: Path) -> None:
    text = ask(SEED, Phase.EVALUATE, tmp_path, asked=("ac3", "ac9", "ac3"))
    found = json.loads(text)["criteria"]
    assert [entry["id"] for entry in found] == ["ac3", "ac9"]
    assert found[1]["evidence"].startswith("unresolved:")


def test_checks_alone_cover_nothing() -> None:
    clever = replace(SEED.acceptance_criteria[0], description="It is fast")
    checked = replace(clever, checks=Checks(verify_command="true"))
    assert uncovered(replace(SEED, acceptance_criteria=(clever,))) == ("ac1",)
    assert uncovered(replace(SEED, acceptance_criteria=(checked,))) == ("ac1",)
    hidden = replace(SEED.acceptance_criteria[0], hidden=True)
    assert uncovered(replace(SEED, acceptance_criteria=(hidden,))) == ()


# --- terms, wonder, reflect


def test_terms_come_in_a_fixed_order() -> None:
    found = [(term.name, term.kind) for term in terms_of(SEED)]
    assert found == [
        ("hello_py", "file"),
        ("test_hello_py", "file"),
        ("greet", "function"),
        ("test_count", "int"),
        ("people", "string"),
        ("standard", "string"),
        ("library", "string"),
    ]


@given(st.lists(st.text(max_size=80), max_size=6), st.text(max_size=200))
def test_terms_are_few_and_distinct(criteria: list[str], goal: str) -> None:
    names = [normalise(term.name) for term in terms_of(seed_of(*criteria, goal=goal))]
    assert len(names) <= MOST
    assert len(set(names)) == len(names)


def test_wonder_asks_about_three_terms_that_are_lacking(tmp_path: Path) -> None:
    questions = wonder(SEED, tmp_path)["questions"]
    assert [q["subject"] for q in questions] == ["hello_py", "test_hello_py", "greet"]
    assert [q["criteria"] for q in questions] == [["ac1"], ["ac2"], ["ac1"]]
    known = replace(SEED, ontology_schema=ontology("HelloPy", "Test Hello.py", "test-count"))
    questions = wonder(known, tmp_path)["questions"]
    assert [q["subject"] for q in questions] == ["greet", "people", "standard"]
    assert questions[1]["criteria"] == [], "a gap: no criterion has the word"


def test_a_failed_criterion_is_asked_about_in_the_same_words(tmp_path: Path) -> None:
    verdicts = (verdict("ac1", True), verdict("ac3", False), verdict("ac2", False))
    first = wonder(SEED, tmp_path, verdicts=verdicts)["questions"]
    full = replace(SEED, ontology_schema=ontology(*(term.name for term in terms_of(SEED))))
    later = wonder(full, tmp_path, verdicts=verdicts)["questions"]
    assert [q["subject"] for q in later] == ["ac2", "ac3"]
    assert first[:2] == later
    assert later[0]["criteria"] == ["ac2"]


def test_wonder_names_contradictions(tmp_path: Path) -> None:
    seed = seed_of("a.py has f() that returns 'x'", "a.py has f() that returns 'y'")
    assert wonder(seed, tmp_path)["tensions"] == ["f: criteria name different texts for it"]


def test_reflect_adds_what_was_asked_about(tmp_path: Path) -> None:
    reply = reflect(SEED, wonder(SEED, tmp_path)["questions"], tmp_path)
    added = [(m["action"], m["name"], m["field_type"]) for m in reply["ontology_mutations"]]
    assert added == [
        ("add", "hello_py", "file"),
        ("add", "test_hello_py", "file"),
        ("add", "greet", "function"),
    ]
    assert reply["criteria"] == []
    assert reply["learnings"] == []
    assert all(m["description"] and m["reason"] for m in reply["ontology_mutations"])


def test_reflect_adds_no_criteria_no_twins_and_nothing_without_a_name(tmp_path: Path) -> None:
    subjects = ("ac1", "AC-2", "", "--", "Greet", "greet", "UserName", "user name", "x/../y")
    questions = [{"question": "?", "criteria": [], "subject": subject} for subject in subjects]
    seed = replace(SEED, ontology_schema=ontology("user_name"))
    mutations = reflect(seed, questions, tmp_path)["ontology_mutations"]
    assert [m["name"] for m in mutations] == ["greet", "x_y"]


def test_a_field_is_described_at_most_once(tmp_path: Path) -> None:
    seed = with_fields(SEED, Field("Greet"), Field("people", "string", "Those who are greeted"))
    mutations = reflect(seed, [], tmp_path)["ontology_mutations"]
    assert [(m["action"], m["name"]) for m in mutations] == [("modify", "Greet")]
    assert reflect(applied(seed, mutations), [], tmp_path)["ontology_mutations"] == []


def test_the_ontology_settles(tmp_path: Path) -> None:
    seed, sizes = SEED, []
    for _ in range(6):
        questions = wonder(seed, tmp_path)["questions"]
        seed = applied(seed, reflect(seed, questions, tmp_path)["ontology_mutations"])
        sizes.append(len(seed.ontology_schema.fields))
    assert sizes == [3, 6, 7, 7, 7, 7]


# --- qa


def test_qa_scores_the_share_that_passed(tmp_path: Path) -> None:
    verdicts = (verdict("ac1", True), verdict("ac2", False), verdict("zz", True))
    reply = json.loads(ask(SEED, Phase.QA, tmp_path, verdicts=verdicts))
    assert reply["score"] == 33.3333
    assert [text.split()[0] for text in reply["differences"]] == ["ac2", "ac3"]
    assert len(reply["suggestions"]) == 2
    everything = tuple(verdict(c.id, True) for c in SEED.acceptance_criteria)
    reply = json.loads(ask(SEED, Phase.QA, tmp_path, verdicts=everything))
    assert reply == {"score": 100.0, "differences": [], "suggestions": []}


# --- the same on every machine

SCRIPT = """
import sys
from pathlib import Path
from ouro.core.brief import Phase
from tests.agents.offline_support import HELLO, ask, seed_of, tree, verdict
seed = seed_of(*HELLO, "notes.txt mentions 'a'", "It is fast", goal="Greets people, politely")
work = Path(sys.argv[1])
work.mkdir()
print(ask(seed, Phase.WONDER, work, verdicts=(verdict("ac5", False),)))
print(ask(seed, Phase.EXECUTE, work))
print(sorted(tree(work).items()))
ids = tuple(c.id for c in seed.acceptance_criteria)
print(ask(seed, Phase.EVALUATE, work, asked=ids))
print(ask(seed, Phase.QA, work, verdicts=(verdict("ac1", True),)))
"""


def test_replies_do_not_depend_on_hashes_locale_or_time_zone(tmp_path: Path) -> None:
    outputs = set()
    for at, (seed, language, zone) in enumerate(
        [("0", "C", "UTC"), ("1", "C.UTF-8", "Asia/Tokyo"), ("4711", "POSIX", "America/Lima")]
    ):
        varied = {
            "PYTHONHASHSEED": seed,
            "LC_ALL": language,
            "TZ": zone,
            "PYTHONPATH": str(Path.cwd()),
        }
        run = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", SCRIPT, str(tmp_path / str(at))],
            env={**os.environ, **varied},
            capture_output=True,
            check=True,
            timeout=120,
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1


def test_coverage_is_told_without_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert uncovered(seed_of(*HELLO, "It is fast")) == ("ac4",)
