"""git's garbage collection beside steps, and after them."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.app.scripted import Project, finish, git, questions, until, verdicts

GC = """
n=0
until test -e "$1/stop"; do
    git gc --prune=now --quiet 2>>"$1/gc.err" && n=$((n + 1)) && echo $n >"$1/gcs"; sleep 0.1
done
"""
WORK = "mkdir -p d; for i in $(seq 400); do echo $OURO_GENERATION $i >d/$i; done"


def hammered(project: Project, generations: int) -> None:
    """Generations, jumps and notes while gc after gc prunes all that nothing refers to."""
    project.agent.on("execute", {"run": WORK})
    project.agent.on("wonder", {"run": "echo 1 >mine; git add mine", "reply": questions("it")})
    loop = subprocess.Popen(["sh", "-c", GC, "sh", str(project.folder)], cwd=project.root)
    options = ("--no-qa", "--max-generations", "99", "--max-retries", "99")
    try:
        for number in range(1, generations + 1):
            assert project.step(*options).code in (3, 4)
            assert project.ouro("note", "greet", f"note {number}").code == 0
        assert project.ouro("rewind", "greet", "--to", "1").code == 0
        assert project.ouro("undo", "greet").code == 0
    finally:
        (project.folder / "stop").touch()
        loop.wait()
    assert int((project.folder / "gcs").read_text()) > generations
    assert git(project.root, "fsck", "--strict", "--no-dangling", "--no-progress") == ""
    assert project.types().count("evolve_step.completed") == generations
    assert all("d/400" in project.files(f"ooo/greet/gen_{n}") for n in range(1, generations + 1))
    assert len(project.rescued()) == generations - 1
    project.clean()


def test_gc_that_prunes_everything_beside_steps(tmp_path: Path) -> None:
    hammered(Project(tmp_path), 2)


@pytest.mark.slow
def test_the_same_for_long(tmp_path: Path) -> None:
    hammered(Project(tmp_path), int(os.environ.get("OURO_GC_GENERATIONS", "60")))


def test_git_tidies_up_after_a_generation(tmp_path: Path) -> None:
    """As git does after a commit of the user's, by the user's own settings; and not after less."""
    project = Project(tmp_path)
    project.git("config", "gc.auto", "1")
    project.agent.on("execute", {"run": WORK}, gen=1)
    packs = project.root / ".git" / "objects" / "pack"
    words = ("--no-qa", "--max-failures", "9")
    project.agent.on("evaluate", {"exit": 1})
    project.write_seed("It reads well")
    assert project.step(*words).code == 75
    assert list(packs.glob("*.pack")) == []
    assert project.ouro("retry", "greet").code == 0
    project.agent.on("evaluate", verdicts(ac1=False))
    done = finish(project.start_step(*words))
    assert done.code == 3, done
    until(lambda: list(packs.glob("*.pack")) != [])
    until(lambda: not (project.root / ".git" / "gc.pid").exists())
