"""A command of the user's, run by `sh` in the workspace as an agent's programs are: with the run's
mark, in a sealed environment, within limits, and with nothing left running."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from ouro.agents.process import Outcome
    from ouro.app.run import Run


class Command(Struct, frozen=True, kw_only=True):
    """`name` is that of the folder for its output, `phase` what it is part of, `limit` in seconds,
    `environment` what it gets beside the usual."""

    text: str
    name: str
    phase: str
    limit: float
    environment: Mapping[str, str] = {}


def run_shell(run: Run, command: Command, mark: str) -> Outcome:
    """How `command` ended; raises Interrupted where a signal ended it."""
    from ouro.agents import process

    session, number = run.session, run.lineage.current.number
    environment = process.child_environment(
        session.environment,
        run.workspace.root,
        mark,
        lineage_id=run.lineage.id,
        generation=str(number),
        phase=command.phase,
    )
    with tempfile.TemporaryDirectory(prefix="ouro-", ignore_cleanup_errors=True) as scratch:
        job = process.Job(
            command=("sh", "-c", command.text),
            cwd=run.workspace.root,
            environment={**environment, **command.environment, "TMPDIR": scratch},
            stdin=b"",
            mask=session.secrets.mask_bytes,
            folder=session.state / "output" / f"gen_{number}-{command.name}-{mark[:8]}",
        )
        limits = process.Limits(idle=command.limit, wall=command.limit)
        watch = session.watch(f"gen {number}: {command.phase}: {command.name}")
        outcome = process.run(job, limits, watch)
    session.console.settle()
    session.check_interrupt()
    return outcome
