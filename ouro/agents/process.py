"""The one place that starts programs on the agent's behalf, and ends whole process trees."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from ouro.agents.leftovers import (
    MARK,
    adopt_orphans,
    descendants,
    end_family,
    kill_marked,
    reap_orphans,
)
from ouro.agents.output import make_room, settle_output, tail, written

_TICK = 0.1


class Limits(Struct, frozen=True):
    """Seconds: without any output, and in all."""

    idle: float = 600.0
    wall: float = 3600.0


class Cause(StrEnum):
    """Why a program ended."""

    EXIT = "exit"
    IDLE = "idle"
    WALL = "wall"
    FLOOD = "flood"
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
        return tail(self.folder / "stdout").decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        return tail(self.folder / "stderr").decode("utf-8", "replace")


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
    """Run `job` to its end or to a limit; no process of it is left afterwards."""
    folder = job.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stdin").write_bytes(job.stdin)
    adopt_orphans()
    others = frozenset(descendants())
    began = time.monotonic()
    try:
        child = _start(job)
    except (FileNotFoundError, PermissionError, NotADirectoryError) as problem:
        (folder / "stderr").write_text(str(problem))
        return Outcome(Cause.NOT_FOUND, 127, time.monotonic() - began, folder)
    _running[child.pid] = job.environment[MARK]
    try:
        cause = _wait(child, folder, limits, watch, began)
    finally:
        _signal_group(child, signal.SIGTERM)
        left = end_family(job.environment[MARK], child, others)
        _signal_group(child, signal.SIGKILL)
        del _running[child.pid]
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


_running: dict[int, str] = {}
"""Process groups of the children that are alive now, and their marks."""


def kill_running() -> None:
    """End the running children without any grace: somebody wants out at once."""
    for group, mark in tuple(_running.items()):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        kill_marked(mark)


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
        reap_orphans(child)
        now = time.monotonic()
        if (length := written(folder)) != size:
            size, grew = length, now
        if not make_room(folder):
            return Cause.FLOOD
        if watch.stopped():
            return Cause.STOPPED
        if now - began > limits.wall:
            return Cause.WALL
        if now - grew > limits.idle:
            return Cause.IDLE
        watch.tick(now - began, folder)


def _signal_group(child: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
