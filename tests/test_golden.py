"""Logs of every release so far: each later one reads them, verifies them, and folds them to the
same state, byte for byte. They are only ever added to."""

from pathlib import Path

import msgspec
import pytest

from ouro.app import history, verify
from ouro.core.events import TYPE_OF, TYPES
from ouro.git.event_store import GitEventStore
from ouro.git.repository import Repo
from tests.app.scripted import git

GOLDEN = sorted((Path(__file__).parent / "data" / "golden").glob("*.bundle"))


@pytest.fixture(params=GOLDEN, ids=lambda path: path.stem)
def release(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture
def repo(release: Path, tmp_path: Path) -> Repo:
    git(tmp_path, "clone", "-q", "--mirror", str(release), "golden.git")
    return Repo(tmp_path / "golden.git")


def test_there_is_one() -> None:
    assert GOLDEN


def test_its_history_is_verified(repo: Repo) -> None:
    found = verify.every(repo)
    assert len(found) == 1
    assert all((one.findings, one.notices, one.unknown) == ((), (), None) for one in found)
    assert found[0].generations > 3


def test_it_folds_to_the_state_that_it_folded_to(repo: Repo, release: Path) -> None:
    (lineage_id,) = history.ids(repo)
    _, state = history.read(repo, lineage_id)
    assert msgspec.json.encode(state) + b"\n" == release.with_suffix(".json").read_bytes()


def test_every_type_of_event_is_in_one_of_them(tmp_path: Path) -> None:
    kinds = set()
    for path in GOLDEN:
        folder = tmp_path / path.stem
        git(tmp_path, "clone", "-q", "--mirror", str(path), str(folder))
        for lineage_id in history.ids(Repo(folder)):
            events = GitEventStore(Repo(folder), lineage_id).read().log.events
            kinds |= {TYPE_OF[type(event.data)] for event in events}
    assert kinds == TYPES.keys()
