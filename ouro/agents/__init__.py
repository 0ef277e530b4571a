"""Agents: whatever turns a request into a reply and, in execute, into edits of the workspace."""

from pathlib import Path
from typing import Protocol

from ouro.core.brief import Reply, Request


class Agent(Protocol):
    name: str

    def run(self, request: Request, workspace: Path, mark: str) -> Reply:
        """Serve `request` in `workspace`. Failures are data (`Reply.problem`), never exceptions.

        `mark` is the run's unique id: every process started for it carries OURO_RUN=`mark`.
        """
        ...
