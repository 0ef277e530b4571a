"""The birth of a lineage: everything that could be wrong with it is found before any effect."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ouro.app import history
from ouro.app.run import Run
from ouro.app.session import Session
from ouro.core.chain import extend, seal
from ouro.core.codec import EMPTY_LOG
from ouro.core.events import Event, LineageCreated
from ouro.core.ids import branch_ref
from ouro.core.lineage import Lineage
from ouro.core.policy import first_policy
from ouro.core.store import Stream
from ouro.errors import OuroError, UsageProblem
from ouro.git.repository import blob_id

if TYPE_CHECKING:
    from ouro.core.seed_file import ParsedSeed


class Plan(Struct, frozen=True):
    """A lineage to be created: its seed, and the commit it starts from (None: an empty root)."""

    parsed: ParsedSeed
    base: str | None


def plan(session: Session) -> Plan | None:
    """What to create, None where the lineage exists or can be taken up from a remote."""
    lineage_id, repo = session.options.lineage_id, session.repo
    if repo.ref(branch_ref(lineage_id)) or history.on_a_remote(repo, lineage_id):
        return None
    if session.options.seed_file is None:
        raise UsageProblem(
            f"there is no lineage {lineage_id} here", "create it: give --seed-file FILE"
        )
    refuse_names_in_the_way(session)
    parsed = read_seed(session.options.seed_file)
    first_policy(session.config.policy)
    session.agent(parsed.seed, None)
    return Plan(parsed, _base(session))


def read_seed(path: Path) -> ParsedSeed:
    """The seed in the file `path`; raises UsageProblem where it cannot be read or meant."""
    from ouro.core.seed_file import parse_seed

    try:
        content = path.read_bytes()
    except OSError as problem:
        raise UsageProblem(
            f"{path}: cannot read the seed file: {problem.strerror}", "check --seed-file"
        ) from problem
    return parse_seed(content, str(path))


def lineage(session: Session, planned: Plan | None) -> Run:
    """Create the lineage, or take up the one that a remote-tracking branch holds."""
    if planned is None:
        return _take_up(session)
    _warn(session, planned)
    store, parsed = session.store, planned.parsed
    hidden = store.put_hidden(msgspec.json.encode(parsed.hidden)) if parsed.hidden else None
    events = _first_event(session, planned, hidden)
    code = session.repo.code_tree(planned.base) if planned.base else session.repo.empty_tree()
    nothing = Stream(EMPTY_LOG, None, code)
    adopted = (planned.base,) if planned.base else ()
    run = Run(session, store.append(nothing, events, adopted=adopted))
    name = run.lineage.id
    session.console.say(f"the agent works in {run.workspace.root}")
    session.console.say(
        f"created ooo/{name} (undo: git worktree remove --force {quote(str(run.workspace.root))}; "
        f"git branch -D ooo/{name}; git tag -l 'ooo/{name}/*' | xargs git tag -d)"
    )
    return run


def _first_event(session: Session, planned: Plan, hidden: str | None) -> tuple[Event, ...]:
    policy, given = first_policy(session.config.policy)
    created = LineageCreated(
        seed=planned.parsed.seed,
        hidden=hidden,
        seed_sha256=planned.parsed.sha256,
        policy=policy,
        given=given,
        base=planned.base,
    )
    return seal([(0, created)], EMPTY_LOG, session.options.lineage_id, session.stamp)


def imagined(session: Session, planned: Plan) -> Stream:
    """The stream of the lineage if it were created now; nothing is written."""
    hidden = planned.parsed.hidden
    named = blob_id(msgspec.json.encode(hidden)) if hidden else None
    log = extend(EMPTY_LOG, _first_event(session, planned, named))
    return Stream(log, None, session.repo.code_tree_id(planned.base) if planned.base else "")


def refuse_another_seed(session: Session, existing: Lineage) -> None:
    """A seed file given again must say what it said; raises UsageProblem otherwise."""
    path = session.options.seed_file
    if path is None:
        return
    if not path.is_file():
        session.console.warn(f"{path} is not there; the lineage goes on with the seed in its log")
        return
    parsed = read_seed_if_changed(path, existing.seed_sha256)
    if parsed is None or (parsed.seed == existing.original and _same_hidden(parsed, existing)):
        return
    raise UsageProblem(
        f"{path} is not the seed that {existing.id} was created with",
        "a lineage's seed is fixed: leave out --seed-file to go on with it, or branch off with the "
        f"new one: ouro fork {existing.id} NEW --seed-file {path}",
    )


def read_seed_if_changed(path: Path, sha256: str) -> ParsedSeed | None:
    """The seed in `path`, None where the file's bytes are those of `sha256`."""
    import hashlib

    if hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
        return None
    return read_seed(path)


