"""The disk is full, or writing fails, in every phase: one line, nothing lost, and on it goes.

The repository, its workspace and its state lie on a small file system of their own. Mounting one
takes root; without it these tests are skipped.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.scripted import Agent, Done, Project, git, questions, verdicts
from tests.samples import sample

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")

FILL = "dd if=/dev/zero of={disk}/fill bs=4k 2>/dev/null || :"
"""What takes the rest of the room, at the moment when an agent has done its work."""
PHASES = ("wonder", "reflect", "execute", "evaluate", "qa")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(folder)])
    if mounted.returncode != 0:
        pytest.skip("this machine mounts no tmpfs")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def project(disk: Path, tmp_path: Path) -> Project:
    """Only what git and ouro write lies on the small disk."""
    project = Project(disk)
    project.seed, project.agent = tmp_path / "seed.yaml", Agent(tmp_path / "agent")
    project.git("config", "gc.auto", "0")
    project.write_seed("It reads well")
    project.agent.on("evaluate", verdicts(ac1=False)).on("wonder", questions("it"))
    return project


def fails(done: Done, *said: str) -> None:
    assert done.code in (1, 75), done
    last = [line for line in done.err.splitlines() if not line.startswith("ouro: gen ")]
    assert all(line.startswith(("ouro: ", "  hint: ")) for line in last), done
    assert any(text in done.err for text in said), done


def sound(project: Project, tip: str) -> None:
    """Nothing that was committed is lost, and nothing half written is in the way of git."""
    assert project.tip() == tip
    assert git(project.root, "fsck", "--strict", "--no-dangling", "--no-progress") == ""


@pytest.mark.parametrize("phase", sample(PHASES, "execute", "qa"))
def test_full_when_an_agent_has_worked(phase: str, project: Project, disk: Path) -> None:
    assert project.step().code == 3
    work = f"echo work >{phase}.txt; echo {phase} >>all" if phase == "execute" else ":"
    usual = {"evaluate": verdicts(ac1=False), "wonder": questions("more")}.get(phase)
    act = {"run": f"{work}; {FILL.format(disk=disk)}"} | ({"reply": usual} if usual else {})
    if phase in ("reflect", "qa"):
        act["reply"] = project.agent._script[phase][0]["reply"]
    project.agent.on(phase, act, {**act, "run": work}, gen=2)
    tip, calls = project.tip(), len(project.agent.calls())
    fails(project.step(), "No space left")
    before = [call for call in project.agent.calls()[calls:] if call != f"2/{phase}"]
    if phase == "reflect":
        fails(project.step(), "No space left")
    assert git(project.root, "merge-base", "--is-ancestor", tip, project.branch) == ""
    sound(project, project.tip())
    (disk / "fill").unlink()
    done = project.step()
    while done.code == 75:
        assert project.ouro("retry", "greet").code == 0
        done = project.step()
    assert done.code == 3, done
    assert done.json["generation"] == 2
    again = project.agent.calls()[calls:]
    assert [again.count(call) for call in before] == [1] * len(before)
    sound(project, project.tip())
    assert project.types().count("evolve_step.completed") == 2
    if phase == "execute":
        assert "execute.txt" in project.files()
    git(project.root / "../repo.ouro/greet", "diff", "--quiet", "HEAD")


def test_full_from_the_start(project: Project, disk: Path) -> None:
    subprocess.run(["sh", "-c", FILL.format(disk=disk)], check=True)
    fails(project.step(), "No space left")
    assert project.agent.calls() == []
    (disk / "fill").unlink()
    assert project.step().code == 3
    sound(project, project.tip())


@pytest.mark.slow
def test_full_before_a_jump(project: Project, disk: Path) -> None:
    for _ in range(2):
        assert project.step().code == 3
    tip = project.tip()
    subprocess.run(["sh", "-c", FILL.format(disk=disk)], check=True)
    fails(project.ouro("rewind", "greet", "--to", "1"), "No space left")
    sound(project, tip)
    (disk / "fill").unlink()
    assert project.ouro("rewind", "greet", "--to", "1").code == 0
    assert project.ouro("undo", "greet").code == 0
    sound(project, project.tip())
    assert project.step().json["generation"] == 3


READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'


def test_folders_that_cannot_be_written(project: Project) -> None:
    assert project.step().code == 3
    words = project.words("--exit-code", "--agent", project.agent.line)
    for what in ("objects", "refs", "ouro", "ouro/greet", "worktrees"):
        tip, calls = project.tip(), len(project.agent.calls())
        how = ("unshare", "-m", "sh", "-ec", READ_ONLY, "sh", str(project.root / ".git" / what))
        done = project.ouro(*words, before=how)
        fails(done, "Read-only file system", "unable to create", "could not be moved")
        sound(project, tip)
        assert len(project.agent.calls()) <= calls + 1, what
    assert project.step().json["generation"] == 2
