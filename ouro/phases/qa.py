"""QA: the whole as a reviewer sees it. The verdict follows from the score."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

from ouro.core.brief import Brief, Phase, Reply, Request
from ouro.core.events import QaCompleted
from ouro.core.lineage import Lineage
from ouro.core.marks import qa_verdict
from ouro.phases import Prompts, standing
from ouro.phases.compose import compose
from ouro.phases.reply import read
from ouro.phases.text import one_line

LONGEST_FINDING = 1_000
_LONGEST_PASSING_EVIDENCE = 1_000


class _Reply(Struct, frozen=True):
    score: Annotated[float, Meta(ge=0, le=100)]
    differences: Annotated[tuple[str, ...], Meta(max_length=50)] = ()
    suggestions: Annotated[tuple[str, ...], Meta(max_length=50)] = ()


def request(lineage: Lineage, prompts: Prompts) -> Request:
    current = lineage.current
    brief = Brief(
        phase=Phase.QA,
        lineage_id=lineage.id,
        generation=current.number,
        seed=current.seed,
        verdicts=current.verdicts,
    )
    title = f"Verdicts of generation {current.number}"
    shown = standing.verdicts(title, current.seed, current.verdicts, _LONGEST_PASSING_EVIDENCE)
    return compose(brief, lineage, prompts, verdicts=shown)


def facts(lineage: Lineage, reply: Reply) -> QaCompleted:
    """Raises BadReply where the reply does not have the shape or the score is not in 0 to 100."""
    given = read(reply.text, _Reply)
    return QaCompleted(
        verdict=qa_verdict(given.score),
        score=given.score,
        differences=_findings(given.differences),
        suggestions=_findings(given.suggestions),
        error=None,
        carried=False,
        usage=reply.usage,
    )


def _findings(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(filter(None, (one_line(text, LONGEST_FINDING) for text in given)))
