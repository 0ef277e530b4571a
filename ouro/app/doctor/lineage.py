"""What concerns one lineage: its log, and everything that derives from it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ouro.app import history, mailbox, recover
from ouro.app.doctor import Finding, note, ok, problem, refused
from ouro.app.session import Session
from ouro.core.ids import branch_ref, hidden_ref, tag_name
from ouro.core.jumps import completions
from ouro.core.lineage import Lineage
from ouro.core.store import Stream
from ouro.core.story import counted
from ouro.errors import NeedsPerson, OuroError
from ouro.git import guard, lock, worktrees
from ouro.git.workspace import Workspace


def findings(session: Session) -> list[Finding]:
    """What a lineage's own things look like; raises nothing that is wrong with it."""
    name = session.options.lineage_id
    if lock.is_held(session.state):
        holder = lock.last_holder(session.state)
        by = f"process {holder.pid}" if holder else "a process"
        return [ok(name, f"{by} works on it now: the rest is not looked at")]
    try:
        stream, lineage = history.read(session.repo, name)
        return [
            _log(session, stream, lineage),
            *_dead_step(session),
            *_tags(session, stream, lineage),
            *_workspace(session),
            *_hidden(session, lineage),
            *_notes(session),
            *_pins(session),
        ]
    except OuroError as said:
        return [refused(name, said)]


def _log(session: Session, stream: Stream, lineage: Lineage) -> Finding:
    events = counted(len(stream.log.events), "event")
    size = session.store.size(stream)
    generations = counted(len(lineage.generations), "generation")
    return ok(
        session.options.lineage_id, f"{generations}, {events}, a log of {size / 1024:.0f} KiB"
    )


def _dead_step(session: Session) -> Iterator[Finding]:
    name = session.options.lineage_id
    try:
        marker, intent = session.store.journal.marker(), session.store.journal.intent()
    except NeedsPerson as said:
        yield refused(name, said)
        return
    advice = "the next step does so by itself"
    if marker:
        where = f"process {marker.pid} on {marker.host}"
        fix = "end what it left running, save its work and put the workspace back"
        yield problem(name, f"a step ({where}) died in the middle of {marker.phase}", advice, fix)
    elif intent:
        fix = "bring the workspace in step with the branch"
        yield problem(name, "a step died while it moved the branch", advice, fix)
    for path in recover.ref_locks(session):
        fix = f"remove {path}"
        yield problem(name, f"{path} is a lock that a dead step left", advice, fix)


def _tags(session: Session, stream: Stream, lineage: Lineage) -> Iterator[Finding]:
    name, present = lineage.id, session.store.tag_objects()
    ends = completions(stream.log.events)
    named = {number: present.get(tag_name(name, number)) for number in ends}
    missing = [n for n, tag in named.items() if tag is None]
    moved = [n for n, tag in named.items() if tag and not session.store.ends_with(tag, ends[n])]
    for text, numbers in (("gone", missing), ("moved", moved)):
        if numbers:
            tags = recover.some([f"gen_{number}" for number in numbers])
            yield problem(
                name, f"tags are {text}: {tags}", None, f"make the {text} tags again from the log"
            )


def _workspace(session: Session) -> Iterator[Finding]:
    repo, name = session.repo, session.options.lineage_id
    place = worktrees.place(repo, name, session.workspace_root)
    trees = worktrees.listed(repo)
    mine = next((tree for tree in trees if tree.branch == branch_ref(name)), None)
    if mine and mine.path.is_dir():
        workspace = worktrees.find(repo, name, session.workspace_root)
        yield from _checked_out(session, workspace) if workspace else ()
    elif worktrees.of_another(repo, place):
        advice = "set worktree_root to another folder"
        yield problem(name, f"{place} is the workspace of another repository", advice)
    elif (place / ".git").is_file() and not any(tree.path == place for tree in trees):
        fix = "tell the workspace and the repository where the other one is"
        yield problem(name, f"{place} was moved, or the repository was", None, fix)
    elif mine:
        yield note(name, f"the workspace {mine.path} is gone", None, "make the workspace again")
    elif any(tree.path == place for tree in trees) and place.is_dir():
        advice = f"go back to it: git -C {place} switch ooo/{name}"
        yield problem(name, f"something else is checked out in its workspace {place}", advice)
    elif os.path.lexists(place) and not (place.is_dir() and not any(place.iterdir())):
        yield problem(name, f"{place} is in the way of the workspace", "move it away")
    else:
        yield ok(name, f"checked out nowhere; the next step does so in {place}")


def _checked_out(session: Session, workspace: Workspace) -> Iterator[Finding]:
    name = session.options.lineage_id
    index_lock = workspace.git_dir / "index.lock"
    if not workspace.git_dir.is_dir():
        fix = "tell the workspace and the repository where the other one is"
        yield problem(name, f"the workspace {workspace.root} lost its repository", None, fix)
        return
    if doing := workspace.in_progress():
        yield problem(name, f"{workspace.root} is in the middle of {doing}", "finish or abort it")
    if index_lock.exists() and workspace.ours:
        yield problem(
            name, f"{index_lock} is left of a git that died", None, f"remove {index_lock}"
        )
    if session.store.journal.marker():
        return
    try:
        theirs = recover.users_changes(session, workspace)
    except OSError as said:
        # git is given a list of patterns, which a repository that is only read may lack.
        yield note(name, f"{workspace.root} cannot be compared: {said.filename}: {said.strerror}")
        return
    if theirs:
        text = f"{workspace.root} has changes that no agent made: {recover.some(theirs)}"
        yield problem(name, text, "commit them there, stash or remove them")
    else:
        yield ok(name, f"the workspace is {workspace.root}")


def _hidden(session: Session, lineage: Lineage) -> Iterator[Finding]:
    ref = hidden_ref(lineage.id)
    if lineage.hidden is None:
        return
    if session.store.hidden(lineage.hidden) is None:
        yield problem(
            lineage.id,
            "its hidden checks are not in this clone",
            f"fetch them from where they are: git fetch REMOTE {ref}:{ref}",
        )
    elif session.repo.ref(ref) != lineage.hidden:
        fix = f"make {ref} again"
        yield problem(lineage.id, "no ref keeps its hidden checks from git gc", None, fix)


def _notes(session: Session) -> Iterator[Finding]:
    if waiting := mailbox.queued_notes(session.state):
        text = f"{counted(len(waiting), 'note')} for the next step"
        yield note(session.options.lineage_id, text)


def _pins(session: Session) -> Iterator[Finding]:
    name = session.options.lineage_id
    if session.store.journal.marker():
        return
    for ref, doubled in guard.pins(session.repo, name).items():
        if doubled:
            yield note(name, f"{ref} is left of a step", None, f"remove {ref}")
        else:
            advice = f"look: git show {ref}; drop it: git update-ref -d {ref}"
            yield note(name, f"{ref} keeps a stash entry that the stash lost", advice)
