"""Landing: a generation's code onto a branch of the user's, without ouro's own folder."""

from __future__ import annotations

from contextlib import nullcontext
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ouro.app import history, recover
from ouro.app.session import Session
from ouro.core import landing as texts
from ouro.core.events import Event, Jump
from ouro.core.ids import tag_name
from ouro.core.jumps import completions
from ouro.core.lineage import Generation, Lineage
from ouro.core.selector import require_generation
from ouro.core.store import Stream
from ouro.core.story import cut
from ouro.errors import OuroError, UsageProblem
from ouro.git import landing as git
from ouro.git.repository import Repo
from ouro.git.workspace import shown

LINEAGES = "refs/heads/ooo/"
UNBORN_AGAIN = "git update-ref -d HEAD; git reset --merge"


class Landed(Struct, frozen=True, kw_only=True):
    """What landing did. `state` is landed, nothing (it is there already), conflicts or staged (in
    the checkout, for the user to go on with), or planned (nothing was done). `source` is the
    lineage's commit, `base` the one since which its changes count, `old` and `commit` the branch
    before and after; `open` is what keeps the generation from being approved; `next` and `undo`
    are what to do."""

    lineage_id: str
    generation: int
    source: str
    branch: str
    mode: str
    state: str
    base: str | None
    old: str | None
    commit: str | None
    files: int
    conflicts: tuple[str, ...]
    open: tuple[str, ...]
    reason: str
    next: str
    undo: str


class Target(NamedTuple):
    """A branch: its full name, its commit (None while it has none), and whether it is checked out
    where the user stands."""

    ref: str
    tip: str | None
    here: bool

    @property
    def name(self) -> str:
        return self.ref.removeprefix("refs/heads/")


class Chosen(NamedTuple):
    """What is to land: `commit` has the code of `generation`."""

    lineage: Lineage
    generation: Generation
    commit: str


class PullRequest(Struct, frozen=True):
    title: str
    body: str


def pull_request(session: Session, at: str) -> PullRequest:
    """Title and text of a pull request for the generation named `at`."""
    chosen = _chosen(session, at)
    return PullRequest(texts.title(chosen.lineage), texts.pull_request(*chosen))


def land(session: Session, into: str | None, at: str, *, merge: bool, dry_run: bool) -> Landed:
    """Bring the code of the generation named `at` onto the branch `into` (None: the one that is
    checked out), as one commit or, with `merge`, as a merge of the lineage.

    Raises UsageProblem where there is no such generation or branch, OuroError where something of
    the user's is in the way.
    """
    chosen, target = _chosen(session, at), _target(session.repo, into)
    if merge and target.tip is None:
        raise UsageProblem(f"{target.name} has no commit yet to merge with", "use --squash")
    will = _plan(chosen, target, "merge" if merge else "squash")
    if reason := _there_already(session.repo, chosen, target):
        return replace(will, state="nothing", reason=reason)
    if target.here:
        _require_ready_checkout(session.repo, session.options.lineage_id)
    # In a checkout git makes the commit, as for the user; elsewhere its parts are ours to keep.
    with nullcontext() if target.here or dry_run else session.no_gc():
        return _merge(session, chosen, target, will, dry_run=dry_run)


def _plan(chosen: Chosen, target: Target, mode: str) -> Landed:
    return Landed(
        lineage_id=chosen.lineage.id,
        generation=chosen.generation.number,
        source=chosen.commit,
        branch=target.name,
        mode=mode,
        state="planned",
        base=None,
        old=target.tip,
        commit=None,
        files=0,
        conflicts=(),
        open=texts.objections(chosen.generation, chosen.lineage.policy.qa),
        reason="",
        next="",
        undo="",
    )


