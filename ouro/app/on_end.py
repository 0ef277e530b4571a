"""The user's own command for when a loop ends."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

from ouro.app.session import Session
from ouro.app.step import Ending
from ouro.core.report import to_json
from ouro.errors import Exit, OuroError

LAST_CYCLE = "OURO_LAST_CYCLE"
"""Set by whoever runs steps in a loop (`ralph.sh`): no step comes after this one."""

_FINAL = (Exit.OK, Exit.STAGNATED, Exit.EXHAUSTED, Exit.FAILED, Exit.STOPPED)


def run_on_end(session: Session, ending: Ending) -> None:
    """Run `on_end` in the repository where `ending` ends a loop, with the step's JSON on stdin.

    Nothing of it changes how the step ended. A lineage that says again how it ended ends no loop.
    """
    command = session.config.settings.on_end
    code = _code_of_loop(ending, session.environment)
    if command is None or code is None:
        return
    try:
        how = _run(session, command, ending, code)
    except OuroError as problem:
        how = problem.message
    if how:
        session.console.warn(f"on_end {how}")


def _code_of_loop(ending: Ending, environment: Mapping[str, str]) -> int | None:
    """The exit code of the loop that ends here; None where it goes on, or had ended before."""
    if ending.again:
        return None
    if ending.code in _FINAL:
        return int(ending.code)
    last = environment.get(LAST_CYCLE) == "1" and ending.code in (Exit.CONTINUE, Exit.LATERAL)
    return int(Exit.MAX_CYCLES) if last else None


def _run(session: Session, command: str, ending: Ending, code: int) -> str | None:
    """How it failed, None where it did not."""
    from ouro.agents import process
    from ouro.agents.leftovers import MARK

    limit, mark = session.config.settings.check_limit, uuid4().hex
    names = {"OURO_LINEAGE_ID": ending.report.lineage_id, "OURO_EXIT_CODE": str(code)}
    job = process.Job(
        command=("sh", "-c", command),
        cwd=session.repo.root,
        environment={**session.environment, **names, MARK: mark},
        stdin=f"{to_json(ending.report)}\n".encode(),
        mask=session.secrets.mask_bytes,
        folder=session.state / "output" / f"on_end-{mark[:8]}",
    )
    outcome = process.run(job, process.Limits(idle=limit, wall=limit), session.watch("on_end"))
    session.console.settle()
    for line in f"{outcome.stdout}{outcome.stderr}".splitlines():
        session.console.say(f"on_end: {line}")
    if outcome.cause is not process.Cause.EXIT:
        return f"was ended after {outcome.seconds:.0f} s ({outcome.cause})"
    return f"exited with {outcome.code}" if outcome.code else None
