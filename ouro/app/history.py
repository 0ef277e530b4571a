"""Looking in: what a lineage's log says, without a lock and without changing anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ouro.core.codec import encode
from ouro.core.events import Event
from ouro.core.ids import branch_ref, tag_name
from ouro.core.lineage import Generation, Lineage, fold
from ouro.core.moves import Ended, Move, RunPhase, ThinkLaterally, Wait, next_move
from ouro.core.store import Stream
from ouro.errors import OuroError
from ouro.git.event_store import GitEventStore
from ouro.git.repository import Repo


class Standing(Struct, frozen=True, kw_only=True):
    """Where a lineage stands. `state` is running, paused, open or the action that ended it;
    `cost` in USD as far as agents said it, `unknown_calls` did not."""

    lineage_id: str
    goal: str
    state: str
    generation: int
    generations: int
    action: str | None
    similarity: float | None
    passed: int
    total: int
    qa: str | None
    cost: float
    unknown_calls: int
    seconds: float
    next: str
    workspace: str | None
    commit: str
    last_at: str


def ids(repo: Repo) -> list[str]:
    """The lineages of the repository, by their branches, sorted."""
    prefix = "refs/heads/ooo/"
    listed = repo.git.run("for-each-ref", "--format=%(refname)", prefix)
    return [name.removeprefix(prefix) for name in listed.decode().splitlines()]


def read(repo: Repo, lineage_id: str) -> tuple[Stream, Lineage]:
    """A lineage as it stands; raises OuroError where there is none."""
    stream = GitEventStore(repo, lineage_id).read()
    lineage = fold(stream.log.events)
    if lineage is None:
        known = ", ".join(ids(repo)) or "none"
        raise OuroError(f"there is no lineage {lineage_id} here", f"lineages here: {known}")
    return stream, lineage


def standing(repo: Repo, lineage_id: str, now: str) -> Standing:
    """Where the lineage stands at the time `now` (as in `Event.at`)."""
    stream, lineage = read(repo, lineage_id)
    shown = _shown_generation(lineage)
    move = next_move(lineage, stream.code, now)
    latest = lineage.latest
    return Standing(
        lineage_id=lineage_id,
        goal=lineage.seed.goal,
        state=_state(repo, lineage_id, move),
        generation=lineage.current.number if lineage.open else len(lineage.generations),
        generations=len(lineage.generations),
        action=latest.completed.action if latest and latest.completed else None,
        similarity=latest.completed.similarity if latest and latest.completed else None,
        passed=sum(v.passed for v in shown.verdicts) if shown else 0,
        total=len(lineage.seed.acceptance_criteria),
        qa=shown.qa.verdict if shown and shown.qa else None,
        cost=round(lineage.spent.cost, 6),
        unknown_calls=lineage.spent.unknown,
        seconds=round(lineage.spent.seconds, 3),
        next=_next(move, lineage),
        workspace=str(found) if (found := workspace(repo, lineage_id)) else None,
        commit=stream.revision or "",
        last_at=lineage.last_at,
    )


def _shown_generation(lineage: Lineage) -> Generation | None:
    """The newest generation that was judged."""
    everything = (*lineage.generations, *([lineage.open] if lineage.open else []))
    return next((g for g in reversed(everything) if g.verdicts), None)


def _state(repo: Repo, lineage_id: str, move: Move) -> str:
    from ouro.git.lock import is_held

    if is_held(repo.state_folder(lineage_id)):
        return "running"
    match move:
        case Ended(decision):
            return decision.action
        case Wait():
            return "paused"
        case _:
            return "open"


def _next(move: Move, lineage: Lineage) -> str:
    """What the next step will do, for people."""
    number = lineage.current.number
    match move:
        case Ended(decision):
            return f"nothing: {decision.reason}"
        case Wait(pause):
            return f"generation {number}, not before {pause.until} ({pause.kind}: {pause.message})"
        case ThinkLaterally(persona, pattern):
            return f"generation {number}, with lateral thinking: {persona} ({pattern})"
        case RunPhase(phase):
            return f"generation {number}: {phase}"
        case _:
            return f"generation {number}"


def workspace(repo: Repo, lineage_id: str) -> Path | None:
    """Where the lineage is checked out, None where it is not."""
    from ouro.git.worktrees import listed

    ref = branch_ref(lineage_id)
    return next((t.path for t in listed(repo) if t.branch == ref and t.path.is_dir()), None)


def lines(repo: Repo, lineage_id: str) -> Iterator[tuple[Event, bytes]]:
    """The events, oldest first, each with its line of the log."""
    stream, _ = read(repo, lineage_id)
    return ((event, encode(event)) for event in stream.log.events)


def generations(repo: Repo, lineage_id: str) -> tuple[Generation, ...]:
    """The completed generations, oldest first."""
    return read(repo, lineage_id)[1].generations


def commit_of(repo: Repo, lineage_id: str, generation: int) -> str:
    """The commit that completed a generation, by its tag."""
    return GitEventStore(repo, lineage_id).tagged(tag_name(lineage_id, generation)) or ""


def to_json(value: Standing | list[Standing]) -> str:
    return msgspec.json.encode(value).decode()
