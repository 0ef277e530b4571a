"""The fold: what a lineage's events mean together. Pure: the same events give the same state."""

from collections.abc import Iterable
from functools import cached_property
from typing import assert_never

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ouro.core.brief import FailureKind
from ouro.core.events import (
    EvaluateCompleted,
    Event,
    EvolveStepCompleted,
    EvolveStepFailed,
    EvolveStepInterrupted,
    ExecuteCompleted,
    LateralThinkApplied,
    LineageCreated,
    LineageForked,
    LineageRestored,
    LineageRewound,
    NoteAdded,
    PauseCleared,
    PolicyChanged,
    QaCompleted,
    QaVerdict,
    ReflectCompleted,
    Spent,
    Usage,
    Verdict,
    WonderCompleted,
)
from ouro.core.policy import Given, Policy
from ouro.core.seed import Ontology, Seed

MAX_LEARNINGS = 20


class Pause(Struct, frozen=True):
    """Nothing is to be tried before `until` (UTC, ISO 8601)."""

    until: str
    kind: str
    message: str


class Generation(Struct, frozen=True, kw_only=True, dict=True):
    """One turn of the loop, as far as it has come. `spent` is its own, `total` the lineage's when
    it was completed."""

    number: int
    seed: Seed
    persona: LateralThinkApplied | None = None
    wonder: WonderCompleted | None = None
    reflect: ReflectCompleted | None = None
    execute: ExecuteCompleted | None = None
    evaluate: EvaluateCompleted | None = None
    qa: QaCompleted | None = None
    completed: EvolveStepCompleted | None = None
    spent: Spent = Spent()
    total: Spent = Spent()

    @property
    def ontology(self) -> Ontology:
        return self.seed.ontology_schema

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return self.evaluate.verdicts if self.evaluate else ()

    @cached_property  # every decision looks at those of all generations
    def share(self) -> float:
        """The share of criteria passed, 0 where none was judged."""
        if not self.verdicts:
            return 0.0
        return sum(v.passed for v in self.verdicts) / len(self.verdicts)

    def criteria_met(self) -> bool:
        passed = {v.id for v in self.verdicts if v.passed}
        return all(c.id in passed for c in self.seed.acceptance_criteria)

    def approved(self, qa: bool) -> bool:
        """Every criterion passed, and QA too where it is on."""
        if not self.criteria_met():
            return False
        return not qa or (self.qa is not None and self.qa.verdict is QaVerdict.PASS)


class Lineage(Struct, frozen=True, kw_only=True):
    """The folded state.

    `seed` is the newest one, `original` the user's. `policy` holds for the generation that is
    open, `next_policy` from the next one on. `open` is the generation in progress. `fresh_note`
    is set from a note until an execute phase has seen it. `failures` counts those in a row;
    `lost` is what failed calls took of a generation that is not open yet;
    `limited_since` is when an unbroken row of rate limits began. `inherited` generations worked
    on another seed, before a fork replaced it. `jumps` is the highest number of a jump, `left` the
    tip that the last one left, which an undo goes back to.
    """

    id: str
    original: Seed
    seed: Seed
    hidden: str | None
    seed_sha256: str
    base: str | None
    policy: Policy
    next_policy: Policy
    given: Given
    generations: tuple[Generation, ...] = ()
    inherited: int = 0
    open: Generation | None = None
    notes: tuple[str, ...] = ()
    fresh_note: bool = False
    learnings: tuple[str, ...] = ()
    personas: tuple[str, ...] = ()
    failures: int = 0
    limited_since: str | None = None
    failed: EvolveStepFailed | None = None
    pause: Pause | None = None
    spent: Spent = Spent()
    lost: Spent = Spent()
    agents: tuple[str, ...] = ()
    jumps: int = 0
    left: str | None = None
    last_at: str = ""

    @property
    def counted(self) -> tuple[Generation, ...]:
        """The completed generations that decisions look at: those that pursued this seed."""
        return self.generations[self.inherited :]

    @property
    def latest(self) -> Generation | None:
        """The newest completed generation of those."""
        counted = self.counted
        return counted[-1] if counted else None

    @property
    def reached(self) -> int:
        """How far it has come: the number of the open generation, or of the newest one."""
        return self.open.number if self.open else len(self.generations)

    @property
    def number(self) -> int:
        """The number of the generation that is open or comes next."""
        return len(self.generations) + 1

    @property
    def current(self) -> Generation:
        """The generation in progress, an empty one where none has begun."""
        return self.open or Generation(number=self.number, seed=self.seed, spent=self.lost)


def fold(events: Iterable[Event]) -> Lineage | None:
    """The state that `events` lead to; None where there are none."""
    lineage: Lineage | None = None
    event: Event | None = None
    for event in events:
        lineage = _after(lineage, event)
    return replace(lineage, last_at=event.at) if lineage and event else None


_canonical = msgspec.json.Encoder(order="deterministic")


def canonical(lineage: Lineage) -> bytes:
    """The state as JSON, without LF: equal states give equal bytes, on every machine."""
    return _canonical.encode(lineage)


def evolve(lineage: Lineage | None, event: Event) -> Lineage:
    """`lineage` after `event`. Total over every log that `codec` accepts and `verify` passes."""
    return replace(_after(lineage, event), last_at=event.at)


