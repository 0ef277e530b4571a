"""The rules of single events: each must be one that the state before it called for."""

from collections.abc import Iterator
from math import isfinite
from typing import assert_never

from msgspec.structs import replace

from ouro.core.brief import FailureKind, Phase
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
    ReflectCompleted,
    Usage,
    WonderCompleted,
)
from ouro.core.lineage import Lineage
from ouro.core.moves import (
    CarryOver,
    Complete,
    Ended,
    Move,
    RunPhase,
    ThinkLaterally,
    Wait,
    completion,
    next_move,
)
from ouro.core.retry import attempts, is_final
from ouro.core.verify import contract, verdicts

Faults = Iterator[str]


def faults(before: Lineage, event: Event, code: str) -> Faults:
    """What is wrong with `event` after the state `before`, at a tip whose code tree is `code`.
    Beginnings and jumps, which stand in a commit of their own, must not come here."""
    if event.generation != before.number:
        yield f"the event is of generation {event.generation}, {before.number} is under way"
    yield from _usage(getattr(event.data, "usage", None))
    yield from _own(before, event, code)


def _own(before: Lineage, event: Event, code: str) -> Faults:  # noqa: C901 (one case an event)
    data = event.data
    match data:
        case NoteAdded() | PolicyChanged():
            return
        case PauseCleared():
            if before.pause is None:
                yield "a pause is cleared where there was none"
        case LateralThinkApplied():
            yield from _lateral(data, due(before, code))
        case WonderCompleted():
            yield from _phase(Phase.WONDER, due(before, code))
        case ReflectCompleted():
            yield from _phase(Phase.REFLECT, due(before, code))
            yield from contract.faults(before, data)
        case ExecuteCompleted():
            yield from _phase(Phase.EXECUTE, due(before, code))
            if data.added < 0 or data.removed < 0:
                yield "fewer than no lines changed"
        case EvaluateCompleted():
            yield from _evaluation(before, data, due(before, code))
        case QaCompleted():
            yield from _phase(Phase.QA, due(before, code))
            yield from verdicts.qa_faults(before, data)
        case EvolveStepCompleted():
            yield from _decision(before, data, due(before, code))
        case EvolveStepFailed():
            yield from _phase(data.phase, due(before, code))
            yield from _failure(before, data)
        case EvolveStepInterrupted():
            yield from _phase(data.phase, due(before, code))
        case LineageCreated() | LineageForked() | LineageRewound() | LineageRestored():
            yield "it stands in a commit together with other events"
        case _:  # pragma: no cover
            assert_never(data)


def due(before: Lineage, code: str) -> Move:
    """What had to come next, whatever the clock said: a pause may have passed."""
    return next_move(replace(before, pause=None), code, "")


def _told(move: Move) -> str:
    match move:
        case RunPhase(phase):
            return f"{phase} was due"
        case ThinkLaterally(persona, pattern):
            return f"lateral thinking was due: {persona} ({pattern})"
        case CarryOver():
            return "the verdicts were to be carried over: neither seed nor code had changed"
        case Complete():
            return "the decision was due"
        case Ended(decision):
            return f"the lineage had ended: {decision.reason}"
        case Wait():  # pragma: no cover (no pause is looked at)
            return "a pause was due"
        case _:  # pragma: no cover
            assert_never(move)


def _phase(phase: str, move: Move) -> Faults:
    if move != RunPhase(phase):  # type: ignore[arg-type]
        yield f"this event is {phase}'s, but {_told(move)}"


def _lateral(data: LateralThinkApplied, move: Move) -> Faults:
    match move:
        case ThinkLaterally(persona, pattern):
            if (data.persona, data.pattern) != (persona, pattern):
                yield (
                    f"{data.persona} ({data.pattern}) is not what the stagnation called for: "
                    f"{persona} ({pattern})"
                )
        case _:
            yield f"lateral thinking, but {_told(move)}"


def _evaluation(before: Lineage, data: EvaluateCompleted, move: Move) -> Faults:
    match move:
        case CarryOver(evaluate, _):
            if data != evaluate:
                yield "the verdicts are not those of the generation before, which carry over"
        case _:
            yield from _phase(Phase.EVALUATE, move)
            yield from verdicts.faults(before.current.seed, data)


def _decision(before: Lineage, data: EvolveStepCompleted, move: Move) -> Faults:
    match move:
        case Complete(decision):
            wanted = completion(before, decision)
            for name in wanted.__struct_fields__:
                said, rule = getattr(data, name), getattr(wanted, name)
                if said != rule:
                    yield f"the decision's {name} is {_shown(said)}, rule 1 gives {_shown(rule)}"
        case _:
            yield f"a decision, but {_told(move)}"


def _shown(value: object) -> str:
    text = repr(str(value)) if isinstance(value, str) else str(value)
    return text if len(text) <= 100 else f"{text[:99]}…"


def _failure(before: Lineage, data: EvolveStepFailed) -> Faults:
    if data.kind not in list(FailureKind):
        yield f"{data.kind!r} is no kind of failure"
        return
    wanted = attempts(before, data.kind)
    if data.attempt != wanted:
        yield f"it is failure number {wanted} in a row, not {data.attempt}"
    if data.kind == FailureKind.RATE_LIMITED:
        return
    if is_final(data.kind, data.attempt, before.policy) != (data.retry_at is None):
        yield "a failure that is to be retried, or one that is not, is taken for the other"


def _usage(usage: Usage | None) -> Faults:
    numbers = [getattr(usage, name) for name in _COUNTED] if usage else []
    if any(number is not None and not (isfinite(number) and number >= 0) for number in numbers):
        yield "a usage below zero"


_COUNTED = ("input_tokens", "output_tokens", "cost", "seconds")
