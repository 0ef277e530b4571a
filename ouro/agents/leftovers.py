"""Processes that a program leaves behind: by the mark in their environment, whatever group they
are in, and as orphans of our own, whatever became of that environment."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import Popen

from ouro.errors import NeedsPerson

MARK = "OURO_RUN"
"""The variable by which every process of a run is found again."""
GRACE = 5.0
"""Seconds between TERM and KILL."""

_PROC = Path("/proc")
_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def can_find_marked() -> bool:
    """Whether this system shows the environment of processes (Linux does, in /proc)."""
    return (_PROC / "self" / "environ").exists()


def marked(mark: str) -> Iterator[int]:
    """Ids of the living processes that carry `mark`; none where the system cannot tell."""
    wanted = f"{MARK}={mark}".encode()
    for entry in _PROC.glob("[0-9]*"):
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in variables and int(entry.name) != os.getpid():
            yield int(entry.name)


def end_marked(mark: str) -> int:
    """End every process that carries `mark`: TERM, then KILL; how many there were. Raises
    NeedsPerson where one does not end."""
    return len(_end(lambda: set(marked(mark))))


def end_family(mark: str, first: "Popen[bytes]", others: frozenset[int]) -> int:
    """The same for our own child `first`, which is reaped here, and all that came of it; `others`
    were our descendants before it."""

    def living() -> set[int]:
        first.poll()
        reap_orphans(first)
        own = {first.pid} if first.returncode is None else set()
        return own | set(marked(mark)) | descendants(others)

    return len(_end(living) - {first.pid})


def _end(living: Callable[[], set[int]]) -> set[int]:
    seen: set[int] = set()
    began = time.monotonic()
    while True:
        alive = living()
        if not alive:
            return seen
        waited = time.monotonic() - began
        if waited > 2 * GRACE:
            raise NeedsPerson(
                f"processes of an earlier run do not end: {sorted(alive)}",
                "end them by hand, then start again",
            )
        number = signal.SIGKILL if waited > GRACE else signal.SIGTERM
        for pid in alive - seen if number == signal.SIGTERM else alive:
            _signal(pid, number)
        seen |= alive
        time.sleep(0.02)


def kill_marked(mark: str) -> None:
    """End every process that carries `mark` without any grace."""
    deadline = time.monotonic() + 1.0
    while (alive := set(marked(mark))) and time.monotonic() < deadline:
        for pid in alive:
            _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


# --- orphans -----------------------------------------------------------------------------------


def adopt_orphans() -> None:
    """Become the parent of what our children leave behind: a program that renames itself writes
    over its environment, and the mark in it."""
    import ctypes

    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_orphans(first: "Popen[bytes]") -> None:
    """Let go of dead orphans; `first` is waited for by whoever started it."""
    if not hasattr(os, "waitid"):  # where it is missing, there is no adopting either
        return
    with suppress(ChildProcessError):
        while dead := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if dead.si_pid == first.pid:
                return
            os.waitpid(dead.si_pid, 0)


def descendants(others: frozenset[int] = frozenset()) -> set[int]:
    """Our living children and all of theirs, but for `others` and theirs."""
    parents = dict(_parents())
    found: set[int] = set()
    new = {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - others
        found |= new
    return found


def _parents() -> Iterator[tuple[int, int]]:
    """Every living process and its parent; none where the system does not tell."""
    for entry in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            said = (entry / "stat").read_text("utf-8", "replace")
            state, parent = said.rpartition(")")[2].split()[:2]
            if state != "Z":
                yield int(entry.name), int(parent)
