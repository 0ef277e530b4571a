"""Pushing lineages to a remote: each one whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

from ouro.app import history, sync, tags
from ouro.app.run import Run
from ouro.app.session import Session
from ouro.core.ids import branch_ref, check_lineage_id, hidden_ref
from ouro.errors import NotNow, OuroError, UsageProblem
from ouro.git.refspecs import TAGS, There, look_at_all
from ouro.git.remote import Remote, Update


class Apart(NotNow):
    """The remote has work on the lineage that is not here."""


class Change(Struct, frozen=True):
    """A ref at the remote: from `old` (None: it is new) to `new` (None: it is deleted)."""

    ref: str
    old: str | None
    new: str | None


class Pushed(Struct, frozen=True, kw_only=True):
    """What a push did for one lineage, or with `dry_run` would do: `outcome` is pushed, same or
    refused, for which `reason` and `hint` stand. `undo` are commands."""

    lineage_id: str
    remote: str
    outcome: str
    changes: tuple[Change, ...] = ()
    reason: str | None = None
    hint: str | None = None
    undo: str | None = None
    dry_run: bool = False


def push(
    desk: sync.Desk, given: str | None, ids: tuple[str, ...], *, dry_run: bool = False
) -> tuple[list[Pushed], OuroError | None]:
    """Push lineages (none named: all that are here) to a remote; the first refusal stands beside
    what was done for each. Raises UsageProblem where there is no such remote or lineage, and
    Unreachable."""
    for name in ids:
        check_lineage_id(name)
    remote = sync.open_remote(desk, given)
    here = history.ids(desk.repo)
    if unknown := [name for name in ids if name not in here]:
        raise UsageProblem(
            f"there is no lineage {unknown[0]} here", f"lineages here: {', '.join(here) or 'none'}"
        )
    there = look_at_all(remote)
    done: list[Pushed] = []
    refusal = None
    for name in ids or here:
        session = desk.session(name)
        try:
            done.append(_push_one(session, remote, there.get(name, sync.NOTHING), dry_run=dry_run))
        except (sync.Unreachable, UsageProblem):
            raise
        except OuroError as problem:
            refusal = refusal or problem
            done.append(_refused(name, remote.name, problem, dry_run=dry_run))
    return done, refusal


def _push_one(session: Session, remote: Remote, there: There, *, dry_run: bool) -> Pushed:
    lineage_id = session.options.lineage_id
    wanted = updates(session, remote.name, there)
    if there.lease and wanted:
        session.console.warn(
            f"a step works on {lineage_id} at {remote.name}: what it makes will stand beside this"
        )
    if wanted and not dry_run:
        remote.push(wanted)
    old = dict(there.tags) | {branch_ref(lineage_id): there.branch}
    return Pushed(
        lineage_id=lineage_id,
        remote=remote.name,
        outcome="pushed" if wanted else "same",
        changes=tuple(_change(update, old) for update in wanted),
        undo=_undo(session, remote.name, wanted, there) if wanted else None,
        dry_run=dry_run,
    )


def _change(update: Update, old: Mapping[str, str | None]) -> Change:
    return Change(update.ref, update.old or old.get(update.ref), update.new)


def _undo(session: Session, remote: str, wanted: list[Update], there: There) -> str:
    lineage_id, store = session.options.lineage_id, session.store
    if there.branch is None:
        return f"git push {remote} {' '.join(f':{update.ref}' for update in wanted)}"
    if all(update.ref != branch_ref(lineage_id) for update in wanted):
        were = (f"+{u.old}:{u.ref}" if u.old else f":{u.ref}" for u in wanted)
        return f"git push {remote} {' '.join(were)}"
    before, after = store.read_at(there.branch).log, store.read().log
    back = sync.way_back(lineage_id, before.events, after.events)
    return f"{back}; ouro push {remote} {lineage_id}"


def _refused(lineage_id: str, remote: str, problem: OuroError, *, dry_run: bool) -> Pushed:
    return Pushed(
        lineage_id=lineage_id,
        remote=remote,
        outcome="refused",
        reason=problem.message,
        hint=problem.hint,
        dry_run=dry_run,
    )


# --- what is to be pushed ----------------------------------------------------------------------


class _Tags(NamedTuple):
    here: Mapping[str, str]
    there: There

    def archived_objects(self) -> set[str]:
        return {made for name, made in self.here.items() if tags.is_archived(name)}


def updates(session: Session, remote: str, there: There) -> list[Update]:
    """What makes the lineage at the remote, as it is `there`, the one that is here; the branch
    first. Raises Apart where that has something that this one does not continue."""
    store, lineage_id = session.store, session.options.lineage_id
    # The tags before the branch: a step that works may add to both meanwhile.
    named = _Tags(store.tag_objects(), there)
    stream, lineage = history.read(session.repo, lineage_id)
    tip = stream.revision
    assert tip, "a lineage that can be read has a tip"
    if there.branch not in (None, tip) and not sync.continues(session.repo, tip, there.branch):
        raise Apart(
            f"{remote} has work on {lineage_id} that is not here",
            f"nothing was pushed; take it up first: ouro pull {remote} {lineage_id}",
        )
    hidden = session.repo.ref(hidden_ref(lineage_id))
    found = [Update(branch_ref(lineage_id), tip)] if there.branch != tip else []
    found += _new_tags(Run(session, stream), named)
    found += [*_moved_tags(session, named), *_left_tags(named)]
    if hidden and hidden == lineage.hidden and there.hidden != hidden:
        found.append(Update(hidden_ref(lineage_id), hidden, there.hidden))
    if lineage.hidden and not hidden and not there.hidden:
        session.console.warn(
            f"the hidden checks of {lineage_id} are neither here nor at {remote}: push them from "
            "where the lineage was created"
        )
    return found


def _new_tags(run: Run, named: _Tags) -> list[Update]:
    """Tags of the lineage's own log that are not there yet; what else has such a name stays."""
    new = {name: made for name, made in named.here.items() if name not in named.there.tags}
    return [Update(TAGS + name, made) for name, made in tags.fitting(run, new).items()]


def _moved_tags(session: Session, named: _Tags) -> Iterator[Update]:
    """Generation tags that a jump moved; archived ones never move, and another tag object on the
    same commit is as good."""
    for name, old in named.there.tags.items():
        made = named.here.get(name)
        if made is None or made == old or tags.is_archived(name) or not tags.is_generation(name):
            continue
        if session.store.tagged(name) != named.there.commits[name]:
            yield Update(TAGS + name, made, old)


def _left_tags(named: _Tags) -> Iterator[Update]:
    """Generations that a rewind left: their tags go, as they are kept under another name."""
    kept = named.archived_objects()
    for name, old in named.there.tags.items():
        if name not in named.here and not tags.is_archived(name) and old in kept:
            yield Update(TAGS + name, None, old)
