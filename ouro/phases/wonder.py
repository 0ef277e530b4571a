"""Wonder: which assumptions does the work rest on? Questions, and no changes."""

from collections.abc import Container
from typing import Annotated

from msgspec import Meta, Struct

from ouro.core.brief import Brief, Phase, Reply, Request
from ouro.core.events import Question, WonderCompleted
from ouro.core.lineage import Lineage
from ouro.phases import BadReply, Prompts, standing
from ouro.phases.compose import compose, known_verdicts_section
from ouro.phases.reply import read
from ouro.phases.text import one_line

LONGEST_QUESTION = 1_000
LONGEST_SUBJECT = 100


class _Question(Struct, frozen=True):
    question: str
    criteria: Annotated[tuple[str, ...], Meta(max_length=50)] = ()
    subject: str | None = None


class _Reply(Struct, frozen=True):
    questions: Annotated[tuple[_Question, ...], Meta(max_length=50)]
    tensions: Annotated[tuple[str, ...], Meta(max_length=50)] = ()


def request(lineage: Lineage, prompts: Prompts) -> Request:
    brief = Brief(
        phase=Phase.WONDER,
        lineage_id=lineage.id,
        generation=lineage.current.number,
        seed=lineage.current.seed,
        verdicts=standing.known_verdicts(lineage),
    )
    return compose(
        brief,
        lineage,
        prompts,
        verdicts=known_verdicts_section(lineage, standing.SHORT_EVIDENCE),
        questions=_asked_before(lineage),
    )


def _asked_before(lineage: Lineage) -> str:
    latest = lineage.latest
    if latest is None or latest.wonder is None:
        return ""
    return standing.questions(f"Questions of generation {latest.number}", latest.wonder.questions)


def facts(lineage: Lineage, reply: Reply) -> WonderCompleted:
    """Raises BadReply where the reply does not have the shape, names an unknown criterion or holds
    an empty question."""
    given = read(reply.text, _Reply)
    known = [c.id for c in lineage.current.seed.acceptance_criteria]
    return WonderCompleted(
        questions=tuple(_question(n, q, known) for n, q in enumerate(given.questions, 1)),
        tensions=tuple(filter(None, (one_line(t, LONGEST_QUESTION) for t in given.tensions))),
        usage=reply.usage,
    )


def _question(number: int, given: _Question, known: Container[str]) -> Question:
    text = one_line(given.question, LONGEST_QUESTION)
    if not text:
        raise BadReply(f"question {number} is empty")
    for criterion_id in given.criteria:
        if criterion_id not in known:
            raise BadReply(
                f"question {number} names {criterion_id!r}, and no criterion has that id"
            )
    return Question(
        question=text,
        criteria=tuple(dict.fromkeys(given.criteria)),
        subject=one_line(given.subject or "", LONGEST_SUBJECT),
    )
