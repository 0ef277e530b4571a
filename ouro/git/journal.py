"""What a step was about to do, on disk before it does it: how the next one tells its own traces
from everybody else's."""

import os
import socket
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from ouro.errors import NeedsPerson

Kind = TypeVar("Kind")

PREPARED = "prepared"
"""The note of what a workspace was made ready with; gone when the workspace is made."""
NEW = ".new"
"""How a file is called, after its writer's process id, until it is whole."""


class Intent(Struct, frozen=True):
    """The branch was about to move from `old` to `new`, and the workspace with it."""

    old: str | None
    new: str


class Marker(Struct, frozen=True):
    """An agent or a check is running in `worktree`, which was at `tip`: what changes there is
    its doing. `run` is the mark in the environment of every process started for it. `common` is
    the git folder of the repository: in a copy of that, the run and the worktree are not its own.
    """

    run: str
    pid: int
    phase: str
    worktree: str
    tip: str
    host: str
    common: str = ""

    def is_of(self, common: Path) -> bool:
        """Whether the run was of the repository of the git folder `common`, wherever that lay."""
        then = Path(self.common)
        return not self.common or not then.exists() or then.samefile(common)


def new_marker(run: str, phase: str, worktree: Path, tip: str, common: Path) -> Marker:
    host = socket.gethostname()
    return Marker(
        run, os.getpid(), phase, str(worktree.resolve()), tip, host, str(common.resolve())
    )


class Journal:
    """The small files of one lineage's state folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._intent = folder / "intent.json"
        self.marker_path = folder / "run.json"

    def intend(self, old: str | None, new: str) -> None:
        write_durably(self._intent, msgspec.json.encode(Intent(old, new)))

    def intent(self) -> Intent | None:
        return _read(self._intent, Intent)

    def mark(self, marker: Marker) -> None:
        write_durably(self.marker_path, msgspec.json.encode(marker))

    def marker(self) -> Marker | None:
        return _read(self.marker_path, Marker)

    def unmark(self) -> None:
        self.marker_path.unlink(missing_ok=True)
        sync_folder(self.folder)
        self.settle()

    def settle(self) -> None:
        """What was intended is done. While a marker stands the intent does too: it tells whether
        what is marked was committed."""
        if not self.marker_path.exists():
            self._intent.unlink(missing_ok=True)


def _read(path: Path, shape: type[Kind]) -> Kind | None:
    """None where there is nothing; files are replaced whole, so a torn one cannot be ours."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=shape)
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, OSError) as problem:
        raise NeedsPerson(
            f"{path} cannot be read: {problem}", "look at what runs there, then remove that file"
        ) from problem


def write_durably(path: Path, content: bytes) -> None:
    """Replace `path` as a whole, on the disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}{NEW}")
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_folder(path.parent)


def clear_torn(folder: Path) -> None:
    """Remove the files that `write_durably` did not live to rename; those of living processes, a
    note that is just being written, stay."""
    for path in (*folder.glob(f"*{NEW}"), *folder.glob(f"notes/*{NEW}")):
        writer = path.name.removesuffix(NEW).rpartition(".")[2]
        if writer.isdecimal() and not is_alive(int(writer)):
            path.unlink(missing_ok=True)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
