"""Holding git's garbage collection off, with git's own means: real gcs, real processes."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouro.errors import NotNow
from ouro.git.housekeeping import FORGOTTEN, GRACE, held_off
from tests.app.scripted import git, until

HOST = socket.gethostname()
HOLDS = """
import sys, time
from pathlib import Path
from ouro.git.housekeeping import held_off
with held_off(Path(sys.argv[1])):
    print("holds", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def common(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    return tmp_path / ".git"


@pytest.fixture
def alive() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def gc(common: Path) -> int:
    return subprocess.run(["git", "gc", "-q"], cwd=common, stderr=subprocess.DEVNULL).returncode


def takes(common: Path, patience: float = 0.3) -> bool:
    try:
        with held_off(common, patience=patience):
            return True
    except NotNow:
        return False


def test_no_gc_begins_meanwhile(common: Path) -> None:
    with held_off(common), held_off(common):
        assert gc(common) != 0
        with held_off(common):
            pass
        assert gc(common) != 0
    assert gc(common) == 0
    assert sorted(common.glob("gc.*")) == []


def test_an_error_lets_go(common: Path) -> None:
    with pytest.raises(KeyError), held_off(common):
        raise KeyError
    assert gc(common) == 0


def test_a_gc_that_lives_is_waited_for(common: Path, alive: subprocess.Popen[bytes]) -> None:
    (common / "gc.pid").write_text(f"{alive.pid} {HOST}")
    heard: list[str] = []
    said = rf"git gc \(process {alive.pid} on {HOST}\)"
    with pytest.raises(NotNow, match=said) as caught, held_off(common, heard.append, 0.3):
        pass
    assert "gc.pid" in caught.value.hint
    assert heard[0] == f"waiting for git gc (process {alive.pid} on {HOST})"
    assert (common / "gc.pid").read_text() == f"{alive.pid} {HOST}"
    alive.kill()
    alive.wait()
    assert takes(common)


@pytest.mark.parametrize(
    "said", [f"{2**22 + 1} {HOST}", f"{2**70} {HOST}", "", "words", "12", f"-1 {HOST}"]
)
def test_one_that_is_dead_or_nobodys_is_taken_over(common: Path, said: str) -> None:
    (common / "gc.pid").write_text(said)
    assert takes(common)
    assert gc(common) == 0


def test_one_on_another_machine_is_believed_as_long_as_git_does(common: Path) -> None:
    (common / "gc.pid").write_text("1 elsewhere")
    assert not takes(common)
    old = time.time() - FORGOTTEN - 9
    os.utime(common / "gc.pid", (old, old))
    assert takes(common)


def test_a_lock_of_who_died_is_removed(common: Path) -> None:
    (common / "gc.pid.lock").touch()
    assert not takes(common, GRACE / 2)
    assert takes(common, GRACE * 9)


def test_what_a_killed_step_left_stops_nobody_even_if_its_number_lives_again(
    common: Path, alive: subprocess.Popen[bytes]
) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDS, str(common)], stdout=subprocess.PIPE)
    assert holder.stdout
    assert holder.stdout.readline() == b"holds\n"
    assert not (common / "gc.pid.lock").exists()
    assert (common / "gc.pid").read_text() == f"{holder.pid} {HOST}"
    assert gc(common) != 0
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    for path in (common / "gc.pid", common / "ouro" / "gc.holder"):
        path.write_text(f"{alive.pid} {HOST}")
    assert takes(common)


def test_several_steps_hold_it_off_in_turn(common: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDS, str(common)], stdout=subprocess.PIPE)
    assert holder.stdout
    holder.stdout.readline()
    second = subprocess.Popen([sys.executable, "-c", HOLDS, str(common)], stdout=subprocess.PIPE)
    assert second.stdout
    holder.kill()
    assert second.stdout.readline() == b"holds\n"
    until(lambda: (common / "gc.pid").read_text() == f"{second.pid} {HOST}")
    for process in (holder, second):
        process.kill()
        process.communicate()
