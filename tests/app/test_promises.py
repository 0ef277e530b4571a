"""Promises that were once broken, each seen through the real program."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.scripted import Project, finish, git, until
from tests.samples import every

PASSES = {"write": {"ok": "1"}}


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("promises"))


def test_what_changes_while_an_agent_thinks_is_saved(project: Project) -> None:
    project.step()
    act = {"write": {"mine.txt": "typed"}, "reply": '{"questions": [], "tensions": []}'}
    project.agent.on("wonder", act)
    done = project.step()
    assert "put back and saved: mine.txt" in done.err
    (rescued,) = project.rescued()
    assert "mine.txt" in project.files(rescued)
    project.clean()


def test_the_log_that_a_tag_knows_cannot_be_edited_at_the_tip(project: Project) -> None:
    project.step()
    log = project.workspace / ".ouro/lineages/greet/events/000001.jsonl"
    genuine = project.git("cat-file", "-p", "ooo/greet/gen_1")
    lines = log.read_text().splitlines(keepends=True)
    last = lines[-1].replace('"action":"continue"', '"action":"converged"')
    for forged in (lines[:-1], [*lines[:-1], last]):
        log.write_text("".join(forged))
        git(project.workspace, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qam", "x")
        done = project.step()
        done.refused(1, "does not continue the one at ooo/greet/gen_1", "git log -p")
        assert project.git("cat-file", "-p", "ooo/greet/gen_1") == genuine
        git(project.workspace, "reset", "-q", "--hard", "HEAD~1")


def test_a_link_in_the_logs_place_is_removed_and_not_followed(project: Project) -> None:
    project.agent.on("execute", PASSES)
    project.step()
    project.git("merge", "-q", "--allow-unrelated-histories", "ooo/greet", "-m", "take")
    target = project.root / ".ouro"
    project.agent.on("execute", {"run": f"rm -rf .ouro; ln -s {target} .ouro", "exit": 1}, gen=2)
    project.agent.on("reflect", {"run": f"rm -rf .ouro; ln -s {target} .ouro"}, gen=2)
    project.step()
    assert project.git("status", "--porcelain") == ""
    assert (target / "lineages/greet/events/000001.jsonl").is_file()


def test_changes_inside_a_submodule_are_named_and_stop_nobody(project: Project) -> None:
    sub = project.folder / "sub"
    git(project.folder, "init", "-q", str(sub))
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    (sub / "s.txt").write_text("s\n")
    git(sub, "add", ".")
    git(sub, *who, "commit", "-qm", "s")
    project.git(*who, "submodule", "-q", "add", str(sub), "sub")
    project.git("commit", "-qm", "sub")
    update = "git -c protocol.file.allow=always submodule -q update --init; echo new >> sub/s.txt"
    project.agent.on("execute", {"run": update}, gen=1)
    done = project.step()
    assert "sub (changes inside a submodule" in done.err
    assert [one.code for one in project.steps(1)] == [3]


def test_a_hidden_checks_files_are_in_no_ref_and_not_on_disk(project: Project) -> None:
    (project.root / ".gitignore").write_text("cache/\n")
    project.git("add", ".")
    project.git("commit", "-qm", "ignore")
    command = "mkdir -p cache; echo SECRETVALUE > cache/c; echo SECRETVALUE > t.py; sleep 20; true"
    hidden = {"id": "h", "description": "right", "hidden": True, "verify_command": command}
    project.write_seed(hidden)
    step = project.start_step()
    until((project.workspace / "t.py").exists)
    step.send_signal(signal.SIGINT)
    assert finish(step).code == 130
    commits = project.git("rev-list", "--all").split()
    assert all(git_grep(project, "SECRETVALUE", c) == "" for c in commits)
    assert project.rescued() == []
    assert not (project.workspace / "t.py").exists()


def test_the_caches_of_a_hidden_check_are_removed(project: Project) -> None:
    command = "mkdir -p __pycache__; echo SECRETVALUE > __pycache__/c; true"
    project.write_seed({"description": "x", "hidden": True, "verify_command": command})
    project.step()
    assert not list(project.workspace.rglob("__pycache__/*"))


def git_grep(project: Project, text: str, commit: str) -> str:
    done = subprocess.run(
        ["git", "grep", "-l", text, commit], cwd=project.root, capture_output=True, text=True
    )
    return done.stdout


def test_every_check_sees_the_tip_and_not_the_check_before(project: Project) -> None:
    project.write_seed(
        {"id": "a", "description": "x", "verify_command": "echo hacked > a.txt; true"},
        {"id": "b", "description": "y", "verify_command": "test ! -e a.txt"},
    )
    project.step()
    verdicts = project.data("evaluate.completed")[0]["verdicts"]
    assert [verdict["passed"] for verdict in verdicts] == [True, True]


@pytest.mark.parametrize("name", every(3, ["ignore", "output", "lock", "stop", "notes"]))
def test_any_lineage_id_leaves_the_others_in_peace(project: Project, name: str) -> None:
    for lineage in (name, "other"):
        project.lineage = lineage
        assert project.step().code == 3


def test_the_offline_agent_rehearses_a_seed_with_many_criteria(project: Project) -> None:
    project.write_seed(*(f"The program does thing {n} well" for n in range(55)))
    for _ in range(2):
        done = project.bare_step("--agent", "offline")
        assert done.code == 3, done


def test_a_repository_whose_path_is_no_text_is_refused_before_anything(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/b\xe9"
    subprocess.run([b"git", b"init", b"-q", folder], check=True)
    words = ["step", "--lineage-id", "x", "--project-dir", folder]
    done = subprocess.run([sys.executable, "-m", "ouro", *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is not UTF-8" in done.stderr


def test_safecrlf_of_the_user_stops_no_generation(project: Project) -> None:
    project.git("config", "core.autocrlf", "true")
    project.git("config", "core.safecrlf", "true")
    project.agent.on("execute", {"write": {"a.txt": "1\n"}})
    assert project.step().code == 3
    assert "a.txt" in project.files()


def test_a_repository_moved_without_its_workspaces_goes_on(project: Project) -> None:
    project.step()
    moved = project.folder / "moved"
    shutil.move(project.root, moved)
    project.root = moved
    assert project.step().code == 3


def test_a_tilde_in_worktree_root_is_the_home(project: Project) -> None:
    assert project.step("--worktree-root", "~/ws").code == 3
    assert (Path.home() / "ws" / "greet" / ".git").is_file()
    assert project.git("status", "--porcelain") == ""


def test_what_the_system_refuses_is_one_line(project: Project) -> None:
    project.step("--worktree-root", "/proc/x").refused(1, "/proc/x")
    project.step()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ouro", "log", "greet", "--project-dir", str(project.root)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "bug" not in done.stderr


def test_switches_in_the_environment_may_be_digits(project: Project) -> None:
    done = project.step(env={"OURO_QA": "0", "OURO_EXECUTE": "1"})
    assert json.loads(done.out)["qa"] is None


def test_a_lock_that_a_killed_git_left_on_packed_refs_stops_nobody(project: Project) -> None:
    (project.root / "README").write_text("changed\n")
    project.git("stash", "-q")
    (project.root / ".git" / "packed-refs.lock").touch()
    assert project.step().code == 3
    assert len(project.git("stash", "list").splitlines()) == 1