def _created(lineage_id: str, data: LineageCreated) -> Lineage:
    return Lineage(
        id=lineage_id,
        original=data.seed,
        seed=data.seed,
        hidden=data.hidden,
        seed_sha256=data.seed_sha256,
        base=data.base,
        policy=data.policy,
        next_policy=data.policy,
        given=data.given,
    )


def _after(lineage: Lineage | None, event: Event) -> Lineage:  # noqa: C901 (one case an event)
    """All but `last_at`. The most frequent events come first."""
    data = event.data
    if lineage is None or isinstance(data, LineageCreated):
        assert isinstance(data, LineageCreated), "a log begins with lineage.created"
        return _created(event.lineage_id, data)
    match data:
        case WonderCompleted():
            return _progress(lineage, replace(lineage.current, wonder=data), data.usage)
        case ReflectCompleted():
            return _reflected(lineage, data)
        case ExecuteCompleted():
            opened = replace(lineage.current, execute=data)
            return _progress(replace(lineage, fresh_note=False), opened, data.usage)
        case EvaluateCompleted():
            opened = replace(lineage.current, evaluate=data)
            return _progress(lineage, opened, data.usage, data.seconds)
        case QaCompleted():
            return _progress(lineage, replace(lineage.current, qa=data), data.usage)
        case EvolveStepCompleted():
            return _completed(lineage, data)
        case LateralThinkApplied():
            personas = (*lineage.personas, data.persona)
            opened = replace(lineage.current, persona=data)
            return _progress(replace(lineage, personas=personas), opened, None)
        case NoteAdded():
            return replace(lineage, notes=(*lineage.notes, data.text), fresh_note=True)
        case PolicyChanged():
            return _policy_changed(lineage, data)
        case LineageForked():
            return _forked(lineage, event.lineage_id, data)
        case EvolveStepFailed():
            return _failed(lineage, data, event.at)
        case EvolveStepInterrupted():
            return lineage
        case PauseCleared():
            return replace(lineage, pause=None)
        case LineageRewound() | LineageRestored():
            return replace(lineage, jumps=data.n, left=data.left, spent=data.spent)
        case _:  # pragma: no cover
            assert_never(data)


def _forked(lineage: Lineage, lineage_id: str, data: LineageForked) -> Lineage:
    forked = replace(
        lineage,
        id=lineage_id,
        hidden=data.hidden,
        seed_sha256=data.seed_sha256,
        left=None,
    )
    if data.seed is None:
        return forked
    inherited = len(lineage.generations)
    return replace(forked, original=data.seed, seed=data.seed, inherited=inherited)


def _policy_changed(lineage: Lineage, data: PolicyChanged) -> Lineage:
    now = lineage.policy if lineage.open else data.policy
    return replace(lineage, policy=now, next_policy=data.policy, given=data.given)


def _progress(
    lineage: Lineage, opened: Generation, usage: Usage | None, seconds: float = 0.0
) -> Lineage:
    """A phase is done: its generation is open, and every count of failures starts anew."""
    agents = lineage.agents
    if usage and usage.agent not in agents:
        agents = (*agents, usage.agent)
    return replace(
        lineage,
        open=replace(opened, spent=opened.spent.plus(usage, seconds)),
        failures=0,
        limited_since=None,
        failed=None,
        pause=None,
        spent=lineage.spent.plus(usage, seconds),
        lost=Spent(),
        agents=agents,
    )


def _reflected(lineage: Lineage, data: ReflectCompleted) -> Lineage:
    opened = replace(lineage.current, reflect=data, seed=data.seed)
    known = tuple(text for text in lineage.learnings if text not in data.learnings)
    learnings = (known + data.learnings)[-MAX_LEARNINGS:]
    return _progress(replace(lineage, seed=data.seed, learnings=learnings), opened, data.usage)


def _completed(lineage: Lineage, data: EvolveStepCompleted) -> Lineage:
    closed = replace(lineage.current, completed=data, total=lineage.spent)
    return replace(
        lineage,
        generations=(*lineage.generations, closed),
        open=None,
        lost=Spent(),
        policy=lineage.next_policy,
        failures=0,
        limited_since=None,
        failed=None,
        pause=None,
    )


def _failed(lineage: Lineage, data: EvolveStepFailed, at: str) -> Lineage:
    """A failure that waits leaves a pause; one that needs a person starts the counts anew."""
    lineage = _charged(lineage, data.usage)
    if data.retry_at is None:
        return replace(lineage, failures=0, limited_since=None, failed=data, pause=None)
    limited = data.kind == FailureKind.RATE_LIMITED
    return replace(
        lineage,
        failures=lineage.failures if limited else data.attempt,
        limited_since=(lineage.limited_since or at) if limited else None,
        failed=data,
        pause=Pause(data.retry_at, data.kind, data.message),
    )


def _charged(lineage: Lineage, usage: Usage | None) -> Lineage:
    """What a failed call took counts, in its generation too."""
    spent, opened = lineage.spent.plus(usage), lineage.open
    if opened is None:
        return replace(lineage, spent=spent, lost=lineage.lost.plus(usage))
    return replace(lineage, spent=spent, open=replace(opened, spent=opened.spent.plus(usage)))
