"""Mending what derives from the log, by the recovery that a step begins with."""

from __future__ import annotations

from ouro.app import history, recover, tags
from ouro.app.run import Run
from ouro.app.session import Session
from ouro.core.ids import hidden_ref
from ouro.errors import OuroError
from ouro.git import guard, worktrees


def mend(session: Session) -> list[OuroError]:
    """Put right what is ouro's own; what stood in the way of that. Rescue refs, and everything of
    the user's, stay as they are."""
    try:
        with session.hold():
            recover.dead_step(session)
            stream, _ = history.read(session.repo, session.options.lineage_id)
            _derived(Run(session, stream))
    except OuroError as said:
        return [said]
    return []


def _derived(run: Run) -> None:
    tags.put_right(run)
    tags.remake(run)
    _hidden(run)
    _pins(run)
    _workspace(run)


def _hidden(run: Run) -> None:
    blob, store = run.lineage.hidden, run.session.store
    if blob and store.hidden(blob) is not None:
        run.session.repo.git.run("update-ref", hidden_ref(run.lineage.id), blob)


def _pins(run: Run) -> None:
    repo = run.session.repo
    for ref, doubled in guard.pins(repo, run.lineage.id).items():
        if doubled:
            repo.git.run("update-ref", "-d", ref)


def _workspace(run: Run) -> None:
    """A workspace that is gone or lost its way is made or linked again; one that was never made
    waits for a step."""
    repo, name = run.session.repo, run.lineage.id
    place = worktrees.place(repo, name, run.session.workspace_root)
    if worktrees.registered(repo, name) or (place / ".git").is_file():
        workspace = run.workspace
        recover.wait_for_lock(workspace.git_dir / "index.lock", ours=workspace.ours)
