"""A phase's request: its template, filled with the sections that it names."""

from ouro.core.brief import Brief, Phase, Request
from ouro.core.lineage import Lineage
from ouro.phases import Prompts, specification, standing
from ouro.phases.template import fill


def compose(brief: Brief, lineage: Lineage, prompts: Prompts, **own: str) -> Request:
    """The request of `brief.phase`. `own` are the phase's sections beside the common ones; a
    user's template may use any of them, in any order."""
    values = {**_common(brief.phase, lineage, prompts), **own}
    return Request(brief=brief, prompt=fill(prompts[brief.phase], values))


def _common(phase: Phase, lineage: Lineage, prompts: Prompts) -> dict[str, str]:
    seed = lineage.current.seed
    return {
        "frame": prompts["frame"].strip(),
        "goal": specification.goal(seed),
        "constraints": specification.constraints(seed),
        "criteria": specification.criteria(seed),
        "criterion_notes": specification.criterion_notes(seed),
        "context": specification.context(seed),
        "principles": specification.principles(seed),
        "ontology": specification.ontology(seed),
        "persona": standing.persona(lineage),
        "standing": standing.standing(lineage, prompts),
        "learnings": standing.learnings(lineage),
        "summary": standing.summary(lineage),
        "review": standing.review(lineage),
        "notes": standing.notes(lineage),
        "reply_format": prompts[f"reply/{phase}"].strip(),
    }


def known_verdicts_section(lineage: Lineage, passing: int) -> str:
    """The verdicts that are known before this generation's own."""
    before = standing.judged(lineage)
    title = f"Verdicts of generation {before.number}" if before else ""
    return standing.verdicts(title, lineage.current.seed, standing.known_verdicts(lineage), passing)
