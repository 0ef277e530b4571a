"""What the next step would do first, as far as it can be said without doing anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from ouro.agents import Agent, Call
from ouro.app import create, history, mailbox, prepare
from ouro.app.run import Run
from ouro.app.session import Session
from ouro.core.brief import Phase, Request
from ouro.core.events import TYPE_OF, Data, Event, NoteAdded, PolicyChanged
from ouro.core.lineage import Lineage, evolve
from ouro.core.moves import (
    CarryOver,
    Complete,
    Ended,
    RunPhase,
    ThinkLaterally,
    Wait,
    next_move,
    phases_left,
)
from ouro.core.retry import timestamp
from ouro.core.store import Stream
from ouro.phases import evaluate, execute, lateral, qa, reflect, wonder


class Check(Struct, frozen=True):
    """A check that would run; `command` None: it is hidden, or a look into the tree alone."""

    criterion: str
    command: str | None
    limit: float


class Planned(Struct, frozen=True, kw_only=True):
    """A phase that would run: checks first, then the `call` (None: no agent is asked). `prompt` is
    None where it depends on replies that are not there yet."""

    phase: Phase
    checks: tuple[Check, ...]
    call: Call | None
    prompt: str | None = None


class DryRun(Struct, frozen=True, kw_only=True):
    """`next` says for people what would come first; `phases` are what this generation has left,
    `remarks` what would be done before them."""

    lineage_id: str
    generation: int
    next: str
    remarks: tuple[str, ...] = ()
    phases: tuple[Planned, ...] = ()


def dry_run(session: Session) -> DryRun:
    """Nothing is written, locked or started. Raises what the step would raise before any effect."""
    run, remarks = _as_it_would_begin(session)
    lineage = run.lineage
    if not run.lineage_has_ended():
        policy, given = run.policy_now()
        lineage = _after(session, lineage, [PolicyChanged(policy=policy, given=given)])
    return _masked(session, _next(session, lineage, run.stream, remarks))


def _next(session: Session, lineage: Lineage, stream: Stream, remarks: list[str]) -> DryRun:
    move = next_move(lineage, stream.code, timestamp(session.now()))
    match move:
        case ThinkLaterally(persona, pattern):
            thought = lateral.fact(persona, pattern, session.prompts)
            remarks = [*remarks, f"lateral thinking: {persona} ({pattern})"]
            return _next(session, _after(session, lineage, [thought]), stream, remarks)
        case RunPhase(phase):
            lineage = _after(session, lineage, _notes(session, stream))
            remarks += prepare.pending(session)
            planned = _planned(session, lineage)
            return _said(lineage, str(phase), remarks, planned)
        case Wait(pause):
            why = f"not before {pause.until} ({pause.kind}: {pause.message})"
            return _said(lineage, f"nothing, it is paused: {why}", remarks)
        case Ended(decision):
            return _said(lineage, f"nothing, it has ended: {decision.reason}", remarks)
        case CarryOver() | Complete():
            return _said(lineage, "the decision, and no agent is asked", remarks)
        case _:  # pragma: no cover
            assert_never(move)


def _said(
    lineage: Lineage, what: str, remarks: list[str], phases: tuple[Planned, ...] = ()
) -> DryRun:
    return DryRun(
        lineage_id=lineage.id,
        generation=lineage.current.number,
        next=what,
        remarks=tuple(remarks),
        phases=phases,
    )


# --- the lineage as the step would find it -----------------------------------------------------


def _as_it_would_begin(session: Session) -> tuple[Run, list[str]]:
    """The run that the step would begin with, and what there is to say of it."""
    plan = create.plan(session)
    if plan:
        return Run(session, create.imagined(session, plan)), ["the lineage is created"]
    stream = session.store.read()
    if stream.revision is None:
        found = history.on_a_remote(session.repo, session.options.lineage_id)
        assert found is not None, "else there would be a plan"
        return Run(session, session.store.read_at(found.commit)), [
            f"it is taken up from {found.ref}"
        ]
    run = Run(session, stream)
    create.refuse_another_seed(session, run.lineage)
    if marker := session.store.journal.marker():
        return run, [f"what an earlier step left in the middle of {marker.phase} is put right"]
    return run, []


def _notes(session: Session, stream: Stream) -> list[Data]:
    known = {event.id for event in stream.log.events}
    waiting = mailbox.queued_notes(session.state)
    return [NoteAdded(text=note.text) for note in waiting if note.id not in known]


def _after(session: Session, lineage: Lineage, facts: Sequence[Data]) -> Lineage:
    """The lineage as it would be after `facts`."""
    for fact in facts:
        event = Event(
            seq=0,
            id="",
            at=timestamp(session.now()),
            lineage_id=lineage.id,
            generation=lineage.number,
            type=TYPE_OF[type(fact)],
            data=fact,
            prev="",
        )
        lineage = evolve(lineage, event)
    return lineage


# --- its phases --------------------------------------------------------------------------------


def _planned(session: Session, lineage: Lineage) -> tuple[Planned, ...]:
    agent = session.agent(lineage.seed, lineage)
    first, *later = phases_left(lineage)
    request = _request(session, lineage, first)
    return (
        _phase(session, lineage, agent, first, request.prompt),
        *(_phase(session, lineage, agent, phase, None) for phase in later),
    )


def _phase(
    session: Session, lineage: Lineage, agent: Agent, phase: Phase, prompt: str | None
) -> Planned:
    checks = _checks(session, lineage) if phase is Phase.EVALUATE else ()
    asks = phase is not Phase.EVALUATE or bool(_asked(lineage))
    call = agent.call(phase, prompt) if asks else None
    return Planned(phase=phase, checks=checks, call=call, prompt=prompt if asks else None)


def _request(session: Session, lineage: Lineage, phase: Phase) -> Request:
    prompts = session.prompts
    match phase:
        case Phase.WONDER:
            return wonder.request(lineage, prompts)
        case Phase.REFLECT:
            return reflect.request(lineage, prompts)
        case Phase.EXECUTE:
            return execute.request(lineage, prompts, session.config.settings.protect)
        case Phase.EVALUATE:
            return evaluate.request(lineage, prompts, _asked(lineage))
        case Phase.QA:
            return qa.request(lineage, prompts)
        case _:  # pragma: no cover
            assert_never(phase)


def _asked(lineage: Lineage) -> tuple[str, ...]:
    seed = lineage.current.seed
    return evaluate.asked(seed, {c.id for c in seed.acceptance_criteria if c.hidden})


def _checks(session: Session, lineage: Lineage) -> tuple[Check, ...]:
    limit = session.config.settings.check_limit
    return tuple(
        Check(c.id, c.checks.verify_command, c.checks.timeout or limit)
        for c in lineage.current.seed.acceptance_criteria
        if c.checks or c.hidden
    )


def _masked(session: Session, found: DryRun) -> DryRun:
    """Without the values of secrets, wherever they stand."""

    def mask(value: Any) -> Any:
        match value:
            case str():
                return session.secrets.mask(value)
            case list() | tuple():
                return [mask(one) for one in value]
            case dict():
                return {key: mask(one) for key, one in value.items()}
            case _:
                return value

    return msgspec.convert(mask(msgspec.to_builtins(found)), DryRun)
