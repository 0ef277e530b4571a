"""What is read from outside ends in a value or in an error that is meant: never in a traceback, a
hang, or memory without end.

    OURO_HOSTILE_COUNT=100000 pytest -m slow tests/hostile

An input that breaks this is kept, under a name that says what it is, in `tests/data/corpus/`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READERS = ("log", "seed", "reply", "client")


def feed(reader: str, seed: int, count: int, folder: Path) -> None:
    words = [sys.executable, "-m", "tests.hostile.feed", reader, str(seed), str(count), str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, (
        f"exit {done.returncode}\n{done.stderr[-3000:]}\nkeep this in tests/data/corpus/{reader}: "
        f"{(folder / 'input').read_bytes()[:2000]!r}"
    )
    assert f"and {count} new inputs" in done.stdout


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the limit needs /proc")
@pytest.mark.parametrize("reader", READERS)
def test_hostile_input(reader: str, tmp_path: Path) -> None:
    feed(reader, 1, 150, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_much_hostile_input(reader: str, tmp_path: Path) -> None:
    count = int(os.environ.get("OURO_HOSTILE_COUNT", "20000"))
    feed(reader, int.from_bytes(os.urandom(4)), count, tmp_path)
