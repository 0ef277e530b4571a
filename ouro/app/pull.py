"""Pulling lineages from a remote: what is there is taken up, and what is only here is kept."""

from __future__ import annotations

import re
import socket
from dataclasses import replace as with_fields

from msgspec import Struct
from msgspec.structs import replace

from ouro.app import fork, jump, mailbox, recover, sync, tags
from ouro.app.run import Run
from ouro.app.session import Session
from ouro.core import jumps
from ouro.core.events import Event, Jump, LineageForked, NoteAdded
from ouro.core.ids import branch_ref, check_lineage_id, hidden_ref, rescue_prefix, tag_name
from ouro.core.lineage import Lineage, fold
from ouro.core.store import Stream
from ouro.errors import DamagedLog, OuroError, UsageProblem
from ouro.git import checkout
from ouro.git.event_store import GitEventStore, update
from ouro.git.refspecs import Fetched, There, fetch, look_at_all
from ouro.git.remote import Remote
from ouro.git.workspace import Workspace, pin_rescue, shown


class Pulled(Struct, frozen=True, kw_only=True):
    """What a pull did for one lineage: `outcome` is created, moved, same, ahead (only here is
    something new), apart (both are kept) or refused. `tags` counts those set or deleted, `fork` is
    the lineage that ours became, `rescue` the ref that holds the rest of it, `undo` commands."""

    lineage_id: str
    remote: str
    outcome: str
    old: str | None = None
    new: str | None = None
    tags: int = 0
    fork: str | None = None
    rescue: str | None = None
    reason: str | None = None
    hint: str | None = None
    undo: str | None = None


def pull(
    desk: sync.Desk, given: str | None, ids: tuple[str, ...]
) -> tuple[list[Pulled], OuroError | None]:
    """Pull lineages (none named: all that are there) from a remote; the first refusal stands
    beside what was done for each. Raises UsageProblem where there is no such remote or lineage,
    and Unreachable."""
    for name in ids:
        check_lineage_id(name)
    remote = sync.open_remote(desk, given)
    there = look_at_all(remote)
    if unknown := [name for name in ids if name not in there]:
        known = ", ".join(there) or "none"
        raise UsageProblem(f"{remote.name} has no lineage {unknown[0]}", f"lineages there: {known}")
    done: list[Pulled] = []
    refusal = None
    for name in ids or there:
        session = desk.session(check_lineage_id(name))
        try:
            with session.hold():
                done.append(pull_one(session, remote, there[name]))
        except (sync.Unreachable, UsageProblem):
            raise
        except OuroError as problem:
            refusal = refusal or problem
            done.append(
                Pulled(
                    lineage_id=name,
                    remote=remote.name,
                    outcome="refused",
                    reason=problem.message,
                    hint=problem.hint,
                )
            )
    return done, refusal


def pull_one(session: Session, remote: Remote, there: There) -> Pulled:
    """Take up what is `there` of the session's lineage, whose lock is held. Nothing is moved
    before what was fetched is read and found to continue what is here."""
    recover.dead_step(session)
    ours = session.store.read()
    done = Pulled(
        lineage_id=session.options.lineage_id,
        remote=remote.name,
        outcome="same",
        old=ours.revision,
        new=ours.revision,
    )
    if ours.revision and sync.continues(session.repo, ours.revision, there.branch):
        here = replace(done, outcome="same" if ours.revision == there.branch else "ahead")
        if _has_the_rest(session, there):
            return here
        return _take_the_rest(
            session, ours, fetch(session.repo, remote, done.lineage_id, there), here
        )
    fetched = fetch(session.repo, remote, done.lineage_id, there)
    theirs = _read(session, remote.name, fetched)
    if ours.revision is None:
        return _take(session, ours, theirs, fetched, replace(done, outcome="created"))
    if session.repo.descends(fetched.branch, ours.revision):
        _require_continued(session, ours.revision, fetched.branch, remote.name)
        return _take(session, ours, theirs, fetched, replace(done, outcome="moved"))
    return _keep_both(session, ours, theirs, fetched, replace(done, outcome="apart"))


def _has_the_rest(session: Session, there: There) -> bool:
    """Whether tags and hidden checks are here, too."""
    here = session.store.tag_objects()
    hidden = session.repo.ref(hidden_ref(session.options.lineage_id))
    all_tags = all(here.get(name) == made for name, made in there.tags.items())
    return all_tags and there.hidden in (None, hidden)


