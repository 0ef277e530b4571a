"""Reflect: what was found out becomes the next seed."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from ouro.core.brief import Brief, Phase, Reply, Request
from ouro.core.events import ReflectCompleted
from ouro.core.lineage import MAX_LEARNINGS, Lineage
from ouro.phases import Prompts, standing
from ouro.phases.compose import compose, known_verdicts_section
from ouro.phases.criteria import AskedChange, change
from ouro.phases.mutations import AskedMutation, mutate
from ouro.phases.reply import read
from ouro.phases.text import block, one_line

LONGEST_LEARNING = 500
LONGEST_REASONING = 4_000


class _Reply(Struct, frozen=True):
    ontology_mutations: Annotated[tuple[AskedMutation, ...], Meta(max_length=100)]
    criteria: Annotated[tuple[AskedChange, ...], Meta(max_length=50)] = ()
    learnings: tuple[str, ...] = ()
    reasoning: str = ""


def request(lineage: Lineage, prompts: Prompts) -> Request:
    wonder = lineage.current.wonder
    questions = wonder.questions if wonder else ()
    brief = Brief(
        phase=Phase.REFLECT,
        lineage_id=lineage.id,
        generation=lineage.current.number,
        seed=lineage.current.seed,
        verdicts=standing.known_verdicts(lineage),
        questions=questions,
    )
    return compose(
        brief,
        lineage,
        prompts,
        verdicts=known_verdicts_section(lineage, standing.SHORT_EVIDENCE),
        questions=standing.questions("Questions of this generation", questions),
        tensions=standing.tensions(wonder.tensions if wonder else ()),
    )


def facts(lineage: Lineage, reply: Reply) -> ReflectCompleted:
    """With the whole next seed: the present one after all mutations and changes.

    Raises BadReply where the reply does not have the shape, or asks for what cannot be done.
    """
    given = read(reply.text, _Reply)
    current = lineage.current
    fields, mutations = mutate(current.seed.ontology_schema.fields, given.ontology_mutations)
    criteria, changes = change(current.seed.acceptance_criteria, given.criteria, current.number)
    return ReflectCompleted(
        mutations=mutations,
        criteria=changes,
        learnings=_learnings(given.learnings),
        reasoning=block(given.reasoning, LONGEST_REASONING),
        seed=replace(current.seed.with_ontology(fields), acceptance_criteria=criteria),
        usage=reply.usage,
    )


def _learnings(given: Iterable[str]) -> tuple[str, ...]:
    """Each once, the newest of them: more than the prompts show would be lost anyway."""
    texts = (one_line(text, LONGEST_LEARNING) for text in given)
    return tuple(dict.fromkeys(filter(None, texts)))[-MAX_LEARNINGS:]
