"""One undisturbed life, lived once for all workers."""

import json
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.crash.judge import judge, state
from tests.crash.stand import Stand


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers of one test run see."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> dict[str, Any]:
    """The state that every life must end in."""
    result = shared / "undisturbed.json"
    with FileLock(f"{result}.lock"):
        if not result.exists():
            result.write_text(json.dumps(_live(tmp_path_factory.mktemp("undisturbed"))))
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def _live(folder: Path) -> dict[str, Any]:
    stand = Stand(folder).set_up()
    stand.live()
    came_to = state(stand)
    judge(stand, came_to)
    return came_to


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path).set_up()
