"""Verdicts: one a criterion, and their numbers agree with what they say."""

from collections.abc import Iterator
from math import fsum

from ouro.core.events import EvaluateCompleted, Method, QaCompleted, Verdict
from ouro.core.lineage import Lineage
from ouro.core.marks import BELOW_PASS, PASS_MARK, qa_verdict
from ouro.core.moves import carried_qa
from ouro.core.seed import Criterion, Seed


def faults(seed: Seed, data: EvaluateCompleted) -> Iterator[str]:
    """What is wrong with verdicts that are not carried over."""
    wanted = tuple(c.id for c in seed.acceptance_criteria)
    given = tuple(v.id for v in data.verdicts)
    if given != wanted:
        yield f"verdicts on {', '.join(given) or 'nothing'}; the criteria are {', '.join(wanted)}"
    else:
        for criterion, verdict in zip(seed.acceptance_criteria, data.verdicts, strict=True):
            yield from _verdict(criterion, verdict)
    mean = fsum(v.score for v in data.verdicts) / len(data.verdicts) if data.verdicts else 0.0
    if data.score != mean:
        yield f"the score is {data.score:g}, the mean of the verdicts' is {mean:g}"
    if not data.seconds >= 0:
        yield "checks that took less than no time"


def _verdict(criterion: Criterion, verdict: Verdict) -> Iterator[str]:
    if not _scored(verdict):
        how = "passes" if verdict.passed else "does not pass"
        yield f"{verdict.id} {how} with a score of {verdict.score:g} ({verdict.method})"
    if not _judged(criterion, verdict.method):
        yield f"{verdict.id} is judged by {verdict.method}, which is not for this criterion"


def _scored(verdict: Verdict) -> bool:
    match verdict.method:
        case Method.CHECK:
            return verdict.score == (1.0 if verdict.passed else 0.0)
        case Method.UNRESOLVED:
            return not verdict.passed and verdict.score == 0
        case _:
            least, most = (PASS_MARK, 1.0) if verdict.passed else (0.0, BELOW_PASS)
            return least <= verdict.score <= most


def _judged(criterion: Criterion, method: Method) -> bool:
    """Where a criterion has checks they alone decide; hidden ones cannot be seen from here."""
    if method is Method.CARRIED:
        return False
    return criterion.hidden or bool(criterion.checks) == (method is Method.CHECK)


def qa_faults(before: Lineage, data: QaCompleted) -> Iterator[str]:
    """What is wrong with a QA verdict after the state `before`."""
    if not 0 <= data.score <= 100:
        yield f"QA's score is {data.score:g}"
    if data.verdict is not qa_verdict(data.score):
        yield f"QA says {data.verdict} at a score of {data.score:g}"
    carried = any(v.method is Method.CARRIED for v in before.current.verdicts)
    wanted = carried_qa(before.latest, before.policy) if carried and before.latest else None
    if data.carried is not carried or (carried and data != wanted):
        yield "the QA verdict is not carried over from the generation before as the verdicts are"
