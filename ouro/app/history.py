"""Looking in: what a lineage's log says, without a lock and without changing anything."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from ouro.core.events import Spent
from ouro.core.ids import branch_ref
from ouro.core.lineage import Lineage, fold
from ouro.core.moves import Ended, Move, RunPhase, ThinkLaterally, Wait, next_move
from ouro.core.overview import judged_last
from ouro.core.report import Spending, figures
from ouro.core.store import Stream
from ouro.errors import OuroError
from ouro.git.event_store import GitEventStore
from ouro.git.repository import Repo


class Found(Struct, frozen=True):
    """Where a lineage lies: a full ref name, and the commit that it named just now."""

    lineage_id: str
    ref: str
    commit: str

    @property
    def is_remote(self) -> bool:
        return self.ref != branch_ref(self.lineage_id)


class GenerationSpending(Struct, frozen=True):
    generation: int
    usage: Spending


class Standing(Struct, frozen=True, kw_only=True):
    """Where a lineage stands. `state` is running, paused, open or the action that ended it;
    `cost` in USD and tokens as far as agents said them, None where none did; `unknown_calls` did
    not say the cost. `spending` has the same for each generation, the open one too."""

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
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    unknown_calls: int
    seconds: float
    spending: tuple[GenerationSpending, ...]
    next: str
    workspace: str | None
    commit: str
    last_at: str


def ids(repo: Repo) -> list[str]:
    """The lineages of the repository, by their branches, sorted."""
    prefix = "refs/heads/ooo/"
    listed = repo.git.run("for-each-ref", "--format=%(refname)", prefix)
    return [name.removeprefix(prefix) for name in listed.decode().splitlines()]


def find(repo: Repo, lineage_id: str) -> Found:
    """The lineage's branch, or where there is none the remote-tracking one; raises OuroError where
    there is neither."""
    ref = branch_ref(lineage_id)
    if commit := repo.ref(ref):
        return Found(lineage_id, ref, commit)
    if tracked := on_a_remote(repo, lineage_id):
        return tracked
    raise _no_lineage(repo, lineage_id)


def on_a_remote(repo: Repo, lineage_id: str) -> Found | None:
    """The remote-tracking branch of the lineage; raises OuroError where several differ."""
    refs = repo.refs("refs/remotes/")
    tracked = {name: commit for name, commit in refs.items() if name.endswith(f"/ooo/{lineage_id}")}
    if len(set(tracked.values())) > 1:
        raise OuroError(
            f"several remotes hold {lineage_id}, at different commits: {', '.join(tracked)}",
            f"choose one: git branch ooo/{lineage_id} <remote>/ooo/{lineage_id}",
        )
    return next((Found(lineage_id, name, commit) for name, commit in tracked.items()), None)


def _no_lineage(repo: Repo, lineage_id: str) -> OuroError:
    known = ", ".join(ids(repo)) or "none"
    return OuroError(f"there is no lineage {lineage_id} here", f"lineages here: {known}")


def require(repo: Repo, lineage_id: str) -> None:
    """Raise OuroError where there is no branch of that lineage here."""
    if repo.ref(branch_ref(lineage_id)) is None:
        raise _no_lineage(repo, lineage_id)


def read(repo: Repo, lineage_id: str) -> tuple[Stream, Lineage]:
    """A lineage as it stands on its branch here; raises OuroError where there is none."""
    stream = GitEventStore(repo, lineage_id).read()
    lineage = fold(stream.log.events)
    if lineage is None:
        raise _no_lineage(repo, lineage_id)
    return stream, lineage


def look(repo: Repo, lineage_id: str) -> tuple[Stream, Lineage]:
    """A lineage as it stands where `find` finds it: for looking, not for going on with it."""
    stream = GitEventStore(repo, lineage_id).read_at(find(repo, lineage_id).commit)
    lineage = fold(stream.log.events)
    assert lineage is not None, "read_at refuses an empty log"
    return stream, lineage


def standing(repo: Repo, lineage_id: str, now: str) -> Standing:
    """Where the lineage stands at the time `now` (as in `Event.at`)."""
    stream, lineage = look(repo, lineage_id)
    shown = judged_last(lineage)
    move = next_move(lineage, stream.code, now)
    latest, total = lineage.latest, figures(lineage.spent)
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
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        cost=total.cost,
        unknown_calls=total.unknown_calls,
        seconds=total.seconds,
        spending=_spending(lineage),
        next=_next(move, lineage),
        workspace=str(found) if (found := workspace(repo, lineage_id)) else None,
        commit=stream.revision or "",
        last_at=lineage.last_at,
    )


def _spending(lineage: Lineage) -> tuple[GenerationSpending, ...]:
    under_way = [lineage.current] if lineage.current.spent != Spent() else []
    every = (*lineage.generations, *under_way)
    return tuple(GenerationSpending(g.number, figures(g.spent)) for g in every)


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
