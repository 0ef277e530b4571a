"""Putting things right: what a dead or interrupted step left is saved, and everything that derives
from the log is made again from it."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from pathlib import Path

from ouro.app.run import Run
from ouro.app.session import Session
from ouro.core.brief import Phase
from ouro.core.events import EvolveStepInterrupted
from ouro.core.ids import branch_ref, hidden_ref
from ouro.errors import NeedsPerson, OuroError
from ouro.git import guard
from ouro.git.journal import Marker, clear_torn
from ouro.git.left_out import LeftOutPaths
from ouro.git.workspace import Workspace, pin_rescue, shown

SETUP = "setup"
"""What a marker says while a new workspace is made ready."""
LOCK_GRACE = 1.0
"""Seconds that a lock of ours may still be held by a git process that outlived its step."""


def dead_step(session: Session) -> None:
    """Finish or undo what a step that died was in the middle of. The lineage's lock is held, so
    every trace of a step is a dead one's."""
    journal = session.store.journal
    if marker := journal.marker():
        session.console.say(f"an earlier step ended in the middle of {marker.phase}: recovering")
        # A copy of a repository has the marker of a step that may still work in the original.
        if marker.is_of(session.repo.common):
            _end_processes(session, marker)
    clear_torn(session.state)
    _clear_stale_locks(session)
    if marker:
        for line in guard.put_right_after_death(session.repo, session.options.lineage_id):
            session.console.warn(line)
        with session.no_gc():
            committed = _settle_branch(session, marker)
            run = Run(session, session.store.read())
            abandon(run, marker, committed=committed)
    elif journal.intent():
        _finish_append(session)


def abandon(run: Run, marker: Marker, *, committed: bool = False) -> None:
    """Save what the marked run changed, put the workspace back, say so in the log; or, where its
    result was committed, only bring the workspace in step with that."""
    workspace = _marked_workspace(run, marker)
    if not committed:
        saved = rescue(run, workspace, marker, "interrupted")
        run.record([EvolveStepInterrupted(phase=marker.phase, rescue=saved)])
        if saved:
            run.session.console.say(f"the unfinished work was saved: git show {saved}")
    # Only now: a death before the record would find nothing to save, and record that.
    if workspace:
        workspace.reset(run.tip)
    run.session.store.journal.unmark()


def rescue(run: Run, workspace: Workspace | None, marker: Marker, why: str) -> str | None:
    """Save what a run left unfinished; the ref, if there was anything. What checks and setup leave
    is no work, and a hidden one's traces would be there for every agent to read."""
    if workspace is None or marker.phase in (Phase.EVALUATE, SETUP):
        return None
    return workspace.rescue(run.tip, f"{marker.phase} {why}", run.session.screen)


def _finish_append(session: Session) -> None:
    """Bring the workspace in step with a branch that a dead step moved, or was about to move."""
    from ouro.git.worktrees import find

    stream = session.store.read()
    workspace = find(session.repo, session.options.lineage_id, session.workspace_root)
    if stream.revision and workspace:
        wait_for_lock(workspace.git_dir / "index.lock", ours=workspace.ours)
        _finish_jump(session, workspace, stream.revision)
        changed = workspace.changes()
        if any(_in_log(session, path) for path in changed):
            workspace.rebuild_log(stream.revision)
    session.store.journal.settle()


def _finish_jump(session: Session, workspace: Workspace, tip: str) -> None:
    """Bring the workspace along with a jump that was cut off once the branch had moved."""
    from ouro.git import checkout

    intent = session.store.journal.intent()
    if not intent or not intent.old or intent.new != tip:
        return
    changes = checkout.difference(workspace, intent.old, tip)
    if all(_in_log(session, shown(change.path)) for change in changes):
        return
    if saved := checkout.move(workspace, intent.old, tip, session.screen):
        session.console.warn(f"what was in the way of the jump is saved: git show {saved}")


def _end_processes(session: Session, marker: Marker) -> None:
    from ouro.agents.leftovers import can_find_marked, end_marked
    from ouro.agents.output import settle_output

    path = session.store.journal.marker_path
    if marker.host != socket.gethostname() or not can_find_marked():
        raise NeedsPerson(
            f"a run of {marker.phase} began on {marker.host} as process {marker.pid}, and whether "
            "its agent still works cannot be seen from here",
            f"make sure that nothing works in {marker.worktree}, then remove {path}",
        )
    if ended := end_marked(marker.run):
        session.console.say(f"ended {ended} processes that it had left running")
    for folder in (session.state / "output").glob(f"*-{marker.run[:8]}"):
        settle_output(folder, session.secrets.mask_bytes)


