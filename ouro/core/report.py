"""The step's JSON: what scripts read, and the message of a generation's tag."""

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ouro.core.decision import Decision
from ouro.core.events import Action, QaVerdict, Spent
from ouro.core.ids import tag_name
from ouro.core.lineage import Generation, Lineage


class QaSummary(Struct, frozen=True):
    verdict: QaVerdict
    score: float
    error: str | None


class CriteriaSummary(Struct, frozen=True):
    passed: int
    total: int


class Spending(Struct, frozen=True, kw_only=True):
    """What agents took: tokens and USD as far as their clients said them, None where
    none did. `unknown_calls` did not say the cost. `total` is the lineage's."""

    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    seconds: float
    unknown_calls: int
    total: "Spending | None" = None


class Report(Struct, frozen=True, kw_only=True):
    """One line on stdout. The first eight keys are the contract, in this order."""

    action: Action
    generation: int
    lineage_id: str
    similarity: float | None
    next_generation: int | None
    lateral_think_applied: bool
    qa: QaSummary | None
    error: str | None
    reason: str
    criteria: CriteriaSummary
    commit: str | None
    tag: str | None
    usage: Spending


_encoder = msgspec.json.Encoder()


def to_json(report: Report) -> str:
    """One line, without LF."""
    return _encoder.encode(report).decode()


def of_generation(lineage_id: str, generation: Generation, commit: str) -> Report:
    """The report of a completed generation, whose completing commit is `commit`."""
    completed = generation.completed
    assert completed is not None, "only completed generations have a report"
    return Report(
        action=completed.action,
        generation=generation.number,
        lineage_id=lineage_id,
        similarity=completed.similarity,
        next_generation=completed.next_generation,
        lateral_think_applied=completed.lateral_think_applied,
        qa=_qa(generation),
        error=None,
        reason=completed.reason,
        criteria=_criteria(generation),
        commit=commit,
        tag=tag_name(lineage_id, generation.number),
        usage=_spending(generation.spent, generation.total),
    )


def of_end(lineage_id: str, generation: Generation, commit: str, decision: Decision) -> Report:
    """The report of a finished lineage: as recorded, unless only the policy of now ends it."""
    report = of_generation(lineage_id, generation, commit)
    if report.next_generation is None:
        return report
    return replace(report, action=decision.action, reason=decision.reason, next_generation=None)


def of_failure(lineage: Lineage, error: str, reason: str, commit: str | None) -> Report:
    """A step that recorded no decision: failed, paused or not let in."""
    current = lineage.current
    return Report(
        action=Action.FAILED,
        generation=current.number,
        lineage_id=lineage.id,
        similarity=None,
        next_generation=None if _has_ended(lineage) else current.number,
        lateral_think_applied=current.persona is not None,
        qa=_qa(current),
        error=error,
        reason=reason,
        criteria=_criteria(current),
        commit=commit,
        tag=None,
        usage=_spending(current.spent, lineage.spent),
    )


def _has_ended(lineage: Lineage) -> bool:
    latest = lineage.latest
    ended = latest is not None and latest.completed and latest.completed.next_generation is None
    return bool(ended) and lineage.open is None


def _qa(generation: Generation) -> QaSummary | None:
    qa = generation.qa
    return QaSummary(qa.verdict, qa.score, qa.error) if qa else None


def _criteria(generation: Generation) -> CriteriaSummary:
    passed = sum(verdict.passed for verdict in generation.verdicts)
    return CriteriaSummary(passed, len(generation.seed.acceptance_criteria))


def _spending(generation: Spent, total: Spent) -> Spending:
    return replace(figures(generation), total=figures(total))


def figures(spent: Spent) -> Spending:
    """What was spent, with nothing said to be 0 that nobody knows."""
    no_tokens = 0 < spent.calls == spent.silent
    no_cost = 0 < spent.calls == spent.unknown
    return Spending(
        input_tokens=None if no_tokens else spent.input_tokens,
        output_tokens=None if no_tokens else spent.output_tokens,
        cost=None if no_cost else round(spent.cost, 6),
        seconds=round(spent.seconds, 3),
        unknown_calls=spent.unknown,
    )
