"""A new workspace is made ready once, before any agent, and leaves nothing in a generation."""

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Project, alive, finish, git, until

FAST = ("--no-qa", "--freeze-ontology", "--min-generations", "9")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    (made.root / ".gitignore").write_text("lib/\n.env\n")
    made.git("add", "-A")
    made.git("commit", "-qm", "ignore lib")
    made.agent.on("execute", {"run": "cat lib/done; date +%N >work"})
    return made


def configure(project: Project, **keys: Any) -> None:
    (project.root / "ouro.yaml").write_text(json.dumps(keys))


def runs(project: Project) -> int:
    ran = project.folder / "ran"
    return len(ran.read_text().splitlines()) if ran.exists() else 0


# --- setup


def test_setup_runs_once_in_every_new_workspace(project: Project) -> None:
    count = f"env | grep ^OURO_ >>{project.folder}/env; echo 1 >>{project.folder}/ran"
    configure(project, setup=[count, "mkdir -p lib && echo 1 >lib/done"])
    assert project.step(*FAST).json["error"] is None
    assert runs(project) == 1
    seen = (project.folder / "env").read_text()
    assert "OURO_PHASE=setup" in seen
    assert "OURO_RUN=" in seen
    assert project.step(*FAST).json["error"] is None
    assert runs(project) == 1
    shutil.rmtree(project.workspace)
    assert project.step(*FAST).json["error"] is None
    assert runs(project) == 2
    project.git("worktree", "remove", "--force", str(project.workspace))
    assert project.step(*FAST).json["error"] is None
    assert runs(project) == 3
    # Another list is one that has not run yet.
    configure(project, setup=[f"echo 1 >>{project.folder}/ran"])
    assert project.step(*FAST).json["error"] is None
    assert runs(project) == 4
    assert project.files() == {"README", ".gitignore", "work"}


def test_a_workspace_that_its_agent_removed_is_made_ready_again(project: Project) -> None:
    configure(project, setup=[f"echo 1 >>{project.folder}/ran; mkdir lib; echo 1 >lib/done"])
    project.agent.on("execute", {"run": 'rm -rf "$PWD"'}, {"run": "cat lib/done >work"})
    project.step(*FAST)
    assert project.ouro("retry", "greet").code == 0
    assert project.step(*FAST).json["error"] is None
    assert runs(project) == 2


def test_what_setup_leaves_that_is_not_ignored_is_put_back(project: Project) -> None:
    configure(
        project,
        setup=["mkdir lib; echo 1 >lib/done; echo 1 >README; echo 1 >loose; git commit -qam x"],
    )
    done = project.step(*FAST)
    assert done.json["error"] is None, done
    assert "setup changed files that are not ignored, put back: " in done.err
    assert "loose" in done.err
    assert project.files() == {"README", ".gitignore", "work"}
    assert project.show("README") == "A project."
    assert (project.workspace / "lib" / "done").exists()
    project.clean()


def test_a_setup_that_fails_says_so_and_is_tried_again(project: Project) -> None:
    net = project.folder / "net"
    fails = f"echo 1 >>{project.folder}/ran; echo 1 >half; echo no network >&2; test -e {net}"
    configure(project, setup=["mkdir -p lib; echo 1 >lib/done", fails])
    done = project.step(*FAST)
    assert done.code == 12
    assert f"setup failed: `{fails}` exited with 1: no network" in done.json["error"]
    assert "ouro:   no network\n" in done.err
    assert project.agent.calls() == []
    assert project.types() == ["lineage.created"]
    project.clean()
    assert project.step(*FAST).code == 12
    net.touch()
    assert project.step(*FAST).json["error"] is None
    assert runs(project) == 3


def test_a_setup_that_takes_too_long_is_ended(project: Project) -> None:
    configure(project, setup=[f"echo $$ >{project.folder}/pid; sleep 60"], wall_limit=0.5)
    done = project.step(*FAST)
    assert done.code == 12
    assert "was ended after" in done.json["error"]
    assert not alive(int((project.folder / "pid").read_text()))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_step_that_ends_during_setup_begins_it_again(
    project: Project, number: signal.Signals
) -> None:
    pid = project.folder / "pid"
    slow = f"echo 1 >>{project.folder}/ran; mkdir -p lib; echo $$ >{pid}; echo 1 >loose;"
    configure(project, setup=[f"{slow} test -e {project.folder}/go || sleep 60; echo 1 >lib/done"])
    step = project.start_step(*FAST)
    until((project.workspace / "loose").exists)
    os.kill(step.pid, number)
    assert finish(step).code == (130 if number == signal.SIGINT else -9)
    child = int(pid.read_text())
    (project.folder / "go").touch()
    done = project.step(*FAST)
    assert done.json["error"] is None, done
    assert not alive(child)
    assert runs(project) == 2
    assert project.types()[1:3] == ["evolve_step.interrupted", "execute.completed"]
    assert project.rescued() == []
    assert project.files() == {"README", ".gitignore", "work"}


def test_a_checkout_of_the_users_own_is_not_made_ready(project: Project) -> None:
    project.agent.on("execute", {"write": {"work": "1"}})
    assert project.step(*FAST).json["error"] is None
    project.git("worktree", "remove", "--force", str(project.workspace))
    project.git("switch", "-q", "ooo/greet")
    env = {"OURO_SETUP": json.dumps([f"echo 1 >>{project.folder}/ran"])}
    assert project.step(*FAST, env=env).json["error"] is None
    assert runs(project) == 0
    assert git(project.root, "status", "--porcelain") == ""