# --- what was fetched --------------------------------------------------------------------------


def _read(session: Session, remote: str, fetched: Fetched) -> Stream:
    try:
        return session.store.read_at(fetched.branch)
    except OuroError as problem:
        raise OuroError(
            f"what {remote} has cannot be taken up: {problem.message}",
            f"nothing was moved; {problem.hint or 'see who pushed that'}",
        ) from problem


def _require_continued(session: Session, old: str, new: str, remote: str) -> None:
    """Raise DamagedLog where the log at `new` does not continue the one at `old`, byte for byte or
    by jumps, commit for commit along first parents."""
    commit = new
    while commit != old:
        parents = session.repo.commit(commit).parent_ids
        before = str(parents[0]) if parents else None
        fault = _fault(session, before, commit) if before else "it does not go back to ours"
        if fault or before is None:
            raise DamagedLog(
                f"what {remote} has of {session.options.lineage_id} does not continue ours: "
                f"{commit[:12]}: {fault}",
                f"nothing was moved; see who did it: git log -p --text {old[:12]}..{new[:12]}",
            )
        commit = before


def _fault(session: Session, before: str, commit: str) -> str | None:
    """What is wrong with the log at `commit` as that after the one at its parent `before`."""
    store = session.store
    if store.continues(before, commit, session.options.lineage_id):
        return None
    *kept, last = store.read_at(commit).log.events
    if not isinstance(last.data, Jump):
        return "lines of the log are changed or gone"
    if not session.repo.has(last.data.commit):
        return "it jumps to a commit that is not in its history"
    target = store.read_at(last.data.commit).log.events
    if tuple(kept) != target or last.data.left != before:
        return "it jumps elsewhere than it says"
    return jumps.fault(last.data, store.read_at(before).log.events, before, target)


# --- moving ------------------------------------------------------------------------------------


def _take(
    session: Session,
    ours: Stream,
    theirs: Stream,
    fetched: Fetched,
    done: Pulled,
    elsewhere: frozenset[str] = frozenset(),
) -> Pulled:
    """Bring branch, tags, hidden checks and workspace from `ours` to `theirs`; the tag objects
    `elsewhere` are of generations that another lineage keeps."""
    run = Run(session, theirs)
    workspace = _movable(session, ours, theirs) if ours.revision else None
    changes = tags.taken_over(run, fetched.tags, elsewhere)
    hidden = _hidden(session, run.lineage, fetched)
    session.store.follow(ours.revision, run.tip, changes, hidden)
    saved = None
    if workspace and ours.revision:
        saved = checkout.move(workspace, ours.revision, run.tip, session.screen)
    session.store.journal.settle()
    return replace(
        done,
        new=run.tip,
        tags=len(changes.archived) + len(changes.moved),
        rescue=done.rescue or saved,
        undo=_undo(done.lineage_id, ours, theirs),
    )


def _undo(lineage_id: str, ours: Stream, theirs: Stream) -> str:
    if ours.revision is None:
        return f"git branch -D ooo/{lineage_id}; git tag -l 'ooo/{lineage_id}/*' | xargs git tag -d"
    return sync.way_back(lineage_id, ours.log.events, theirs.log.events)


def _take_the_rest(session: Session, ours: Stream, fetched: Fetched, done: Pulled) -> Pulled:
    run = Run(session, ours)
    changes, hidden = tags.taken_over(run, fetched.tags), _hidden(session, run.lineage, fetched)
    session.store.follow(run.tip, run.tip, changes, hidden)
    session.store.journal.settle()
    return replace(done, tags=len(changes.archived) + len(changes.moved))


def _hidden(session: Session, lineage: Lineage, fetched: Fetched) -> list[str]:
    ref = hidden_ref(lineage.id)
    here = session.repo.ref(ref)
    if fetched.hidden is None or fetched.hidden in (here, None) or fetched.hidden != lineage.hidden:
        return []
    return [update(ref, fetched.hidden, here)]


