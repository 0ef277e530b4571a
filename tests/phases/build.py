"""Lineages, built by folding real events, and the package's own templates."""

from itertools import count
from pathlib import Path
from typing import Any

import msgspec

import ouro
from ouro.core.brief import Reply
from ouro.core.chain import extend, seal
from ouro.core.codec import EMPTY_LOG, decode_files, encode_lines
from ouro.core.events import (
    Action,
    Data,
    Delta,
    EvaluateCompleted,
    EvolveStepCompleted,
    ExecuteCompleted,
    LineageCreated,
    LineageForked,
    Method,
    QaCompleted,
    QaVerdict,
    Question,
    ReflectCompleted,
    Usage,
    Verdict,
    WonderCompleted,
)
from ouro.core.lineage import Lineage, fold
from ouro.core.policy import Given, Policy
from ouro.core.seed import Checks, Criterion, Field, Ontology, Seed

FOLDER = Path(ouro.__file__).parent / "prompts"
PROMPTS = {
    path.relative_to(FOLDER).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in FOLDER.rglob("*.md")
}
PHASES = ("wonder", "reflect", "execute", "evaluate", "qa")

USAGE = Usage(agent="claude", model="m", input_tokens=10, output_tokens=5, cost=0.5, seconds=2.0)
SEED = Seed(
    goal="Count words in files",
    constraints=("standard library only", "no network"),
    acceptance_criteria=(
        Criterion(id="ac1", description="`wc.py` prints the number of words"),
        Criterion(
            id="ac2",
            description="The tests pass",
            checks=Checks(
                verify_command="python -m pytest -q",
                expected_artifacts=("tests/test_wc.py",),
                output_assertion="3 passed",
                timeout=60.0,
            ),
        ),
        Criterion(id="ac3", description="An empty file counts 0"),
    ),
    ontology_schema=Ontology(
        name="Counting",
        description="what is counted",
        fields=(
            Field("word", "string", "A run of letters"),
            Field("fileName", "string", "Path of the input"),
        ),
    ),
)


def lineage(*facts: Data, seed: Seed = SEED) -> Lineage:
    """The lineage that `facts` lead to; each `evolve_step.completed` begins a new generation."""
    created = LineageCreated(
        seed=seed, hidden=None, seed_sha256="0" * 64, policy=Policy(), given=Given(), base=None
    )
    stamps = count()
    log, owner, generation = EMPTY_LOG, "words", 0
    for data in (created, *facts):
        owner = "forked" if isinstance(data, LineageForked) else owner
        stamp = (f"id{next(stamps)}", "2026-01-01")
        log = extend(log, seal([(generation, data)], log, owner, lambda stamp=stamp: stamp))
        generation += isinstance(data, EvolveStepCompleted | LineageCreated)
    assert decode_files([("000001.jsonl", encode_lines(log.events))]) == log
    folded = fold(log.events)
    assert folded is not None
    return folded


def executed(summary: str = "wrote wc.py", tree: str = "t1") -> ExecuteCompleted:
    return ExecuteCompleted(
        summary=summary,
        files=("wc.py",),
        added=10,
        removed=2,
        adopted=(),
        left_out=(),
        tree=tree,
        usage=USAGE,
    )


def verdict(
    criterion_id: str, passed: bool, evidence: str = "seen", score: float | None = None
) -> Verdict:
    return Verdict(
        id=criterion_id,
        passed=passed,
        score=float(passed) if score is None else score,
        method=Method.CHECK,
        evidence=evidence,
    )


def evaluated(*verdicts: Verdict) -> EvaluateCompleted:
    score = sum(v.score for v in verdicts) / len(verdicts)
    return EvaluateCompleted(verdicts=verdicts, score=score, seconds=1.0, usage=None)


def reviewed(
    score: float, *differences: str, suggestions: tuple[str, ...] = (), error: str | None = None
) -> QaCompleted:
    return QaCompleted(
        verdict=QaVerdict.REVISE,
        score=score,
        differences=differences,
        suggestions=suggestions,
        error=error,
        carried=False,
        usage=USAGE,
    )


def wondered(*questions: Question, tensions: tuple[str, ...] = ()) -> WonderCompleted:
    return WonderCompleted(questions=questions, tensions=tensions, usage=USAGE)


def reflected(seed: Seed = SEED, learnings: tuple[str, ...] = (), reasoning: str = "") -> Data:
    return ReflectCompleted(
        mutations=(),
        criteria=(),
        learnings=learnings,
        reasoning=reasoning,
        seed=seed,
        usage=USAGE,
    )


def completed(reason: str = "1/3 criteria passed") -> EvolveStepCompleted:
    return EvolveStepCompleted(
        action=Action.CONTINUE,
        reason=reason,
        pattern=None,
        similarity=None,
        delta=Delta(),
        lateral_think_applied=False,
        next_generation=2,
    )


def forked(seed: Seed | None = None, source: str = "words") -> LineageForked:
    return LineageForked(
        source=source, generation=1, commit="c1" * 20, seed=seed, hidden=None, seed_sha256="1" * 64
    )


def first_generation(seed: Seed = SEED) -> tuple[Data, ...]:
    """ac1 passes; ac2 and ac3 do not."""
    verdicts = (
        verdict("ac1", True, "ran it: 7"),
        verdict("ac2", False, "2 passed, 1 failed"),
        verdict("ac3", False, "the check did not pass"),
    )
    return (
        executed(),
        evaluated(*verdicts),
        reviewed(55.0, "no help text", suggestions=("add --help",)),
        completed(),
    )


def reply(content: Any, agent: str = "claude") -> Reply:
    """`content` as it is where it is text, else as JSON."""
    text = content if isinstance(content, str) else msgspec.json.encode(content).decode()
    return Reply(text=text, usage=msgspec.structs.replace(USAGE, agent=agent))


def survives_the_log(fact: Data) -> bool:
    return msgspec.json.decode(msgspec.json.encode(fact), type=type(fact)) == fact
