"""Branching off: a new lineage that shares another one's history up to a generation."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from ouro.app import create, history, recover, tags
from ouro.app.run import Run
from ouro.app.session import Session
from ouro.core import jumps
from ouro.core.chain import seal
from ouro.core.events import LineageForked
from ouro.core.ids import branch_ref, hidden_ref
from ouro.core.lineage import Lineage
from ouro.core.seed_file import ParsedSeed
from ouro.core.store import Stream
from ouro.errors import UsageProblem
from ouro.git.event_store import GitEventStore, update


class Forked(Struct, frozen=True, kw_only=True):
    """What a fork made: `lineage_id` shares with `source` what came up to the end of `generation`,
    `at` in the history. `commit` is its tip, `undo` are commands."""

    lineage_id: str
    source: str
    generation: int
    at: str
    commit: str
    new_seed: bool
    undo: str


def fork(session: Session, source: str, at: int | None, seed_file: Path | None) -> Forked:
    """Make the session's lineage out of `source`, as that was at the end of generation `at` (None:
    of its newest one), with the seed in `seed_file` from there on (None: its own).

    Raises UsageProblem where there is no such generation or the seed is none, OuroError where the
    new name is taken.
    """
    lineage_id = session.options.lineage_id
    if session.repo.ref(branch_ref(lineage_id)):
        raise UsageProblem(f"there is a lineage {lineage_id} already", "choose another name")
    create.refuse_names_in_the_way(session)
    parsed = create.read_seed(seed_file) if seed_file else None
    with session.no_gc():
        base, fact = _branch_off(session, source, at, parsed)
        with session.hold():
            recover.dead_step(session)
            event = seal([(fact.generation, fact)], base.log, lineage_id, session.stamp)[0]
            run = Run(session, session.store.fork(base, event, _keep_hidden(session, fact.hidden)))
            tags.finish_jump(run)
    return Forked(
        lineage_id=lineage_id,
        source=source,
        generation=fact.generation,
        at=fact.commit,
        commit=run.tip,
        new_seed=parsed is not None,
        undo=f"git branch -D ooo/{lineage_id}; git tag -l 'ooo/{lineage_id}/*' | xargs git tag -d",
    )


def finish(session: Session) -> None:
    """Give the session's lineage what a fork that was cut off still owes it: its tags."""
    with session.no_gc(), session.hold():
        recover.dead_step(session)
        tags.finish_jump(Run(session, session.store.read()))


def _branch_off(
    session: Session, source: str, at: int | None, parsed: ParsedSeed | None
) -> tuple[Stream, LineageForked]:
    """The source as it was where the fork begins, and the fork's fact."""
    stream, lineage = history.read(session.repo, source)
    assert stream.revision, "a lineage that can be read has a tip"
    store = GitEventStore(session.repo, source)
    number = len(lineage.generations) if at is None else at
    end = stream.log.events[jumps.length_at(stream.log.events, number) - 1]
    base = store.read_at(store.commit_ending_with(end, stream.revision))
    assert base.revision, "it was read at a commit"
    fact = LineageForked(
        source=source,
        generation=number,
        commit=base.revision,
        seed=parsed.seed if parsed else None,
        hidden=_hidden(session, lineage, parsed),
        seed_sha256=parsed.sha256 if parsed else lineage.seed_sha256,
    )
    return base, fact


def _keep_hidden(session: Session, blob: str | None) -> list[str]:
    """The ref that holds the hidden checks, where this clone has them."""
    if blob is None or session.store.hidden(blob) is None:
        return []
    return [update(hidden_ref(session.options.lineage_id), blob, None)]


def _hidden(session: Session, source: Lineage, parsed: ParsedSeed | None) -> str | None:
    """The blob with the hidden checks of the new lineage."""
    if parsed is None:
        return source.hidden
    checks = parsed.hidden
    return session.store.write_hidden(msgspec.json.encode(checks)) if checks else None
