"""A new workspace is made ready, once, before any agent works in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ouro.app import recover
from ouro.app.phase import marked
from ouro.app.run import Run
from ouro.app.session import Session
from ouro.app.shell import Command, run_shell
from ouro.errors import NeedsPerson
from ouro.git.journal import write_durably
from ouro.git.workspace import Workspace
from ouro.git.worktrees import find

if TYPE_CHECKING:
    from ouro.agents.process import Outcome

LAST_LINES = 10
"""So many lines of a failing command's output are shown."""


class Preparation(Struct, frozen=True, kw_only=True):
    """What a workspace is made ready with."""

    copy: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()


def workspace(run: Run) -> None:
    """Do what the settings ask for, unless just that was done in this workspace already.

    Raises NeedsPerson where a command fails: the next step begins again with the first. A checkout
    of the user's own is left as it is.
    """
    settings = run.session.config.settings
    wanted = Preparation(copy=settings.copy, setup=settings.setup)
    if not run.workspace.ours or _made_ready_with(run.workspace) == wanted:
        return
    if settings.copy:
        from ouro.git.copies import copy_into

        for line in copy_into(run.session.repo, run.lineage.id, run.workspace, settings.copy):
            run.session.console.warn(line)
    if settings.setup:
        _set_up(run, settings.setup)
    write_durably(run.workspace.prepared, msgspec.json.encode(wanted))


def pending(session: Session) -> list[str]:
    """What would be done before the next agent, for people; nothing is written."""
    settings, options = session.config.settings, session.options
    wanted = Preparation(copy=settings.copy, setup=settings.setup)
    found = find(session.repo, options.lineage_id, session.workspace_root)
    if found and (not found.ours or _made_ready_with(found) == wanted):
        return []
    said = [] if found else ["the workspace is made"]
    said += [f"copied into it: {', '.join(settings.copy)}"] if settings.copy else []
    limit = f"at most {settings.wall_limit:g} s"
    return said + [f"setup: {command} ({limit})" for command in settings.setup]


def _made_ready_with(workspace: Workspace) -> Preparation:
    """What the workspace was made ready with."""
    path = workspace.prepared
    if not path.is_file():
        return Preparation()
    return msgspec.json.decode(path.read_bytes(), type=Preparation)


def _set_up(run: Run, commands: tuple[str, ...]) -> None:
    with marked(run, recover.SETUP) as marker:
        tried = (_failure(run, n, text, marker.run) for n, text in enumerate(commands, start=1))
        failed = next(filter(None, tried), None)
        recover.restore_branch(run.session, run.tip)
        undone = run.workspace.reset(run.tip)
    if failed:
        raise failed
    if undone:
        run.session.console.warn(
            f"setup changed files that are not ignored, put back: {recover.some(undone)}"
        )


def _failure(run: Run, number: int, text: str, mark: str) -> NeedsPerson | None:
    console, limit = run.session.console, run.session.config.settings.wall_limit
    console.say(f"setup: {text}")
    command = Command(text=text, name=f"setup-{number}", phase=recover.SETUP, limit=limit)
    outcome = run_shell(run, command, mark)
    how = _how(outcome)
    if how is None:
        return None
    lines = f"{outcome.stdout}{outcome.stderr}".strip().splitlines()[-LAST_LINES:]
    for line in lines:
        console.say(f"  {line}")
    said = f": {lines[-1].strip()}" if lines else ""
    return NeedsPerson(
        f"setup failed: `{text}` {how}{said}",
        f"mend it; the next step runs setup again (its output: {outcome.folder})",
    )


def _how(outcome: Outcome) -> str | None:
    """How a command failed, None where it did not."""
    from ouro.agents.process import Cause

    if outcome.cause is Cause.EXIT:
        return f"exited with {outcome.code}" if outcome.code else None
    return f"was ended after {outcome.seconds:.0f} s ({outcome.cause})"
