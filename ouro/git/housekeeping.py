"""git's garbage collection and ouro: kept away while objects exist that nothing refers to yet, and
started, as git does after its own commits, once a generation is complete."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ouro.errors import NotNow
from ouro.git.journal import is_alive
from ouro.git.program import environment

PATIENCE = 600.0
"""Seconds to wait for a gc that is at work: the result of an agent's call may hang on it."""
GRACE = 1.0
"""Seconds after which a `gc.pid.lock`, held for an instant by who lives, is a dead one's."""
FORGOTTEN = 12 * 3600.0
"""Seconds after which git no longer believes a `gc.pid`."""

_open: set[Path] = set()
"""The repositories that this process holds gc off."""


@contextmanager
def held_off(
    common: Path, waits: Callable[[str], None] = lambda _: None, patience: float = PATIENCE
) -> Iterator[None]:
    """No `git gc` begins in the repository with the git folder `common` while this is open.

    It is held off by `gc.pid`, which git leaves to one process at a time. `waits` hears whom this
    waits for, a few times a second; raises NotNow after `patience` seconds.
    """
    if common in _open:
        yield
        return
    with _alone(common) as record:
        _take(common, record, waits, time.monotonic() + patience)
        _open.add(common)
        try:
            yield
        finally:
            _open.discard(common)
            (common / "gc.pid").unlink(missing_ok=True)


@contextmanager
def _alone(common: Path) -> Iterator[int]:
    """Steps of several lineages hold gc off in turn; a descriptor of what the last one wrote. The
    lock is the system's own: with it in hand, whatever another step has left is a dead one's."""
    import fcntl

    folder = common / "ouro"
    folder.mkdir(exist_ok=True)
    descriptor = os.open(folder / "gc.holder", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _take(common: Path, record: int, waits: Callable[[str], None], deadline: float) -> None:
    """Make `gc.pid` ours as git does: `gc.pid.lock`, made exclusively, is renamed to it."""
    mine = f"{os.getpid()} {socket.gethostname()}".encode()
    while other := _try(common, record, mine):
        if time.monotonic() > deadline:
            raise NotNow(
                f"{other} is at work in {common}, and does not come to its end",
                "wait for it; if none runs, remove that folder's gc.pid",
            )
        waits(f"waiting for {other}")
        time.sleep(random.uniform(0.01, 0.05))


def _try(common: Path, record: int, mine: bytes) -> str | None:
    """Take `gc.pid`; who else has it, None once it is ours."""
    lock, target = common / "gc.pid.lock", common / "gc.pid"
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        _remove_dead(lock)
        return "a git gc that begins"
    with os.fdopen(descriptor, "wb") as file:
        if other := _at_work(target, os.pread(record, 500, 0)):
            lock.unlink()
            return other
        os.ftruncate(record, 0)
        os.pwrite(record, mine, 0)
        file.write(mine)
    lock.replace(target)
    return None


def _remove_dead(lock: Path) -> None:
    try:
        if time.time() - lock.stat().st_mtime > GRACE:
            lock.unlink()
    except FileNotFoundError:
        pass


def _at_work(path: Path, last: bytes) -> str | None:
    """The gc that `path` names, if it lives as far as git would say; `last` is what the last step
    wrote there, which is dead."""
    try:
        said, age = path.read_bytes(), time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return None
    number, _, host = said.partition(b" ")
    if said == last or age > FORGOTTEN or not number.isdigit() or not host:
        return None
    if host.strip() == socket.gethostname().encode() and not is_alive(int(number)):
        return None
    return f"git gc (process {int(number)} on {host.decode('utf-8', 'replace').strip()})"


def start_gc(common: Path) -> None:
    """Let git look whether there is much to tidy up, and do it in the background: libgit2 never
    does, and the user's next commit would have to."""
    variables = environment() | {"GIT_DIR": str(common)}
    subprocess.Popen(
        ["git", "gc", "--auto", "--quiet"],
        cwd=common,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