def _settle_branch(session: Session, marker: Marker) -> bool:
    """Put the branch where ouro last had it; whether the marked run's result is in it."""
    repo, ref = session.repo, session.store.ref
    now, intent = repo.ref(ref), session.store.journal.intent()
    ours = intent.new if intent and intent.old == marker.tip and intent.new != marker.tip else None
    if ours and now and repo.descends(now, ours):
        restore_branch(session, ours)
        return True
    restore_branch(session, marker.tip)
    return False


def restore_branch(session: Session, tip: str, adopted: Sequence[str] = ()) -> None:
    """Undo what an agent did to the branch; commits that only it held, and that are in the history
    of no adopted one, are pinned."""
    repo, ref = session.repo, session.store.ref
    now = repo.ref(ref)
    symbolic = repo.is_symbolic(ref)
    if now == tip and not symbolic:
        return
    if now and not any(repo.descends(kept, now) for kept in (tip, *adopted)):
        if unfit(session, now, tip):
            session.console.warn(
                f"{ref} was moved; its commits hold secrets or left out files, and are not kept"
            )
        else:
            pinned = pin_rescue(repo, session.options.lineage_id, now)
            session.console.warn(f"{ref} was moved; what it held is kept: git log {pinned}")
    # What a symbolic ref of the agent's leads to is not the lineage's: it stays where it is.
    old = () if symbolic else (now or "0" * len(tip),)
    repo.git.run("update-ref", "--no-deref", ref, tip, *old)


def unfit(session: Session, commit: str, tip: str) -> bool:
    """Whether an agent's own commits since `tip` have a secret in a file or a message, or a file
    that is left out of generations."""
    if LeftOutPaths(session.repo, session.options.lineage_id).in_commits(commit, tip):
        return True
    objects = session.repo.new_objects(commit, tip)
    return any(session.secrets.in_bytes(content) for content in objects)


def _marked_workspace(run: Run, marker: Marker) -> Workspace | None:
    """The workspace as the marker names it: an agent may have switched its branch. None where
    the folder is gone; a new one is made when it is needed. A copy's own where it is the original's
    that is marked."""
    from ouro.git.worktrees import reopen

    if not marker.is_of(run.session.repo.common):
        return run.workspace
    return reopen(run.session.repo, run.lineage.id, Path(marker.worktree))


# --- before work -------------------------------------------------------------------------------


def require_clean(run: Run) -> None:
    """The workspace at the tip, without anybody's unsaved changes; raises OuroError that names
    them: what changed while no agent ran is the user's."""
    workspace = run.workspace
    if doing := workspace.in_progress():
        raise OuroError(
            f"{workspace.root} is in the middle of {doing}", "finish or abort it there, then go on"
        )
    wait_for_lock(workspace.git_dir / "index.lock", ours=workspace.ours)
    if theirs := users_changes(run.session, workspace):
        raise OuroError(
            f"{workspace.root} has changes that no agent of ouro made: {some(theirs)}",
            "commit them there (they become part of the lineage), stash or remove them",
        )
    rebuild_log_if_changed(run.session, workspace, run.tip)


def users_changes(session: Session, workspace: Workspace) -> list[str]:
    """Paths, for people, that differ from the tip and are not the log's files."""
    return [path for path in workspace.changes() if not _in_log(session, path)]


def rebuild_log_if_changed(session: Session, workspace: Workspace, tip: str) -> None:
    """The log's files in the workspace are derived: whoever changed them changed nothing."""
    if any(_in_log(session, path) for path in workspace.changes()):
        workspace.rebuild_log(tip)


def _in_log(session: Session, path: str) -> bool:
    return path.startswith(f".ouro/lineages/{session.options.lineage_id}/")


def some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return ", ".join(paths[:5]) + more


def _clear_stale_locks(session: Session) -> None:
    """Remove locks on the lineage's refs that a killed git left behind: git gives them no owner,
    but the lineage's lock says that neither a step nor a git of one works on them now."""
    for path in ref_locks(session):
        wait_for_lock(path, ours=True)


def ref_locks(session: Session) -> list[Path]:
    """git's locks on the lineage's refs that are there now."""
    lineage_id, common = session.options.lineage_id, session.repo.common
    files = [common / f"{ref}.lock" for ref in (branch_ref(lineage_id), hidden_ref(lineage_id))]
    kept = [f"refs/ouro/{kind}/{lineage_id}" for kind in ("rescue", "pins")]
    for folder in (f"refs/tags/ooo/{lineage_id}", *kept):
        files += (common / folder).rglob("*.lock")
    return [path for path in files if path.exists()]


def wait_for_lock(path: Path, *, ours: bool) -> None:
    """Give a git process that may still live a moment; then remove a lock that is ours."""
    deadline = time.monotonic() + LOCK_GRACE
    while path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    if ours:
        path.unlink(missing_ok=True)
