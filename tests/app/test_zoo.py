"""Every shape of repository: a whole lineage and back in each, or an exact refusal.

The agent writes, changes, deletes, links and changes modes in two generations; the lineage is
rewound to the first and restored. Nothing of the user's may change, and every tree is exact.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app import zoo
from tests.app.scripted import Done, Project, git
from tests.samples import sample

OPTIONS = ("--freeze-ontology", "--no-qa")


USUALLY = (
    "bare",
    "unborn_and_nobody",
    "filters_and_line_ends",
    "sparse_by_folders",
    "with_a_submodule_and_repositories_in_it",
)


@pytest.mark.parametrize("name", sample(zoo.SHAPES, *USUALLY))
def test_a_whole_lineage_and_back(name: str, tmp_path: Path) -> None:
    place = zoo.SHAPES[name](tmp_path)
    place.project.agent.on("execute", {"run": f"{zoo.FIRST}\n{place.also}"}, gen=1)
    place.project.agent.on("execute", {"run": zoo.SECOND}, gen=2)
    before, base = place.users(), place.files("HEAD") if place.readme else {}
    assert step(place).code == 3
    one = zoo.after_one(base, place)
    check(place, before, one)
    place = place.between(place)
    before = place.users()
    assert step(place).code == 0
    two = zoo.after_two(one)
    check(place, before, two)
    done = place.project.ouro("rewind", "greet", "--to", "1", cwd=place.at, env=place.env)
    assert done.code == 0, done
    check(place, before, one)
    done = place.project.ouro("undo", "greet", cwd=place.at, env=place.env)
    assert done.code == 0, done
    check(place, before, two)
    assert step(place).json["action"] == "converged"
    assert [place.files(f"refs/tags/ooo/greet/gen_{n}") for n in (1, 2)] == [one, two]
    assert git(place.at, "fsck", "--strict", "--no-dangling", "--no-progress") == ""


def step(place: zoo.Place) -> Done:
    done = place.project.step(*OPTIONS, cwd=place.at, env=place.env)
    assert done.code in (0, 3), done
    return done


def check(place: zoo.Place, before: dict[str, bytes], code: zoo.Files) -> None:
    """The tip has that code, the workspace is at the tip, and the user's things are as before."""
    found = place.files("refs/heads/ooo/greet")
    assert {p: found.get(p) for p in found | code if found.get(p) != code.get(p)} == {
        p: code.get(p) for p in found | code if found.get(p) != code.get(p)
    }
    workspace = Path(place.git("for-each-ref", "--format=%(worktreepath)", "refs/heads/ooo/greet"))
    assert git(workspace, "symbolic-ref", "HEAD") == "refs/heads/ooo/greet"
    untracked = "--untracked-files=all"
    listed = git(workspace, "status", "--porcelain", "--ignore-submodules=all", untracked)
    assert [line for line in listed.splitlines() if not line.endswith("/")] == []
    after = place.users()
    assert {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)} == set()


# --- refused, by name and with a way out -------------------------------------------------------


def sha256(project: Project) -> None:
    shutil.rmtree(project.root)
    git(project.folder, "init", "-q", "--object-format=sha256", str(project.root))


def reftable(project: Project) -> None:
    """As a newer git says it in the configuration; this one need not know it."""
    project.git("config", "core.repositoryFormatVersion", "1")
    project.git("config", "extensions.refStorage", "reftable")


def branch_in_the_way(project: Project) -> None:
    project.git("branch", "ooo")


def tag_in_the_way(project: Project) -> None:
    project.git("tag", "ooo/greet/gen_1/mine")


def foreign_objects(project: Project) -> None:
    """The other repository that its objects lie in is gone."""
    shared = project.folder / "shared"
    git(project.folder, "clone", "-q", "--shared", str(project.root), str(shared))
    project.root.rename(project.folder / "gone")
    project.root = shared


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (sha256, "SHA-1 objects and the files ref backend"),
        (reftable, "SHA-1 objects and the files ref backend"),
        (branch_in_the_way, "refs/heads/ooo is in the way of the lineage greet"),
        (tag_in_the_way, "refs/tags/ooo/greet/gen_1/mine is in the way of the lineage greet"),
        (foreign_objects, "missing"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refused(make: Callable[[Project], None], said: str, tmp_path: Path) -> None:
    project = Project(tmp_path)
    make(project)
    before = everything(tmp_path)
    project.step().refused(1, said)
    assert everything(tmp_path) == before
    assert project.agent.calls() == []


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@needs_root
def test_a_repository_of_another_user(tmp_path: Path) -> None:
    """Refused as git refuses it; what the hint says is enough."""
    project = Project(tmp_path)
    project.agent.on("execute", {"write": {"ok": "1"}})
    for path in (project.root, *project.root.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    before = everything(tmp_path)
    done = project.step("--stop-on-pass", "--no-qa")
    done.refused(1, "belongs to another user", "git config --global --add safe.directory")
    assert everything(tmp_path) == before
    subprocess.run(done.err.split("if you trust it: ")[1], shell=True, check=True)
    assert project.step("--stop-on-pass", "--no-qa").code == 0


# What is mounted read-only is so for root, too.
READ_ONLY = """
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd . && shift && exec "$@"
"""


@needs_root
def test_a_repository_that_cannot_be_written(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.step("--no-qa")
    before = everything(tmp_path)
    how = ("unshare", "-m", "sh", "-ec", READ_ONLY, "sh", str(tmp_path))
    for words in (["status", "greet"], ["status"], ["list"], ["log", "greet"], ["path", "greet"]):
        done = project.ouro(*words, before=how, cwd=project.root)
        assert (done.code, bool(done.out)) == (0, True), done
    words = project.words("--exit-code", "--agent", project.agent.line)
    refusals = (words, ["rewind", "greet", "--to", "0"], ["note", "greet", "x"])
    for words in refusals:
        done = project.ouro(*words, before=how)
        assert done.code == 1, done
        assert done.err.startswith("ouro: "), done
        assert "\n  hint: " in done.err, done
        assert "Read-only file system" in done.err, done
    assert everything(tmp_path) == before
    assert project.step("--no-qa").json["generation"] == 2


def everything(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path): path.read_bytes() for path in files if "agent" not in path.parts}
