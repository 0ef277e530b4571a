"""The one place that starts programs on the agent's behalf, and ends whole process trees."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from ouro.errors import NeedsPerson

MARK = "OURO_RUN"
"""The variable by which every process of a run is found again, whatever group it is in."""
GRACE = 5.0
"""Seconds between TERM and KILL."""
KEPT = 4 * 1024 * 1024
"""At most so many bytes (the last ones) of an output are kept and read back."""

_TICK = 0.1
_PROC = Path("/proc")


class Limits(Struct, frozen=True):
    """Seconds: without any output, and in all."""

    idle: float = 600.0
    wall: float = 3600.0


class Cause(StrEnum):
    """Why a program ended."""

    EXIT = "exit"
    IDLE = "idle"
    WALL = "wall"
    STOPPED = "stopped"
    NOT_FOUND = "not_found"


class Outcome(Struct, frozen=True):
    """How a program ended. `code` is its exit code, negative for a signal's number; `left` counts
    the processes that it left running, which were ended."""

    cause: Cause
    code: int
    seconds: float
    folder: Path
    left: int = 0

    @property
    def stdout(self) -> str:
        return _tail(self.folder / "stdout").decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        return _tail(self.folder / "stderr").decode("utf-8", "replace")


class Watch(Struct, frozen=True):
    """What goes on outside while a program runs: `stopped` says that it is to end now, `tick`
    hears a few times a second how long it has run and where its output lies."""

    stopped: Callable[[], bool] = lambda: False
    tick: Callable[[float, Path], None] = lambda _seconds, _folder: None


def child_environment(
    base: Mapping[str, str], workspace: Path, mark: str, **names: str
) -> dict[str, str]:
    """`base` for a child: nothing of git's or ouro's own variables but those meant for it.

    `names` become OURO_<NAME>.
    """
    kept = {n: value for n, value in base.items() if not n.startswith(("GIT_", "OURO_"))}
    own = {f"OURO_{name.upper()}": value for name, value in names.items()}
    # An agent whose `.git` is gone must not climb into a repository around the workspace.
    return kept | own | {MARK: mark, "GIT_CEILING_DIRECTORIES": str(workspace.parent)}


class Job(Struct, frozen=True, kw_only=True):
    """A program to run. Its input, stdout and stderr are files in `folder`, so no amount of
    output fills memory or blocks it. `environment` holds the mark (`child_environment`); `mask`
    takes secrets out of what is kept."""

    command: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    stdin: bytes
    folder: Path
    mask: Callable[[bytes], bytes] = lambda content: content


def run(job: Job, limits: Limits, watch: Watch) -> Outcome:
    """Run `job` to its end or to a limit; nothing that carries its mark is left afterwards."""
    folder = job.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stdin").write_bytes(job.stdin)
    began = time.monotonic()
    try:
        child = _start(job)
    except (FileNotFoundError, PermissionError, NotADirectoryError) as problem:
        (folder / "stderr").write_text(str(problem))
        return Outcome(Cause.NOT_FOUND, 127, time.monotonic() - began, folder)
    _running.add(child.pid)
    try:
        cause = _wait(child, folder, limits, watch, began)
    finally:
        _signal_group(child, signal.SIGTERM)
        left = end_marked(job.environment[MARK], first=child)
        _signal_group(child, signal.SIGKILL)
        _running.discard(child.pid)
        settle_output(folder, job.mask)
    code = child.wait()
    return Outcome(cause, code, time.monotonic() - began, folder, left)


def _start(job: Job) -> "subprocess.Popen[bytes]":
    with (
        (job.folder / "stdin").open("rb") as given,
        (job.folder / "stdout").open("wb") as out,
        (job.folder / "stderr").open("wb") as err,
    ):
        return subprocess.Popen(
            job.command,
            cwd=job.cwd,
            env=job.environment,
            stdin=given,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )


_running: set[int] = set()
"""Process groups of the children that are alive now."""


def kill_running() -> None:
    """End the running children's groups without any grace: somebody wants out at once."""
    for group in tuple(_running):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _wait(
    child: "subprocess.Popen[bytes]", folder: Path, limits: Limits, watch: Watch, began: float
) -> Cause:
    size, grew = 0, began
    while True:
        try:
            child.wait(timeout=_TICK)
            return Cause.EXIT
        except subprocess.TimeoutExpired:
            pass
        now = time.monotonic()
        if (written := _written(folder)) != size:
            size, grew = written, now
        if watch.stopped():
            return Cause.STOPPED
        if now - began > limits.wall:
            return Cause.WALL
        if now - grew > limits.idle:
            return Cause.IDLE
        watch.tick(now - began, folder)


def _written(folder: Path) -> int:
    return sum((folder / name).stat().st_size for name in ("stdout", "stderr"))


def _signal_group(child: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


# --- by mark -----------------------------------------------------------------------------------


def end_marked(mark: str, first: "subprocess.Popen[bytes] | None" = None) -> int:
    """End every process that carries `mark`: TERM, then KILL; how many there were beside `first`.

    `first` is our own child, which is reaped here. Raises NeedsPerson where one does not end.
    """
    seen: set[int] = set()
    began = time.monotonic()
    while True:
        alive = set(marked(mark))
        if first and first.poll() is None:
            alive.add(first.pid)
        if not alive:
            return len(seen - {first.pid if first else 0})
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


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


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


def settle_output(folder: Path, mask: Callable[[bytes], bytes]) -> None:
    """Bring what a program printed into the form in which it is kept: its end, without secrets."""
    for name in ("stdout", "stderr"):
        path = folder / name
        if not path.is_file():
            continue
        content = _tail(path)
        fit = mask(content)
        if fit != content or path.stat().st_size > len(content):
            path.write_bytes(fit)


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - KEPT))
        return file.read()
