"""The lineage's lock: one step at a time, and a name for who holds it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from ouro.errors import NotNow, OuroError
from ouro.git import program

LOOP = "OURO_LOOP"
"""The variable in which ralph.sh tells a step its process id."""
ORPHAN_GRACE = 5.0
"""Seconds to wait for git processes of a step that is dead."""


class Holder(Struct, frozen=True):
    """Who holds a lock, or held it last; `since` is seconds since 1970, `loop` the process of the
    ralph.sh that started it, 0 where none did."""

    pid: int
    since: float
    loop: int = 0


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
            "wait until it is done (a step does, with --wait), or end that process",
        ) from None
    except OSError as problem:
        raise OuroError(
            f"cannot write in {folder}: {problem.strerror}",
            "steps need a writable repository; reading commands do not",
        ) from problem
    try:
        with _writing(folder, what):
            _name(folder)
            yield
    finally:
        lock.release()


@contextmanager
def _writing(folder: Path, what: str) -> Iterator[None]:
    """Hold a second lock, which every git process inherits: a git that outlived its step would
    write behind the back of the next one, so that one waits for its end."""
    import fcntl

    descriptor = os.open(folder / "writing", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        deadline = time.monotonic() + ORPHAN_GRACE
        while not _taken(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB):
            if time.monotonic() > deadline:
                raise NotNow(
                    f"{what} is busy: a git process of a step that died is still at work",
                    "wait until it is done (a step does, with --wait), or end that process",
                )
            time.sleep(0.02)
        program.inherited.add(descriptor)
        yield
    finally:
        program.inherited.discard(descriptor)
        os.close(descriptor)


def _taken(descriptor: int, operation: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, operation)
    except BlockingIOError:
        return False
    return True


def _name(folder: Path) -> None:
    holder = Holder(os.getpid(), time.time(), own_loop())
    # Others read it without a lock, and must find one name or the other.
    new = folder / "holder.json.new"
    new.write_bytes(msgspec.json.encode(holder))
    new.replace(folder / "holder.json")


def own_loop() -> int:
    """The process of the ralph.sh that runs this step, 0 where none does."""
    said = os.environ.get(LOOP, "")
    return int(said) if said.isdecimal() else 0


def last_holder(folder: Path) -> Holder | None:
    """Who holds the lock or held it last; None where nobody ever did."""
    try:
        return msgspec.json.decode((folder / "holder.json").read_bytes(), type=Holder)
    except (OSError, msgspec.DecodeError):
        return None


def _holder(folder: Path) -> str:
    holder = last_holder(folder)
    if holder is None:
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
