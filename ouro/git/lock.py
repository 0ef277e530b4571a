"""The lineage's lock: one step at a time, and a name for who holds it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from ouro.errors import NotNow, OuroError


class Holder(Struct, frozen=True):
    """Who holds a lock; `since` is seconds since 1970."""

    pid: int
    since: float


@contextmanager
def hold(folder: Path, what: str) -> Iterator[None]:
    """Hold the lock of a state folder; raises NotNow with the holder where another has it.

    The lock is the operating system's own, so it ends with its process, however that ends.
    """
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "lock", timeout=0)
        lock.acquire()
    except Timeout:
        raise NotNow(
            f"{what} is busy: {_holder(folder)}",
            "wait for it with --wait, or end that process",
        ) from None
    except OSError as problem:
        raise OuroError(
            f"cannot write in {folder}: {problem.strerror}",
            "steps need a writable repository; reading commands do not",
        ) from problem
    try:
        _name(folder)
        yield
    finally:
        lock.release()


def _name(folder: Path) -> None:
    (folder / "holder.json").write_bytes(msgspec.json.encode(Holder(os.getpid(), time.time())))


def _holder(folder: Path) -> str:
    try:
        holder = msgspec.json.decode((folder / "holder.json").read_bytes(), type=Holder)
    except (OSError, msgspec.DecodeError):
        return "another process holds its lock"
    age = max(0.0, time.time() - holder.since)
    return f"process {holder.pid} has held its lock for {age:.0f} s"


def is_held(folder: Path) -> bool:
    """Whether somebody holds the lock now, asked without taking it or writing anything."""
    import fcntl

    try:
        with (folder / "lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
