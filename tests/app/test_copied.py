"""A repository that was copied with `cp -a`: the workspace, the running step and the agent of the
original are not the copy's, though git lists the one and ouro's folder names the others."""

import copy
import shutil
from pathlib import Path

import pytest

from tests.app.scripted import Project, alive, finish, until

BOTH = pytest.mark.parametrize("names", [("repo",), ("repo", "repo.ouro")], ids=" and ".join)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def copied(project: Project, *names: str) -> Project:
    """The copy, with the same seed and agent."""
    made = copy.copy(project)
    made.folder = project.folder / "copy"
    made.root = made.folder / "repo"
    made.folder.mkdir()
    for name in names:
        shutil.copytree(project.folder / name, made.folder / name, symlinks=True)
    return made


def workspace(project: Project) -> dict[str, bytes]:
    """Files of the workspace, and of the git folder that it is linked to."""
    folders = (project.workspace, project.root / ".git" / "worktrees")
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files}


@BOTH
def test_each_goes_on_in_a_workspace_of_its_own(project: Project, names: tuple[str, ...]) -> None:
    assert project.step().code == 3
    twin = copied(project, *names)
    before, tip = workspace(project), project.tip()
    twin.agent.on("execute", {"write": {"ok": "1"}})
    assert twin.step("--no-qa").code in (0, 3)
    assert "ok" in twin.files()
    twin.clean()
    assert twin.ouro("rewind", "greet", "--to", "1").code == 0
    twin.clean()
    assert (workspace(project), project.tip()) == (before, tip)
    assert project.step("--no-qa").code in (0, 3)
    project.clean()


@BOTH
def test_a_copy_that_was_moved_takes_nothing_from_the_original(
    project: Project, names: tuple[str, ...]
) -> None:
    assert project.step().code == 3
    twin = copied(project, *names)
    assert twin.step().code == 3
    before = workspace(project)
    moved = twin.folder / "else where"
    moved.mkdir()
    shutil.move(twin.root, moved / "repo")
    twin.root = moved / "repo"
    assert twin.step().code in (3, 4)
    twin.clean()
    assert workspace(project) == before


@BOTH
def test_of_a_step_that_runs_in_the_original_the_copy_ends_nothing(
    project: Project, names: tuple[str, ...]
) -> None:
    go = project.folder / "go"
    project.agent.on("execute", {"run": f"echo 1 >half; until [ -e {go} ]; do sleep 0.05; done"})
    running = project.start_step("--no-qa")
    until((project.workspace / "half").exists)
    agents = project.agent.pids()
    twin = copied(project, *names)
    before = workspace(project)
    twin.agent.on("execute", {"write": {"ok": "1"}})
    assert twin.step("--no-qa").code in (0, 3)
    twin.clean()
    (interrupted,) = twin.data("evolve_step.interrupted")
    # What was copied of the unfinished work is saved, as after any step that was cut off.
    assert bool(interrupted["rescue"]) == ("repo.ouro" in names)
    assert workspace(project) == before
    assert alive(agents[-1])
    go.touch()
    assert finish(running).code == 3
    assert "half" in project.files()
    project.clean()


def test_with_one_worktree_root_for_both_the_copy_is_refused(project: Project) -> None:
    root = project.folder / "trees"
    assert project.step("--worktree-root", str(root)).code == 3
    twin = copied(project, "repo")
    before = project.everything()
    twin.step("--worktree-root", str(root)).refused(
        1, f"{root / 'greet'} is the workspace of another repository", "set worktree_root"
    )
    assert project.everything() == before
    assert twin.step("--worktree-root", str(twin.folder / "trees")).code == 3
