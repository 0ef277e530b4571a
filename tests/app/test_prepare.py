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


@pytest.mark.slow
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


@pytest.mark.slow
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


# --- copies


def everywhere(project: Project, text: str) -> list[str]:
    """The commits of all refs that hold `text` in a file."""
    commits = project.git("rev-list", "--all").splitlines()
    return [c for c in commits if text in project.git("log", "-1", "-p", "-m", "--text", c)]


def test_copies_are_there_and_in_no_ref(project: Project) -> None:
    (project.root / ".env").write_text("WORD=plain-word\n")
    (project.root / ".env").chmod(0o640)
    config = project.root / "config"
    config.mkdir()
    (config / "local.sh").write_text("echo plain-word\n")
    (config / "local.sh").chmod(0o750)
    (config / "local.link").symlink_to("local.sh")
    (project.root / "other").write_text("plain-word")
    configure(project, copy=[".env", "config/local.*", "nothing*"], setup=["grep plain-word .env"])
    commit = "git add -f .env config; git commit -qm mine; echo mine >mine; git add -A"
    again = "; git commit -qm again; echo 2 >work; git add -f .env"
    project.agent.on("execute", {"run": "sh config/local.sh >out; wc -c <out >work; rm out"})
    done = project.step(*FAST)
    assert done.json["error"] is None, done
    assert done.err.count("nothing untracked fits nothing*") == 1
    copied = project.workspace / "config"
    assert (copied / "local.sh").stat().st_mode & 0o777 == 0o750
    assert (project.workspace / ".env").stat().st_mode & 0o777 == 0o640
    assert (copied / "local.link").readlink() == Path("local.sh")
    assert not (project.workspace / "other").exists()
    assert project.show("work") == "11"
    project.agent.on("execute", {"run": commit + again}, gen=2)
    done = project.step(*FAST)
    assert done.json["error"] is None, done
    assert "left out file: not kept" in done.err
    assert project.files() == {"README", ".gitignore", "work", "mine"}
    # What a failed call leaves is saved, without them.
    project.agent.on("execute", {"run": "echo 3 >work; git add -f .env", "exit": 3}, gen=3)
    project.step(*FAST)
    assert len(project.rescued()) == 1
    assert everywhere(project, "plain-word") == []
    assert (project.workspace / ".env").read_text() == "WORD=plain-word\n"


def test_what_the_users_own_rules_do_not_ignore_stays_out_too(project: Project) -> None:
    (project.root / ".gitignore").write_text("!*.local\nlib/\n")
    project.git("commit", "-qam", "ignore nothing local")
    (project.root / "a.local").write_text("plain-word")
    configure(project, copy=["*.local"], protect=["*.local"])
    project.agent.on("execute", {"run": "wc -c <a.local >work"}, {"run": "date +%N >work"})
    for _ in range(3):
        assert project.step(*FAST).json["error"] is None
    assert (project.workspace / "a.local").read_text() == "plain-word"
    assert project.files() == {"README", ".gitignore", "work"}
    assert everywhere(project, "plain-word") == []


def test_a_copy_overwrites_nothing_and_follows_no_link(project: Project) -> None:
    """In the lineage these are tracked; in the checkout they are the user's own files."""
    outside = project.folder / "outside"
    outside.mkdir()
    for name, text in {"tracked": "old", "folder/in": "old"}.items():
        (project.root / name).parent.mkdir(exist_ok=True)
        (project.root / name).write_text(text)
    (project.root / "way").symlink_to(outside)
    project.git("add", "-A")
    project.git("commit", "-qm", "theirs")
    base = project.git("rev-parse", "HEAD")
    project.git("rm", "-qr", "--cached", "tracked", "folder", "way")
    project.git("commit", "-qm", "no longer tracked")
    shutil.rmtree(project.root / "folder")
    (project.root / "way").unlink()
    (project.root / "way").mkdir()
    for name in ("tracked", "folder", "way/in", "good"):
        (project.root / name).write_text("new")
    project.agent.on("execute", {"write": {"work": "1"}})
    configure(project, copy=["tracked", "folder", "way", "good"])
    done = project.step(*FAST, "--base", base)
    assert done.json["error"] is None, done
    for line in ("tracked was not copied: it is tr", "folder was not copied", "way/in was not"):
        assert line in done.err
    assert (project.workspace / "tracked").read_text() == "old"
    assert (project.workspace / "good").read_text() == "new"
    assert list(outside.iterdir()) == []
