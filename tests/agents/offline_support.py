"""What the tests of the offline agent share: seeds from sentences, and calls of the agent."""

import json
import os
from pathlib import Path
from typing import Any

from ouro.agents.offline import Limits, OfflineAgent
from ouro.core.brief import Brief, Phase, Request
from ouro.core.events import Method, Question, Verdict
from ouro.core.seed import Criterion, Field, Ontology, Seed

HELLO = (
    'hello.py has a function greet(name) that returns "Hello, {name}!"',
    "test_hello.py has at least two tests",
    "pytest passes",
)
LIMITS = Limits(call=10.0, tests=60.0)


def seed_of(*criteria: str, goal: str = "A program", constraints: tuple[str, ...] = ()) -> Seed:
    numbered = tuple(Criterion(f"ac{at}", text) for at, text in enumerate(criteria, 1))
    return Seed(goal=goal, acceptance_criteria=numbered, constraints=constraints)


def with_fields(seed: Seed, *fields: Field) -> Seed:
    return seed.with_ontology((*seed.ontology_schema.fields, *fields))


def environment() -> dict[str, str]:
    """This process's, without the plugins of these tests, which take a second to load."""
    return {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def ask(
    seed: Seed,
    phase: Phase,
    workspace: Path,
    *,
    verdicts: tuple[Verdict, ...] = (),
    questions: tuple[Question, ...] = (),
    asked: tuple[str, ...] = (),
    limits: Limits = LIMITS,
) -> str:
    """The text of the agent's reply, which has to succeed."""
    brief = Brief(
        phase=phase,
        lineage_id="demo",
        generation=1,
        seed=seed,
        verdicts=verdicts,
        questions=questions,
        asked=asked,
    )
    agent = OfflineAgent(environment(), limits)
    reply = agent.run(Request(brief=brief, prompt="never read"), workspace, "mark-1")
    assert reply.problem is None
    assert reply.text
    return reply.text


def execute(seed: Seed, workspace: Path) -> str:
    return ask(seed, Phase.EXECUTE, workspace)


def evaluate(seed: Seed, workspace: Path, limits: Limits = LIMITS) -> dict[str, dict[str, Any]]:
    """Criterion id -> its entry in the reply; every criterion is asked about and answered once."""
    ids = tuple(criterion.id for criterion in seed.acceptance_criteria)
    entries = json.loads(ask(seed, Phase.EVALUATE, workspace, asked=ids, limits=limits))
    found = entries["criteria"]
    assert [entry["id"] for entry in found] == list(ids)
    for entry in found:
        assert set(entry) == {"id", "passed", "score", "evidence"}
        assert entry["score"] == (1.0 if entry["passed"] else 0.0)
    return {entry["id"]: entry for entry in found}


def passed(verdicts: dict[str, dict[str, Any]]) -> list[str]:
    return [name for name, entry in verdicts.items() if entry["passed"]]


def tree(workspace: Path) -> dict[str, str]:
    """Path -> content of every file."""
    files = sorted(path for path in workspace.rglob("*") if path.is_file())
    return {str(path.relative_to(workspace)): path.read_text() for path in files}


def verdict(name: str, ok: bool) -> Verdict:
    return Verdict(
        id=name, passed=ok, score=float(ok), method=Method.OFFLINE, evidence="seen" if ok else "no"
    )


def ontology(*names: str) -> Ontology:
    return Ontology(fields=tuple(Field(name) for name in names))
