"""The state folder's files: whole or not there, and nothing torn stays."""

import os
import subprocess
import sys
from pathlib import Path

from ouro.git.journal import clear_torn, write_durably


def test_what_a_killed_writer_left_is_removed_and_a_living_ones_is_not(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    (tmp_path / "notes").mkdir()
    torn = [tmp_path / f"run.json.{dead.pid}.new", tmp_path / "notes" / f"1.txt.{dead.pid}.new"]
    kept = [tmp_path / f"stop.{os.getpid()}.new", tmp_path / "mine.new", tmp_path / "run.json"]
    for path in (*torn, *kept):
        path.write_text("half")
    clear_torn(tmp_path)
    assert not any(path.exists() for path in torn)
    assert all(path.exists() for path in kept)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    for content in (b"one", b"another"):
        write_durably(tmp_path / "new folder" / "file", content)
        assert [path.name for path in (tmp_path / "new folder").iterdir()] == ["file"]
    assert (tmp_path / "new folder" / "file").read_bytes() == b"another"