def _merge(
    session: Session, chosen: Chosen, target: Target, will: Landed, *, dry_run: bool
) -> Landed:
    repo, merge = session.repo, will.mode == "merge"
    base = _base(repo, chosen, target, merge=merge)
    sides = git.sides(repo, target.tip, base, chosen.commit, texts.message(*chosen))
    merged = git.merge(repo, sides)
    will = replace(
        will,
        base=base,
        files=repo.code_difference(target.tip or repo.empty_tree(), merged.tree),
        conflicts=tuple(map(shown, merged.conflicts)),
    )
    if not merged.conflicts and will.files == 0:
        reason = f"{target.name} holds all that {_name(chosen)} brings"
        return replace(will, state="nothing", reason=reason)
    if target.here:
        _refuse_changes(repo, merged.tree)
        _refuse_files_in_the_way(session, target, merged.tree)
    if will.open:
        open_points = recover.some([cut(line, 100) for line in will.open])
        session.console.warn(f"{_name(chosen)} is not approved: {open_points}")
    if dry_run:
        return will
    if target.here:
        return _in_checkout(repo, sides, chosen.commit if merge else None, will)
    return _elsewhere(repo, chosen, target, merged, will)


# --- what, and where to ------------------------------------------------------------------------


def _chosen(session: Session, at: str) -> Chosen:
    stream, lineage = history.look(session.repo, session.options.lineage_id)
    ends = completions(stream.log.events)
    if not ends:
        raise OuroError(
            f"{lineage.id} has completed no generation yet", f"see: ouro status {lineage.id}"
        )
    generation = require_generation(at, lineage)
    if generation.number not in ends:
        raise OuroError(
            f"{tag_name(lineage.id, generation.number)} is not completed yet",
            "leave out --at, for the newest that is",
        )
    assert stream.revision, "a lineage that can be read has a tip"
    end = _newest_end(stream, ends[generation.number])
    commit = session.store.commit_ending_with(end, stream.revision)
    return Chosen(lineage, generation, commit)


def _newest_end(stream: Stream, end: Event) -> Event:
    """The last event at which the lineage stood at that generation's end: a jump back to it comes
    later in the history than what it left, which may have landed already."""
    for event in stream.log.events[end.seq :]:
        if not isinstance(event.data, Jump):
            break
        end = event
    return end


def _name(chosen: Chosen) -> str:
    return tag_name(chosen.lineage.id, chosen.generation.number)


def _target(repo: Repo, into: str | None) -> Target:
    here = repo.branch() if repo.here else None
    if into is None and here is None:
        where = "no branch is checked out here" if repo.here else "this repository is bare"
        raise UsageProblem(f"{where}: where should it land?", "name a branch: --into BRANCH")
    ref = here if into is None else f"refs/heads/{into.removeprefix('refs/heads/')}"
    assert ref, "one of the two is there"
    if ref.startswith(LINEAGES):
        raise UsageProblem(
            f"{ref.removeprefix('refs/heads/')} is the branch of a lineage",
            "name a branch of yours: --into BRANCH",
        )
    tip = repo.branch_tip(ref)
    if tip is None and ref != here:
        raise UsageProblem(f"there is no branch {into!r} here", f"make it: git branch {into}")
    if ref != here:
        _refuse_checked_out_elsewhere(repo, ref)
    return Target(ref, tip, ref == here)


def _refuse_checked_out_elsewhere(repo: Repo, ref: str) -> None:
    from ouro.git.worktrees import listed

    for tree in listed(repo):
        if tree.branch == ref and tree.path.is_dir():
            raise OuroError(
                f"{ref.removeprefix('refs/heads/')} is checked out in {tree.path}",
                "land there: its files have to come along",
            )


def _require_ready_checkout(repo: Repo, lineage_id: str) -> None:
    from ouro.git.workspace import Workspace

    assert repo.here, "a branch is checked out here"
    tree = Workspace(repo, lineage_id, repo.here, repo.git_dir, ours=False)
    if doing := tree.in_progress():
        raise OuroError(f"{repo.here} is in the middle of {doing}", "finish or abort it, then land")


def _refuse_changes(repo: Repo, tree: str) -> None:
    """`tree` is what the branch is to become."""
    if changed := git.changes(repo):
        names = recover.some([shown(path) for path in changed])
        # Nothing of the user's is in them then: a landing was killed before its commit.
        known = git.holds_exactly(repo, tree)
        raise OuroError(
            f"{repo.here} has changes that are not committed: {names}",
            "a landing that was cut off left them; take them back, then land: git reset --merge"
            if known
            else "commit or stash them, then land",
        )


