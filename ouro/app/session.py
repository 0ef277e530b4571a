"""Wiring: everything a command works with, put together once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ouro.app.console import Console
from ouro.config import Config, load_prompts
from ouro.core.ids import event_id
from ouro.core.retry import timestamp
from ouro.core.secrets import Secrets, names_a_secret
from ouro.errors import NotNow
from ouro.git import housekeeping, lock
from ouro.git.event_store import GitEventStore
from ouro.git.left_out import Screen
from ouro.git.repository import Repo

if TYPE_CHECKING:
    from ouro.agents import Agent
    from ouro.agents.process import Limits, Watch
    from ouro.core.lineage import Lineage
    from ouro.core.seed import Seed


class Interrupted(Exception):
    """A signal asked the step to end; its number."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


@dataclass(frozen=True)
class Options:
    """What a step was asked to do, beside the configuration."""

    lineage_id: str
    seed_file: Path | None = None
    base: str | None = None
    wait: bool = False


@dataclass(frozen=True)
class Session:
    """One command's surroundings. `interrupt` gives the number of the signal that asked the
    program to end, 0 while none did. `alarms` are asked several times a second while something
    runs; what one raises ends that."""

    options: Options
    repo: Repo
    config: Config
    console: Console
    environment: Mapping[str, str]
    started_in: Path
    interrupt: Callable[[], int]
    alarms: list[Callable[[], None]] = field(default_factory=list)

    @cached_property
    def store(self) -> GitEventStore:
        return GitEventStore(self.repo, self.options.lineage_id)

    @cached_property
    def prompts(self) -> dict[str, str]:
        """Read once, before any agent runs: an agent cannot change its own next prompt."""
        return load_prompts(self.repo.root)

    @cached_property
    def secrets(self) -> Secrets:
        return Secrets(self.environment)

    @property
    def screen(self) -> Screen:
        """What of a workspace may get into the history."""
        caps = self.config.settings.snapshot
        return Screen(objection=self._objection, file=caps.file, total=caps.total)

    def _objection(self, path: str, content: bytes) -> str | None:
        if names_a_secret(path):
            return "holds secrets by its name"
        if self.secrets.in_bytes(content):
            return "holds what looks like a secret"
        return None

    @property
    def state(self) -> Path:
        return self.repo.state_folder(self.options.lineage_id)

    @property
    def workspace_root(self) -> Path | None:
        root = self.config.settings.worktree_root
        return self.repo.root / Path(root).expanduser() if root else None

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lineage's lock; with `wait`, until whoever holds it lets go."""
        with ExitStack() as stack:
            while not self._acquired(stack):
                self.sleep(0.5)
            self.console.settle()
            yield

    def _acquired(self, stack: ExitStack) -> bool:
        try:
            stack.enter_context(lock.hold(self.state, f"ooo/{self.options.lineage_id}"))
        except NotNow as busy:
            if not self.options.wait:
                raise
            self.console.progress(busy.message, 0.0, None)
            return False
        return True

    @contextmanager
    def no_gc(self) -> Iterator[None]:
        """What is written while this is open stays, whatever `git gc` is started meanwhile."""

        def waits(what: str) -> None:
            self.console.progress(what, 0.0, None)
            self.check_interrupt()

        with housekeeping.held_off(self.repo.common, waits):
            self.console.settle()
            yield

    # --- time ----------------------------------------------------------------------------------

    def now(self) -> datetime:
        return datetime.now(UTC)

    def stamp(self) -> tuple[str, str]:
        """`id` and `at` of a new event."""
        now = self.now()
        return event_id(int(now.timestamp() * 1000), os.urandom(10)), timestamp(now)

    def seconds_until(self, at: str) -> float:
        """Seconds from now to a time as in `Event.at`, 0 where it has come."""
        return max(0.0, (datetime.fromisoformat(at) - self.now()).total_seconds())

    def sleep(self, seconds: float) -> None:
        """Sleep; raises Interrupted as soon as a signal asks the program to end."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))
            self.check_interrupt()

    def check_interrupt(self) -> None:
        self._ask_alarms()
        if number := self.interrupt():
            raise Interrupted(number)

    def _ask_alarms(self) -> None:
        for alarm in self.alarms:
            alarm()

    # --- agents --------------------------------------------------------------------------------

    def agent(self, seed: Seed, lineage: Lineage | None) -> Agent:
        """The agent that is to serve `seed`; raises UsageProblem where none may."""
        from ouro.app.choose_agent import choose

        return choose(self, seed, lineage)

    def limits(self) -> Limits:
        from ouro.agents.process import Limits

        settings = self.config.settings
        return Limits(idle=settings.idle_limit, wall=settings.wall_limit)

    def watch(self, what: str) -> Watch:
        """What the process runner tells and asks while something runs."""
        from ouro.agents.process import Watch

        def tick(seconds: float, folder: Path) -> None:
            self.console.progress(what, seconds, folder / "stdout")
            self._ask_alarms()

        return Watch(stopped=lambda: bool(self.interrupt()), tick=tick)
