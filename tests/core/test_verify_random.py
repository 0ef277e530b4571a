"""Honest histories by chance are never accused."""

from pathlib import Path

import pytest

from ouro.core.verify.walk import verify
from ouro.git import history, log_tree
from tests.honest import Honest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("honest")


def check(folder: Path, number: int) -> None:
    lived = Honest(folder, number, f"x{number}").live(8 + number % 12).publish()
    found = verify(history.whole(history.Objects(lived.repo), lived.tip, lived.id))
    assert (found.findings, found.unknown) == ((), None), number
    assert found.notices == (), number


@pytest.mark.parametrize("decade", range(10))
def test_an_honest_history_is_not_accused(
    folder: Path, decade: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_tree, "ROLL_OVER", 4000 if decade % 2 else 64 * 1024)
    for number in range(decade * 10, decade * 10 + 10):
        check(folder, number)