def _movable(session: Session, ours: Stream, theirs: Stream) -> Workspace | None:
    """The working tree that has to come along; raises OuroError where it holds something of the
    user's that would be lost."""
    assert ours.revision, "there is a branch"
    assert theirs.revision, "there is a branch"
    workspace = jump.workspace_of(Run(session, ours))
    if workspace is None:
        return None
    coming = checkout.arriving(checkout.difference(workspace, ours.revision, theirs.revision))
    changed = checkout.modified(workspace)
    if blocking := [*sorted(changed), *checkout.in_the_way(workspace, coming | changed)]:
        names = recover.some([shown(path) for path in blocking])
        raise OuroError(
            f"{workspace.root} has files that would be overwritten: {names}",
            "nothing was moved; stash them or move them away, then pull again",
        )
    checkout.refuse_move(workspace, ours.revision, theirs.revision)
    return workspace


# --- both went on ------------------------------------------------------------------------------


def _keep_both(
    session: Session, ours: Stream, theirs: Stream, fetched: Fetched, done: Pulled
) -> Pulled:
    """The remote's stays the lineage; ours becomes a fork at its newest completed generation, and
    what came after that is kept under a rescue ref."""
    mine = fold(ours.log.events)
    assert mine, "the lineage exists"
    assert ours.revision, "the lineage exists"
    length = jumps.length_at(ours.log.events, len(mine.generations))
    end = ours.log.events[length - 1]
    base = session.store.commit_ending_with(end, ours.revision)
    _movable(session, ours, theirs)  # before anything is made, what would keep us from going on
    name = None
    if not session.repo.descends(fetched.branch, base):
        name = _forked(session, len(mine.generations), base)
    rescue = _pinned(session, ours.revision) if base != ours.revision else None
    _queue_again(session, ours.log.events[length:], theirs)
    _tell(session, done.remote, len(mine.generations), name, rescue)
    present, id_ = session.store.tag_objects(), session.options.lineage_id
    kept = frozenset(present.get(tag_name(id_, n), "") for n in jumps.completions(ours.log.events))
    return _take(session, ours, theirs, fetched, replace(done, fork=name, rescue=rescue), kept)


def _tell(
    session: Session, remote: str, generation: int, name: str | None, rescue: str | None
) -> None:
    lineage_id, say = session.options.lineage_id, session.console.warn
    say(f"{remote} and this clone both went on with {lineage_id}: {remote}'s is {lineage_id} now")
    if name:
        say(
            f"yours, up to generation {generation}, is the lineage {name} now (go on with it: "
            f"ouro step --lineage-id {name}; compare: git diff ooo/{lineage_id} ooo/{name})"
        )
    if rescue:
        say(f"what was not finished after generation {generation} is kept: git log {rescue}")


def _forked(session: Session, generation: int, base: str) -> str:
    """Make our own branch a lineage of its own; its name. One that was made for the same, by a pull
    that was cut off, does."""
    source = session.options.lineage_id
    host = re.sub(r"[^a-z0-9_-]+", "-", socket.gethostname().partition(".")[0].lower()).strip("-")
    number = 1
    while True:
        end = f"-{host[:20] or 'here'}-g{generation}" + (f"-{number}" if number > 1 else "")
        name = check_lineage_id(source[: 64 - len(end)] + end)
        new = with_fields(session, options=with_fields(session.options, lineage_id=name))
        if not session.repo.ref(branch_ref(name)):
            return fork.fork(new, source, None, None).lineage_id
        if _is_fork_at(session, name, base):
            fork.finish(new)
            return name
        number += 1


def _is_fork_at(session: Session, name: str, base: str) -> bool:
    events = GitEventStore(session.repo, name).read().log.events
    fact = events[jumps.beginning(events)].data
    return isinstance(fact, LineageForked) and fact.commit == base


def _pinned(session: Session, tip: str) -> str:
    """The rescue ref that holds `tip`."""
    lineage_id = session.options.lineage_id
    kept = session.repo.refs(rescue_prefix(lineage_id))
    there = next((name for name, commit in kept.items() if commit == tip), None)
    return there or pin_rescue(session.repo, lineage_id, tip)


def _queue_again(session: Session, left: tuple[Event, ...], theirs: Stream) -> None:
    """Notes that people wrote for the lineage are for its next step, wherever that goes on."""
    known = {event.id for event in theirs.log.events}
    for event in left:
        if isinstance(event.data, NoteAdded) and event.id not in known:
            mailbox.queue_note(session.state, (event.id, event.at), event.data.text)
