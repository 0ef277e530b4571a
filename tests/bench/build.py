"""Lineages to measure on, built through the real store."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pygit2

from ouro.app import create
from ouro.app.run import Run
from ouro.app.session import Options, Session
from ouro.cli.wiring import session as wired
from ouro.core.brief import Phase
from ouro.core.events import (
    Data,
    EvaluateCompleted,
    ExecuteCompleted,
    Method,
    QaCompleted,
    QaVerdict,
    Question,
    ReflectCompleted,
    Usage,
    Verdict,
    WonderCompleted,
)
from ouro.core.moves import RunPhase, ThinkLaterally, next_move
from ouro.core.retry import timestamp
from ouro.phases import lateral
from ouro.render.terminal import Terminal

ID = "bench"
AGENT = Path(__file__).parent / "agent.sh"
FLAGS = {"agent": str(AGENT), "max_generations": 10**6, "max_retries": 10**6}
TEXT = " ".join(f"word{number}" for number in range(100))
"""About 800 characters: an event is then about 1 KiB."""


class Silent(Terminal):
    def say(self, text: str) -> None:
        pass


def repository(folder: Path, files: int) -> Path:
    """A repository with `files` small files in folders of a hundred, one commit."""
    root = folder / "repo"
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    for key, value in (("user.name", "A"), ("user.email", "a@example.org")):
        subprocess.run(["git", "-C", str(root), "config", key, value], check=True)
    for number in range(files):
        path = root / f"d{number // 100}" / f"f{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{number}\n" * 20)
    subprocess.run(["git", "-C", str(root), "add", "."], check=True)
    subprocess.run(["git", "-C", str(root), "commit", "-q", "-m", "first"], check=True)
    return root


def lineage(root: Path, generations: int, sweep: int = 0) -> None:
    """A lineage of so many generations of six varied events each; one file changes in each, and
    every file in the generation `sweep`."""
    seed = root.parent / "seed.yaml"
    seed.write_text(
        json.dumps(
            {
                "goal": "Measure",
                "acceptance_criteria": [{"description": "it is never done"}],
                "ontology_schema": {"name": "Measures", "fields": [{"name": "second"}]},
            }
        )
    )
    session = _session(root, seed)
    with session.hold():
        run = create.lineage(session, create.plan(session))
        while len(run.lineage.generations) < generations:
            _one_event(run, sweep)


def _session(root: Path, seed: Path) -> Session:
    import sys

    return wired(
        Options(ID, seed_file=seed),
        project_dir=root,
        flags=dict(FLAGS),
        console=Silent(sys.stderr),
        interrupt=lambda: 0,
    )


def _one_event(run: Run, sweep: int) -> None:
    number = run.lineage.current.number
    match next_move(run.lineage, run.stream.code, timestamp(run.session.now())):
        case ThinkLaterally(persona, pattern):
            run.record([lateral.fact(persona, pattern, run.session.prompts)])
        case RunPhase(Phase.EXECUTE):
            tree = _swept(run) if number == sweep else _changed(run, number)
            run.record([_executed(number, tree)], code=tree)
        case RunPhase(phase):
            run.record([_thought(run, phase, number)])
        case move:
            raise AssertionError(move)


def _usage(number: int) -> Usage:
    return Usage(
        agent="bench", input_tokens=number * 7, output_tokens=number, cost=0.01, seconds=1.5
    )


def _varied(number: int) -> str:
    return f"{number} {TEXT[number % 90 :]} {number * 31}"


def _changed(run: Run, number: int) -> str:
    handle = run.session.repo.handle
    top = handle.TreeBuilder(run.session.repo.tree(run.session.repo.code_tree(run.tip)))
    top.insert("changed", handle.create_blob(f"{number}\n".encode()), 0o100644)
    return str(top.write())


def _executed(number: int, tree: str) -> ExecuteCompleted:
    return ExecuteCompleted(
        summary=_varied(number),
        files=("changed",),
        added=1,
        removed=1,
        adopted=(),
        left_out=(),
        tree=tree,
        usage=_usage(number),
    )


def _swept(run: Run) -> str:
    handle, index = run.session.repo.handle, pygit2.Index()
    index.read_tree(run.session.repo.tree(run.session.repo.code_tree(run.tip)))
    for entry in list(index):
        changed = handle.create_blob(handle[entry.id].data + b"more\n")
        index.add(pygit2.IndexEntry(entry.path, changed, entry.mode))
    return str(index.write_tree(handle))


def _thought(run: Run, phase: Phase, number: int) -> Data:
    match phase:
        case Phase.WONDER:
            asked = Question(question=_varied(number), criteria=("ac1",), subject=f"s{number}")
            return WonderCompleted(questions=(asked,), tensions=(), usage=_usage(number))
        case Phase.REFLECT:
            return ReflectCompleted(
                mutations=(),
                criteria=(),
                learnings=(f"learning {number}",),
                reasoning=_varied(number)[:500],
                seed=run.lineage.seed,
                usage=_usage(number),
            )
        case Phase.EVALUATE:
            verdict = Verdict(
                id="ac1", passed=False, score=0.1, method=Method.AGENT, evidence=_varied(number)
            )
            return EvaluateCompleted(
                verdicts=(verdict,), score=0.1, seconds=0.0, usage=_usage(number)
            )
        case _:
            return QaCompleted(
                verdict=QaVerdict.REVISE,
                score=50.0,
                differences=(_varied(number),),
                suggestions=(),
                error=None,
                carried=False,
                usage=_usage(number),
            )
