"""What comes next: total and pure, from the folded state alone."""

from msgspec import Struct
from msgspec.structs import replace

from ouro.core.brief import Phase
from ouro.core.decision import Decision, decide
from ouro.core.events import (
    Action,
    EvaluateCompleted,
    EvolveStepCompleted,
    Method,
    QaCompleted,
)
from ouro.core.lateral import Pattern, Persona, choose
from ouro.core.lineage import Generation, Lineage, Pause
from ouro.core.policy import Policy


class RunPhase(Struct, frozen=True):
    """Ask an agent (or run the checks): one request, one reply, one commit."""

    phase: Phase


class ThinkLaterally(Struct, frozen=True):
    """Open the next generation with another persona."""

    persona: Persona
    pattern: Pattern


class CarryOver(Struct, frozen=True):
    """Nothing that was judged has changed: take the verdicts of the generation before."""

    evaluate: EvaluateCompleted
    qa: QaCompleted | None


class Complete(Struct, frozen=True):
    """Every phase is done: record the decision."""

    decision: Decision


class Wait(Struct, frozen=True):
    pause: Pause


class Ended(Struct, frozen=True):
    """The lineage is finished; `decision` says how."""

    decision: Decision


Move = RunPhase | ThinkLaterally | CarryOver | Complete | Wait | Ended


def next_move(lineage: Lineage, code: str, now: str) -> Move:
    """`code` is the id of the code tree at the branch's tip, `now` the time as in `Event.at`."""
    if lineage.pause and now < lineage.pause.until:
        return Wait(lineage.pause)
    if lineage.open is None and lineage.latest is not None:
        decision = standing_decision(lineage, lineage.policy)
        if decision.next_generation is None:
            return Ended(decision)
        if decision.pattern is not None:
            return ThinkLaterally(choose(decision.pattern, lineage.personas), decision.pattern)
    return _within(lineage, code)


def standing_decision(lineage: Lineage, policy: Policy) -> Decision:
    """The last decision, taken again under `policy`; there must be a completed generation."""
    return decide(lineage.counted, policy, lineage.spent)


def _within(lineage: Lineage, code: str) -> Move:
    current = lineage.current
    left = phases_left(lineage)
    if left[:1] == [Phase.EXECUTE] and (carried := _carried(lineage, code)):
        return carried
    if left:
        return RunPhase(left[0])
    return Complete(decide((*lineage.counted, current), lineage.policy, lineage.spent))


def phases_left(lineage: Lineage) -> list[Phase]:
    """The phases that the generation in progress has still to go through, in order."""
    return [phase for phase in _phases(lineage) if not _done(lineage.current, phase)]


def _done(current: Generation, phase: Phase) -> bool:
    # Verdicts without an execution before them were carried over: there is nothing to execute.
    return getattr(current, phase) is not None or (
        phase is Phase.EXECUTE and current.evaluate is not None
    )


def _phases(lineage: Lineage) -> tuple[Phase, ...]:
    """The phases of the generation in progress, in order."""
    policy = lineage.policy
    thinking: tuple[Phase, ...] = (Phase.WONDER, Phase.REFLECT)
    if lineage.latest is None or policy.freeze_ontology:
        thinking = ()
    if not policy.execute:
        return thinking
    if _keeps_seed(lineage):
        thinking = ()
    judging = (Phase.EVALUATE, Phase.QA) if policy.qa else (Phase.EVALUATE,)
    return (*thinking, Phase.EXECUTE, *judging)


def _keeps_seed(lineage: Lineage) -> bool:
    """After a convergence on paper the next generation carries out what was agreed on."""
    latest = lineage.latest
    return (
        latest is not None
        and latest.completed is not None
        and latest.completed.action is Action.CONVERGED
        and latest.evaluate is None
    )


def _carried(lineage: Lineage, code: str) -> CarryOver | None:
    """The old verdicts, where seed and code are what they were when they were given."""
    latest, policy = lineage.latest, lineage.policy
    if latest is None or latest.evaluate is None or lineage.fresh_note:
        return None
    if not latest.approved(policy.qa) or lineage.current.seed != latest.seed:
        return None
    if _executed_tree(lineage.counted) != code:
        return None
    return CarryOver(_evaluation_again(latest.evaluate), carried_qa(latest, policy))


def _executed_tree(generations: tuple[Generation, ...]) -> str | None:
    return next((g.execute.tree for g in reversed(generations) if g.execute), None)


def _evaluation_again(given: EvaluateCompleted) -> EvaluateCompleted:
    verdicts = tuple(replace(verdict, method=Method.CARRIED) for verdict in given.verdicts)
    return replace(given, verdicts=verdicts, seconds=0.0, usage=None)


def carried_qa(latest: Generation, policy: Policy) -> QaCompleted | None:
    """The QA of `latest` as the next generation takes it over; None where there is none to."""
    if not policy.qa or latest.qa is None:
        return None
    return replace(latest.qa, carried=True, usage=None)


def completion(lineage: Lineage, decision: Decision) -> EvolveStepCompleted:
    """The event that records `decision` on the generation in progress."""
    return EvolveStepCompleted(
        action=decision.action,
        reason=decision.reason,
        pattern=decision.pattern,
        similarity=decision.similarity,
        delta=decision.delta,
        lateral_think_applied=lineage.current.persona is not None,
        next_generation=decision.next_generation,
    )
