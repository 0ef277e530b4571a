"""Evaluate: a verdict on each criterion, by its checks where it has some, else by an agent."""

from collections.abc import Container, Sequence
from math import fsum
from typing import Annotated

from msgspec import Meta, Struct

from ouro.core.brief import Brief, Phase, Reply, Request
from ouro.core.events import EvaluateCompleted, Method, Verdict
from ouro.core.lineage import Lineage
from ouro.core.marks import BELOW_PASS, PASS_MARK
from ouro.core.seed import Seed
from ouro.phases import BadReply, Prompts, specification
from ouro.phases.compose import compose
from ouro.phases.reply import read
from ouro.phases.text import block

LONGEST_EVIDENCE = 4_000

_OFFLINE = "offline"
_UNRESOLVED = "unresolved:"


class _Verdict(Struct, frozen=True):
    id: str
    passed: bool
    score: Annotated[float, Meta(ge=0, le=1)]
    evidence: str


class _Reply(Struct, frozen=True):
    criteria: tuple[_Verdict, ...]


def asked(seed: Seed, hidden: Container[str]) -> tuple[str, ...]:
    """The ids of the criteria that no check decides, neither a visible one nor one of `hidden`."""
    return tuple(c.id for c in seed.acceptance_criteria if not c.checks and c.id not in hidden)


def request(lineage: Lineage, prompts: Prompts, asked: Sequence[str]) -> Request:
    """Only what is asked about is shown: an agent need not know what checks decide."""
    seed = lineage.current.seed
    brief = Brief(
        phase=Phase.EVALUATE,
        lineage_id=lineage.id,
        generation=lineage.current.number,
        seed=seed,
        asked=tuple(asked),
    )
    return compose(brief, lineage, prompts, criteria=specification.criteria(seed, asked))


def facts(
    lineage: Lineage,
    checked: Sequence[Verdict],
    reply: Reply | None,
    asked: Sequence[str],
    seconds: float,
) -> EvaluateCompleted:
    """The verdicts of the checks and of the agent in the seed's order, and their mean score.

    `reply` is None where no agent was needed; `seconds` is what the checks took. Where both have
    judged a criterion, the check decides. Raises BadReply where the reply does not have the
    shape, or does not judge each of `asked` exactly once.
    """
    by_id = {v.id: v for v in _given(reply, asked)} | {v.id: v for v in checked}
    criteria = lineage.current.seed.acceptance_criteria
    verdicts = tuple(by_id[c.id] for c in criteria if c.id in by_id)
    return EvaluateCompleted(
        verdicts=verdicts,
        score=fsum(v.score for v in verdicts) / len(verdicts) if verdicts else 0.0,
        seconds=seconds,
        usage=reply.usage if reply else None,
    )


def _given(reply: Reply | None, asked: Sequence[str]) -> list[Verdict]:
    given = read(reply.text, _Reply).criteria if reply else ()
    _exactly(asked, [verdict.id for verdict in given])
    offline = reply is not None and reply.usage.agent == _OFFLINE
    return [_verdict(verdict, offline) for verdict in given]


def _exactly(asked: Sequence[str], judged: Sequence[str]) -> None:
    """Verdicts go by id, whatever their order; each is there once."""
    for criterion_id in judged:
        if criterion_id not in asked:
            raise BadReply(f"there is a verdict on {criterion_id!r}, which was not asked about")
        if judged.count(criterion_id) > 1:
            raise BadReply(f"there are two verdicts on {criterion_id}")
    if missing := [criterion_id for criterion_id in asked if criterion_id not in judged]:
        raise BadReply(f"there is no verdict on {', '.join(missing)}")


def _verdict(given: _Verdict, offline: bool) -> Verdict:
    evidence = block(given.evidence, LONGEST_EVIDENCE)
    unresolved = offline and evidence.startswith(_UNRESOLVED)
    passed = given.passed and given.score >= PASS_MARK and not unresolved
    if passed and not evidence:
        raise BadReply(f"{given.id} passes without any evidence")
    return Verdict(
        id=given.id,
        passed=passed,
        score=0.0 if unresolved else _score(given.score, passed),
        method=_method(offline, unresolved),
        evidence=evidence,
    )


def _score(given: float, passed: bool) -> float:
    """Where the flag says no and the number yes, the lower of the two counts: a criterion that
    did not pass must not lift the mean to where everything looks done."""
    return given if passed else min(given, BELOW_PASS)


def _method(offline: bool, unresolved: bool) -> Method:
    if unresolved:
        return Method.UNRESOLVED
    return Method.OFFLINE if offline else Method.AGENT
