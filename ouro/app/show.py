"""One generation or one event of a lineage, with the commit that holds it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ouro.app import history
from ouro.core.comparison import SeedChanges, seed_changes
from ouro.core.events import EvolveStepCompleted
from ouro.core.ids import tag_name
from ouro.core.lineage import Generation, Lineage, fold
from ouro.core.overview import Overview, overview
from ouro.core.selector import event_named, generation_named, require_generation
from ouro.git.event_store import GitEventStore
from ouro.git.repository import Repo
from ouro.git.timeline import Recorded, Timeline


class GenerationView(Struct, frozen=True, kw_only=True):
    """`commit` completed the generation, or is the tip while it is open; `tag` is None where this
    clone has none on that commit; `changes` are those of the seed since the generation before."""

    lineage_id: str
    commit: str
    tag: str | None
    changes: SeedChanges
    generation: Generation


def lineage(repo: Repo, lineage_id: str) -> Overview:
    return overview(history.look(repo, lineage_id)[1])


def named(repo: Repo, lineage_id: str, what: str) -> GenerationView | Recorded:
    """The generation or event that `what` names (see `core.selector`)."""
    stream, state = history.look(repo, lineage_id)
    timeline = Timeline(repo, lineage_id, stream.revision or "")
    generation = generation_named(what, state)
    if generation:
        return _view(repo, state, generation, commit_of(timeline, generation))
    event = event_named(what, stream.log.events)
    return next(one for one in timeline.recorded() if one.event.seq == event.seq)


def commit_of(timeline: Timeline, generation: Generation) -> str:
    """The commit that completed the generation; of an open one, the tip."""
    if generation.completed is None:
        return timeline.tip
    return next(
        commit for event, commit in _endings(timeline) if event.generation == generation.number
    )


def commits_of(timeline: Timeline) -> dict[int, str]:
    """Number of each completed generation -> the commit that completed it."""
    return {event.generation: commit for event, commit in _endings(timeline)}


def _endings(timeline: Timeline) -> Iterator[Recorded]:
    return (one for one in timeline.recorded() if isinstance(one.event.data, EvolveStepCompleted))


def _view(repo: Repo, state: Lineage, generation: Generation, commit: str) -> GenerationView:
    tag = tag_name(state.id, generation.number)
    earlier = [g.seed for g in state.generations if g.number < generation.number]
    return GenerationView(
        lineage_id=state.id,
        commit=commit,
        tag=tag if GitEventStore(repo, state.id).tagged(tag) == commit else None,
        changes=seed_changes(earlier[-1] if earlier else generation.seed, generation.seed),
        generation=generation,
    )


def state(repo: Repo, lineage_id: str, at: str | None) -> Lineage:
    """The folded state, as it was when the generation `at` was completed (None: as it is)."""
    stream, now = history.look(repo, lineage_id)
    if at is None:
        return now
    number = require_generation(at, now).number
    events = stream.log.events
    endings = (e for e in reversed(events) if isinstance(e.data, EvolveStepCompleted))
    end = next((e.seq for e in endings if e.generation == number), len(events))
    then = fold(events[:end])
    assert then is not None, "a generation has events"
    return then