def _same_hidden(parsed: ParsedSeed, existing: Lineage) -> bool:
    if not parsed.hidden:
        return existing.hidden is None
    return blob_id(msgspec.json.encode(parsed.hidden)) == existing.hidden


# --- before any effect -------------------------------------------------------------------------


def refuse_names_in_the_way(session: Session) -> None:
    """Raise OuroError where a branch or tag would keep the lineage from having its own."""
    lineage_id, repo = session.options.lineage_id, session.repo
    listed = repo.git.run(
        "for-each-ref",
        "--format=%(refname)",
        "refs/heads/ooo",
        f"refs/heads/ooo/{lineage_id}",
        "refs/tags/ooo",
        f"refs/tags/ooo/{lineage_id}",
    )
    names = listed.decode().splitlines()
    blocking = {"refs/heads/ooo", "refs/tags/ooo", f"refs/tags/ooo/{lineage_id}"}
    below = (f"refs/heads/ooo/{lineage_id}/", f"refs/tags/ooo/{lineage_id}/")
    found = [name for name in names if name in blocking or name.startswith(below)]
    if found:
        raise OuroError(
            f"{found[0]} is in the way of the lineage {lineage_id}",
            "rename or delete it (it may be what is left of a deleted lineage), "
            "or choose another --lineage-id",
        )


def _base(session: Session) -> str | None:
    if session.options.base:
        return session.repo.resolve_commit(session.options.base)
    head = session.repo.head()
    return str(session.repo.commit(head).id) if head else None


def _warn(session: Session, planned: Plan) -> None:
    for warning in planned.parsed.warnings:
        session.console.warn(f"seed: {warning}")
    if session.repo.anonymous:
        name, address = session.repo.identity
        session.console.say(f"git knows no user.name here: commits are by {name} <{address}>")
    if planned.base is None:
        session.console.say("no commit yet: the lineage starts from an empty tree")
    if session.repo.here and session.options.base is None:
        _warn_of_uncommitted(session)
    if planned.parsed.hidden and planned.base:
        _warn_of_committed_seed(session, planned.base)


def _warn_of_uncommitted(session: Session) -> None:
    listed = session.repo.git_here().run("status", "--porcelain", "-z", "--no-renames")
    count = len([entry for entry in listed.split(b"\0") if entry])
    if count and session.repo.head():
        session.console.warn(
            f"{count} uncommitted changes in {session.repo.here} are not part of the lineage"
        )


def _warn_of_committed_seed(session: Session, base: str) -> None:
    """Hidden checks that stand in a committed seed file are hidden from nobody."""
    path = session.options.seed_file
    if path is None or session.repo.here is None:
        return
    resolved, top = path.resolve(), session.repo.here.resolve()
    if resolved.is_relative_to(top):
        name = resolved.relative_to(top).as_posix()
        if name in session.repo.commit(base).tree:
            session.console.warn(f"{name} is in the base commit: the agent can read hidden checks")


# --- from a remote -----------------------------------------------------------------------------


def _take_up(session: Session) -> Run:
    lineage_id = session.options.lineage_id
    found = history.on_a_remote(session.repo, lineage_id)
    if found is None:
        raise OuroError(f"the lineage {lineage_id} is gone", "run the step again")
    session.store.read_at(found.commit)
    absent = "0" * len(found.commit)
    session.repo.git.run("update-ref", branch_ref(lineage_id), found.commit, absent)
    session.console.say(f"took up {lineage_id} from {found.ref}")
    return Run(session, session.store.read())
