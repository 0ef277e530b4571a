"""What a cycle must not pay: imports that it does not need, git calls that grow, agent calls."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.scripted import ROOT, Project

HEAVY = {"yaml", "rapidfuzz", "rich", "hypothesis", "pytest", "http", "email", "urllib.request"}
LISTED = """
import atexit, json, sys
sys.argv = ["ouro", *json.loads(sys.argv[1])]
atexit.register(lambda: open({out!r}, "w").write("\\n".join(sys.modules)))
from ouro.__main__ import main
main()
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def imported(project: Project, *words: str) -> set[str]:
    """The modules that a run of the program had imported when it ended."""
    out = project.folder / "modules"
    program = LISTED.format(out=str(out))
    subprocess.run(
        [sys.executable, "-c", program, json.dumps(words)],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
    )
    return set(out.read_text().splitlines())


def test_a_step_imports_nothing_that_it_does_not_need(project: Project) -> None:
    project.steps(2)
    words = ("step", "--lineage-id", "greet", "--agent", project.agent.line)
    modules = imported(project, *words)
    assert "3/execute" in project.agent.calls()
    assert "ouro.core.decision" in modules
    assert modules & HEAVY == set()
    assert modules & {"ouro.core.seed_file", "ouro.core.yaml_reader"} == set()
    assert [name for name in modules if name.startswith("ouro.agents.offline")] == []


def test_the_version_needs_neither_git_nor_the_log(project: Project) -> None:
    modules = imported(project, "--version")
    unneeded = {*HEAVY, "pygit2", "msgspec", "filelock", "jsonlines", "subprocess"}
    assert modules & unneeded == set()


def git_calls(project: Project) -> list[str]:
    """The git commands of one step, by a shim that writes them down."""
    seen, shims = project.folder / "seen", project.folder / "shims"
    shims.mkdir(exist_ok=True)
    seen.write_text("")
    real = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True).stdout
    shim = shims / "git"
    shim.write_text(f'#!/bin/sh\necho "$*" >>{seen}\nexec {real.strip()} "$@"\n')
    shim.chmod(0o755)
    project.step(env={"PATH": f"{shims}:{os.environ['PATH']}"})
    # `git gc --auto` starts when the step is over, and nobody waits for it.
    return [line for line in seen.read_text().splitlines() if not line.startswith("gc ")]


def test_the_git_calls_of_a_step_do_not_grow_with_the_history(project: Project) -> None:
    for number in range(1, 6):
        project.agent.on("execute", {"write": {"changed": str(number)}}, gen=number)
    project.write_seed({"description": "never", "verify_command": "false"})
    project.steps(1)
    early = len(git_calls(project))
    project.steps(2)
    assert len(git_calls(project)) <= early
    assert {"2/execute", "5/execute"} <= set(project.agent.calls())


@pytest.mark.parametrize(("options", "calls"), [((), 2), (("--stop-on-pass",), 0)])
def test_an_approved_generation_is_confirmed_by_few_calls(
    project: Project, options: tuple[str, ...], calls: int
) -> None:
    project.agent.on("execute", {"write": {"ok": "1"}})
    first = project.step(*options)
    before = len(project.agent.calls())
    last = project.step(*options)
    assert len(project.agent.calls()) - before == calls
    assert last.action == "converged"
    assert first.json["criteria"] == last.json["criteria"]
