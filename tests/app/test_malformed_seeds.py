"""Seeds that are refused, through the whole program: one line, a hint, and nothing is there."""

from pathlib import Path

import pytest

from tests.app.scripted import Project
from tests.core.refused_seeds import REFUSED

CHOSEN = [
    "no-goal",
    "goal-yes",
    "goal-huge-int",
    "criteria-empty",
    "criterion-colon",
    "id-twice",
    "hidden-without-checks",
    "artifact-in-ouro",
    "field-twice",
    "key-twice",
    "python-tag",
    "alias-inside-itself",
    "empty",
    "two-documents",
    "tab",
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One for all: a refused seed leaves no trace."""
    return Project(tmp_path_factory.mktemp("seeds"))


def refused(project: Project, content: bytes, *said: str) -> None:
    project.seed.write_bytes(content)
    before = project.everything()
    project.step().refused(2, *said)
    assert project.everything() == before
    assert project.agent.calls() == []


@pytest.mark.parametrize("name", CHOSEN)
def test_refused(project: Project, name: str) -> None:
    text, line, key, what = REFUSED[name]
    refused(project, text.encode(), f"{project.seed}:{line}: ", key, what)


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfeg\x00o\x00", b"goal: caf\xe9\n", b"goal: a\x00b\n", b"[" * 100_000, b"&a " * 9999],
    ids=["utf-16", "latin-1", "nul", "nested", "anchors"],
)
def test_bytes_that_are_no_seed(project: Project, content: bytes) -> None:
    refused(project, content)


def test_a_folder_is_no_seed(project: Project) -> None:
    before = project.everything()
    folder = project.folder / "folder"
    folder.mkdir()
    done = project.step("--seed-file", str(folder))
    done.refused(2, "cannot read the seed file")
    assert project.everything() == before


def test_a_file_that_nobody_may_read_is_no_seed(project: Project, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    project.step("--seed-file", str(loop)).refused(2, "cannot read the seed file")