def _refuse_files_in_the_way(session: Session, target: Target, tree: str) -> None:
    """git overwrites ignored files that are in the way."""
    from ouro.git import checkout
    from ouro.git.workspace import Workspace

    repo = session.repo
    assert repo.here, "a branch is checked out here"
    at = Workspace(repo, session.options.lineage_id, repo.here, repo.git_dir, ours=False)
    coming = checkout.arriving(checkout.difference(at, target.tip or repo.empty_tree(), tree))
    if blocking := checkout.in_the_way(at, coming):
        names = recover.some([shown(path) for path in blocking])
        raise OuroError(
            f"{repo.here} has files in the way that are in no commit: {names}",
            "move them away, then land",
        )


# --- since when its changes count --------------------------------------------------------------


def _there_already(repo: Repo, chosen: Chosen, target: Target) -> str:
    """Why there is nothing to land, "" where there may be."""
    if target.tip is None:
        return ""
    for landing in _landings(repo, chosen, target.tip):
        if _knows(repo, landing.source, chosen.commit):
            newer = "" if landing.source == chosen.commit else " and something newer"
            return f"{target.name} has it{newer}, since {landing.commit[:12]}"
    return ""


def _landings(repo: Repo, chosen: Chosen, tip: str) -> list[git.Landing]:
    known = [f"^{commit}" for commit in git.merge_bases(repo, tip, chosen.commit)]
    return git.landings(repo, tip, *known)


def _knows(repo: Repo, commit: str, ancestor: str) -> bool:
    """Whether `ancestor` is in the history of `commit`; one that is not here is in none."""
    there = all(repo.has(revision) for revision in (commit, ancestor))
    return there and repo.descends(commit, ancestor)


def _base(repo: Repo, chosen: Chosen, target: Target, *, merge: bool) -> str | None:
    """The newest commit of the lineage's history whose code the branch has: the lineage's own base,
    unless branch and lineage were merged since, or a generation landed.

    A merge brings the whole history, so where the branch lacks what the lineage began with, that
    has to come along: then only what git itself finds in common counts.
    """
    if target.tip is None:
        return None
    common, began = git.merge_bases(repo, target.tip, chosen.commit), chosen.lineage.base
    if merge and began and not _knows(repo, target.tip, began):
        return common[0] if common else None
    landed = [landing.source for landing in _landings(repo, chosen, target.tip)]
    best = began
    for commit in (*common, *reversed(landed)):
        if _knows(repo, chosen.commit, commit) and (best is None or _knows(repo, commit, best)):
            best = commit
    return best


# --- doing it ----------------------------------------------------------------------------------


def _in_checkout(repo: Repo, sides: git.Sides, second: str | None, will: Landed) -> Landed:
    conflicts = git.apply(repo, sides, second)
    if conflicts:
        return replace(
            will,
            state="conflicts",
            conflicts=tuple(map(shown, conflicts)),
            next="edit and `git add` them, then `git commit`: the message waits",
            undo="git merge --abort" if second else "git cherry-pick --abort",
        )
    made = git.commit_staged(repo)
    if made is None:
        return replace(
            will,
            state="staged",
            conflicts=(),
            reason="git commit refused",
            next="put right what it says above, then `git commit`: the message waits",
            undo="git merge --abort" if second else "git reset --merge",
        )
    undo = f"git reset --keep {will.old}" if will.old else UNBORN_AGAIN
    return replace(will, state="landed", conflicts=(), commit=made, undo=undo)


def _elsewhere(
    repo: Repo, chosen: Chosen, target: Target, merged: git.Merged, will: Landed
) -> Landed:
    assert target.tip, "a branch that is not checked out has a commit"
    if merged.conflicts:
        raise OuroError(
            f"{target.name} and {_name(chosen)} both changed {recover.some(will.conflicts)}",
            f"check it out and land there: git switch {target.name}",
        )
    parents = [target.tip, *([chosen.commit] if will.mode == "merge" else [])]
    made = git.commit(repo, merged.tree, parents, texts.message(*chosen))
    git.move_branch(repo, target.ref, made, target.tip, f"ouro land: {_name(chosen)}")
    undo = f"git update-ref {target.ref} {target.tip} {made}"
    return replace(will, state="landed", commit=made, undo=undo)
