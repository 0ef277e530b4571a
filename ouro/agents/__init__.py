"""Agents: whatever turns a request into a reply and, in execute, into edits of the workspace."""

from pathlib import Path
from typing import Protocol

from msgspec import Struct

from ouro.core.brief import Phase, Reply, Request


class Call(Struct, frozen=True, kw_only=True):
    """What an agent starts for a phase: no words where it is built in. Limits in seconds, None
    where there is none."""

    agent: str
    command: tuple[str, ...] = ()
    idle_limit: float | None = None
    wall_limit: float | None = None


class Agent(Protocol):
    name: str

    def run(self, request: Request, workspace: Path, mark: str) -> Reply:
        """Serve `request` in `workspace`. Failures are data (`Reply.problem`), never exceptions.

        `mark` is the run's unique id: every process started for it carries OURO_RUN=`mark`.
        """
        ...

    def call(self, phase: Phase, prompt: str | None) -> Call:
        """What `run` starts for a phase with `prompt` (None: it is not known yet)."""
        ...
