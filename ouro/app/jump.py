"""Going back in a lineage, and taking that back: all or nothing, and nothing of the user's lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from ouro.app import history, recover, tags
from ouro.app.run import Run
from ouro.app.session import Session
from ouro.core import jumps
from ouro.core.chain import extend, seal
from ouro.core.events import Jump, LineageRestored, LineageRewound
from ouro.core.ids import branch_ref, tag_name
from ouro.core.lineage import Lineage, evolve, fold
from ouro.core.store import Stream
from ouro.errors import OuroError, UsageProblem
from ouro.git import checkout
from ouro.git.workspace import Workspace, shown


class Jumped(Struct, frozen=True, kw_only=True):
    """What a jump did, or with `dry_run` would do. `left` are the generations left behind, now
    tagged below `ooo/<id>/rewound_<n>/`; `files` the number of files of the code that differ;
    `commit` the new tip, None where nothing was done; `rescue` the ref that holds the user's work
    that was in the way; `undo` a command."""

    lineage_id: str
    action: str
    n: int
    from_generation: int
    to_generation: int
    left: tuple[int, ...]
    files: int
    old: str
    commit: str | None
    rescue: str | None
    undo: str
    dry_run: bool


class Aim(NamedTuple):
    """Where a jump goes: the kind of its fact, and the commit whose log and code come back."""

    kind: type[Jump]
    commit: str


def rewind(
    session: Session, to: int, *, dry_run: bool = False, force: bool = False, detach: bool = False
) -> Jumped | None:
    """Go back to the end of generation `to` (0: to the seed); None where the lineage is there.

    `force` saves the user's changes in the workspace to a rescue ref instead of refusing; `detach`
    also puts the user's own checkout on that generation. Raises UsageProblem where there is no such
    generation, OuroError where something of the user's is in the way, NotNow while a step works.
    """

    def aim(run: Run) -> Aim | None:
        events = run.stream.log.events
        length = jumps.length_at(events, to)
        commit = _commit_at(run, length, to)
        if detach:
            _refuse_to_lose(session, commit)
        return None if jumps.stands_at(events, length) else Aim(LineageRewound, commit)

    done = _jump(session, aim, dry_run=dry_run, force=force)
    if detach and not dry_run:
        _detach(session, to)
    return done


def undo(session: Session, *, dry_run: bool = False, force: bool = False) -> Jumped:
    """Take the last rewind back, with all that it left; or, after an undo, do it again.

    Raises UsageProblem where there was none, and otherwise as `rewind`.
    """

    def aim(run: Run) -> Aim | None:
        if run.lineage.left is None:
            raise UsageProblem(
                f"{run.lineage.id} was never rewound: there is nothing to undo",
                f"go back with: ouro rewind {run.lineage.id} --to N",
            )
        return Aim(LineageRestored, run.lineage.left)

    done = _jump(session, aim, dry_run=dry_run, force=force)
    assert done, "an undo always has somewhere to go"
    return done


def _commit_at(run: Run, length: int, generation: int) -> str:
    """The commit at which the log had its first `length` events."""
    end, store = run.stream.log.events[length - 1], run.session.store
    tagged = store.tagged(tag_name(run.lineage.id, generation)) if generation else None
    if tagged and store.ends_with(tagged, end) and run.session.repo.descends(run.tip, tagged):
        return tagged
    return store.commit_ending_with(end, run.tip)


# --- the jump itself ---------------------------------------------------------------------------


def _jump(
    session: Session, aim: Callable[[Run], Aim | None], *, dry_run: bool, force: bool
) -> Jumped | None:
    history.require(session.repo, session.options.lineage_id)
    if dry_run:
        run = Run(session, session.store.read())
        found = aim(run)
        return _plan(run, found).will if found else None
    with session.hold():
        recover.dead_step(session)
        with session.no_gc():
            run = Run(session, session.store.read())
            tags.put_right(run)
            found = aim(run)
            return _go(run, found, force=force) if found else None


class _Plan(NamedTuple):
    """Where a jump goes, and what that folds to; what it will do; its fact."""

    target: Stream
    state: Lineage
    will: Jumped
    fact: Jump


def _plan(run: Run, aim: Aim) -> _Plan:
    target = run.session.store.read_at(aim.commit)
    state = fold(target.log.events)
    assert state, "a commit of the lineage holds its log"
    fact = jumps.jump(aim.kind, run.lineage, run.tip, state, aim.commit)
    lineage_id = run.lineage.id
    will = Jumped(
        lineage_id=lineage_id,
        action="rewound" if aim.kind is LineageRewound else "restored",
        n=fact.n,
        from_generation=fact.from_generation,
        to_generation=fact.to_generation,
        left=jumps.left_behind(run.stream.log.events, target.log.events),
        files=run.session.repo.code_difference(run.tip, aim.commit),
        old=run.tip,
        commit=None,
        rescue=None,
        undo=f"ouro undo {lineage_id}",
        dry_run=True,
    )
    return _Plan(target, state, will, fact)


def _go(run: Run, aim: Aim, *, force: bool) -> Jumped:
    from msgspec.structs import replace

    session, old = run.session, run.tip
    target, state, will, fact = _plan(run, aim)
    workspace = workspace_of(run)
    saved = _clear_the_way(run, workspace, aim.commit, force=force) if workspace else None
    if workspace:
        checkout.refuse_move(workspace, old, aim.commit)
    generation = target.log.events[-1].generation
    events = seal([(generation, fact)], target.log, run.lineage.id, session.stamp)
    after = extend(target.log, events)
    changes = tags.jumped(run, after, evolve(state, events[0]), fact.n)
    run.stream = session.store.jump(run.stream, target, events[0], changes)
    if workspace:
        saved = checkout.move(workspace, old, run.tip, session.screen) or saved
    session.store.journal.settle()
    return replace(will, commit=run.tip, rescue=saved, dry_run=False)


def workspace_of(run: Run) -> Workspace | None:
    """The working tree that has to come along; where there is none, the next step makes one."""
    from ouro.git.worktrees import find

    workspace = find(run.session.repo, run.lineage.id, run.session.workspace_root)
    if workspace is None or not workspace.git_dir.is_dir():
        return None
    if doing := workspace.in_progress():
        raise OuroError(
            f"{workspace.root} is in the middle of {doing}", "finish or abort it there, then go on"
        )
    recover.wait_for_lock(workspace.git_dir / "index.lock", ours=workspace.ours)
    recover.rebuild_log_if_changed(run.session, workspace, run.tip)
    return workspace


def _clear_the_way(run: Run, workspace: Workspace, commit: str, *, force: bool) -> str | None:
    """Refuse what the user would lose, or, with `force`, save it: the ref that holds it."""
    changed = checkout.modified(workspace)
    coming = checkout.arriving(checkout.difference(workspace, run.tip, commit))
    blocking = checkout.in_the_way(workspace, coming | changed)
    if not changed and not blocking:
        return None
    if not force:
        names = recover.some([shown(path) for path in (*sorted(changed), *blocking)])
        what = "has changes that are not committed" if changed else "has files in the way"
        raise OuroError(
            f"{workspace.root} {what}: {names}",
            "move them away or commit them, or let --force save them to a rescue ref",
        )
    return checkout.set_aside(workspace, run.tip, changed, blocking, run.session.screen)


# --- the user's own checkout -------------------------------------------------------------------


def _refuse_to_lose(session: Session, commit: str) -> None:
    """Raise OuroError where putting the user's checkout on `commit` would cost the user something:
    git itself would overwrite ignored files."""
    repo = session.repo
    if repo.here is None:
        raise UsageProblem(
            "--checkout needs a working tree, and this repository is bare", "leave it out"
        )
    if repo.branch() == branch_ref(session.options.lineage_id):
        return
    tree = Workspace(repo, session.options.lineage_id, repo.here, repo.git_dir, ours=False)
    changed = checkout.modified(tree)
    coming = checkout.difference(tree, repo.head() or repo.empty_tree(), commit)
    lost = [*sorted(changed), *checkout.in_the_way(tree, checkout.arriving(coming))]
    if lost:
        what = "has changes that are not committed" if changed else "has files in the way"
        raise OuroError(
            f"{repo.here} {what}: {recover.some([shown(path) for path in lost])}",
            "commit, stash or move them away, or leave out --checkout",
        )


def _detach(session: Session, to: int) -> None:
    """Put the user's checkout on the generation that the lineage is at now."""
    repo, lineage_id = session.repo, session.options.lineage_id
    if repo.branch() == branch_ref(lineage_id):
        return
    revision = f"refs/tags/{tag_name(lineage_id, to)}" if to else branch_ref(lineage_id)
    git = repo.git_here()
    done = git.attempt("checkout", "--quiet", "--no-overwrite-ignore", "--detach", revision)
    if done.returncode != 0:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())
        raise OuroError(
            f"{repo.here} stays where it was: {said}", f"go there: git checkout --detach {revision}"
        )
    session.console.say(f"{repo.here} is at generation {to} (undo: git checkout -)")
