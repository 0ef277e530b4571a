"""Workspaces: whose they are, what is in their way, and how they come back."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Agent, Project, git

PASSES: dict[str, Any] = {"write": {"ok": "1"}}
ONCE = ("--stop-on-pass", "--no-qa")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.agent.on("execute", PASSES)
    return made


# --- the lineage's branch in the user's own checkout


def test_the_branch_in_the_users_own_checkout(project: Project) -> None:
    """Then that is the workspace: changes refuse, ignored files stay."""
    assert project.step("--no-qa", "--max-generations", "1").code == 11
    project.git("worktree", "remove", "--force", str(project.workspace))
    project.git("switch", "-q", "ooo/greet")
    (project.root / ".git" / "info" / "exclude").write_text("ignored\n")
    (project.root / "ignored").write_text("mine")
    (project.root / "my notes").write_text("mine")
    more = ("--max-generations", "9")
    tip = project.tip()
    project.step(*more).refused(1, "my notes", "has changes that no agent of ouro made")
    (project.root / "my notes").unlink()
    (project.root / "README").write_text("mine")
    project.step(*more).refused(1, "README", "commit them there")
    assert project.tip() == tip
    project.git("checkout", "-q", "README")
    project.agent.on("execute", {"write": {"ok": "2"}}, gen=2)
    done = project.step(*more)
    assert done.json["error"] is None, done
    assert project.git("symbolic-ref", "HEAD") == project.branch
    assert project.git("status", "--porcelain") == ""
    assert (project.root / "ignored").read_text() == "mine"
    assert not project.workspace.exists()


# --- in the way


def test_a_foreign_folder_in_the_workspaces_place(project: Project) -> None:
    project.workspace.mkdir(parents=True)
    theirs = project.workspace / "theirs"
    theirs.write_text("1")
    project.step(*ONCE).refused(1, "is in the way of the workspace", "worktree_root")
    assert theirs.read_text() == "1"
    assert project.agent.calls() == []
    root = project.folder / "elsewhere"
    assert project.step(*ONCE, "--worktree-root", str(root)).code == 0
    assert (root / "greet" / "ok").is_file()
    assert theirs.read_text() == "1"


@pytest.mark.slow
def test_a_workspace_in_the_middle_of_a_merge(project: Project) -> None:
    project.step("--no-qa", "--min-generations", "3")
    head = git(project.workspace, "rev-parse", "HEAD")
    git_dir = Path(git(project.workspace, "rev-parse", "--absolute-git-dir"))
    (git_dir / "MERGE_HEAD").write_text(f"{head}\n")
    project.step().refused(1, "is in the middle of a merge", "finish or abort it there")
    (git_dir / "MERGE_HEAD").unlink()
    # A merge in any other working tree is none of the step's business.
    (project.root / ".git" / "MERGE_HEAD").write_text(f"{head}\n")
    assert project.step().json["generation"] == 2


# --- workspaces that are gone or have moved


def test_a_workspace_that_is_gone_is_made_again(project: Project) -> None:
    project.step("--no-qa", "--min-generations", "4")
    shutil.rmtree(project.workspace)
    assert project.step().json["generation"] == 2
    project.clean()
    project.git("worktree", "lock", str(project.workspace))
    shutil.rmtree(project.workspace.parent)
    assert project.step().json["generation"] == 3
    project.clean()


def test_a_clone_moves_together_with_its_workspaces(project: Project, tmp_path: Path) -> None:
    project.step("--no-qa", "--min-generations", "3")
    elsewhere = tmp_path / "moved"
    elsewhere.mkdir()
    for name in ("repo", "repo.ouro"):
        (project.folder / name).rename(elsewhere / name)
    project.root = elsewhere / "repo"
    done = project.step()
    assert done.json["generation"] == 2, done
    workspace = elsewhere / "repo.ouro" / "greet"
    assert git(workspace, "status", "--porcelain") == ""
    assert not project.workspace.exists()
    assert project.git("worktree", "list").count("\n") == 1


def test_a_lineage_goes_on_in_another_clone(project: Project, tmp_path: Path) -> None:
    project.step("--no-qa", "--min-generations", "3")
    other = tmp_path / "other"
    other.mkdir()
    git(other, "clone", "-q", str(project.root), "repo")
    before = project.tip()
    done = project.step(cwd=other / "repo")
    assert "took up greet from refs/remotes/origin/ooo/greet" in done.err
    assert done.json["generation"] == 2
    assert git(other / "repo", "rev-parse", f"{project.branch}~3") == before
    assert (other / "repo.ouro" / "greet" / "ok").is_file()
    assert project.tip() == before


@pytest.mark.slow
def test_two_clones_side_by_side_do_not_meet(tmp_path: Path) -> None:
    """Their workspaces have names of their own, whatever the clones are called."""
    agents = Agent(tmp_path / "agent").on("execute", PASSES)
    for name in ("one", "two"):
        project = Project(tmp_path / name)
        assert project.step(*ONCE, "--agent", agents.line).code == 0
        project.clean()


# --- what the user does in the workspace


def test_commits_of_the_users_become_part_of_the_lineage(project: Project) -> None:
    project.step("--no-qa", "--min-generations", "3")
    (project.workspace / "mine").write_text("1")
    project.step().refused(1, "mine", "commit them there (they become part of the lineage)")
    git(project.workspace, "add", ".")
    git(project.workspace, "commit", "-qm", "mine")
    done = project.step()
    assert done.json["generation"] == 2
    assert project.files() == {"README", "ok", "mine"}
    # What was judged has changed: its verdicts are not carried over.
    assert project.agent.calls()[-1] == "2/execute"


def test_a_workspace_with_another_branch(project: Project) -> None:
    project.step("--no-qa", "--min-generations", "3")
    git(project.workspace, "switch", "-qc", "mine")
    project.step().refused(1, "ooo/greet is not checked out in its workspace", "switch ooo/greet")
    git(project.workspace, "switch", "-q", "ooo/greet")
    assert project.step().json["generation"] == 2
