"""wonder, reflect and qa: replies that follow from the seed and the verdicts alone."""

from collections.abc import Iterable
from typing import Any

from ouro.agents.offline.plan import Plan, plan_for
from ouro.agents.offline.terms import Term, terms_of
from ouro.core.brief import Brief
from ouro.core.ontology import normalise
from ouro.core.seed import Criterion, Seed

_AT_ONCE = 3
"""New terms in one generation."""


_MOST = 40
"""Criteria told of in one reply: every reply has its limit, and the score counts them all."""


def wonder(brief: Brief) -> dict[str, Any]:
    """Questions on the criteria that failed, then on the first terms that the ontology lacks."""
    failed = [_failure_question(criterion) for criterion in _failed(brief)[:_MOST]]
    lacking = _lacking(brief.seed)[:_AT_ONCE]
    questions = failed + [_term_question(term) for term in lacking]
    return {"questions": questions, "tensions": _tensions(plan_for(brief.seed))}


def _failed(brief: Brief) -> list[Criterion]:
    """In the seed's order; a criterion without a verdict has not failed."""
    ids = {verdict.id for verdict in brief.verdicts if not verdict.passed}
    return [criterion for criterion in brief.seed.acceptance_criteria if criterion.id in ids]


def _failure_question(criterion: Criterion) -> dict[str, Any]:
    """The same each time, so that asking in vain shows as repetition."""
    return {
        "question": f"What does {criterion.id} still need: {criterion.description}",
        "criteria": [criterion.id],
        "subject": criterion.id,
    }


def _lacking(seed: Seed) -> list[Term]:
    present = {normalise(field.name) for field in seed.ontology_schema.fields}
    return [term for term in terms_of(seed) if normalise(term.name) not in present]


def _term_question(term: Term) -> dict[str, Any]:
    return {
        "question": f"What exactly is meant by {term.written}, and what must hold of it?",
        "criteria": list(term.criteria[:_MOST]),
        "subject": term.name,
    }


def _tensions(plan: Plan) -> list[str]:
    """Demands on one function or test file that cannot be met together."""
    troubled = [(f.name, f.trouble) for f in plan.functions if f.path and f.trouble]
    return list(dict.fromkeys(f"{name}: {trouble}" for name, trouble in troubled))


def reflect(brief: Brief) -> dict[str, Any]:
    """Adds what the questions are about, and describes fields that nobody described."""
    added = _additions(brief)
    described = _descriptions(brief.seed)
    return {
        "ontology_mutations": added + described,
        "criteria": [],
        "learnings": [],
        "reasoning": _reasoning(len(added), len(described)),
    }


def _additions(brief: Brief) -> list[dict[str, Any]]:
    """One for each subject that is neither a criterion nor a field already."""
    seed = brief.seed
    taken = {normalise(field.name) for field in seed.ontology_schema.fields}
    criteria = {_squeezed(criterion.id) for criterion in seed.acceptance_criteria}
    known = {normalise(term.name): term for term in terms_of(seed)}
    found = []
    for question in brief.questions:
        name = normalise(question.subject)
        word = _squeezed(question.subject)
        if word.isalnum() and word not in criteria and name not in taken:
            taken.add(name)
            term = known.get(name) or _foreign(question.subject, name)
            found.append(_addition(term, question.question))
    return found


def _squeezed(name: str) -> str:
    return normalise(name).replace(" ", "")


def _foreign(subject: str, name: str) -> Term:
    """A subject that another agent asked about."""
    return Term("_".join(name.split()), "string", subject.strip(), ())


def _addition(term: Term, question: str) -> dict[str, Any]:
    return {
        "action": "add",
        "name": term.name,
        "field_type": term.kind,
        "description": term.description,
        "reason": f"It was asked: {question}",
    }


def _descriptions(seed: Seed) -> list[dict[str, Any]]:
    """For fields without any; described, a field is left as it is from then on."""
    known = {normalise(term.name): term for term in terms_of(seed)}
    bare = [field for field in seed.ontology_schema.fields if not field.description.strip()]
    return [
        {
            "action": "modify",
            "name": field.name,
            "description": known[normalise(field.name)].description,
            "reason": "It had no description.",
        }
        for field in bare
        if normalise(field.name) in known
    ]


def _reasoning(added: int, described: int) -> str:
    if added or described:
        return f"By rule: {added} added, {described} described."
    return "By rule: the ontology has every term that was asked about."


def qa(brief: Brief) -> dict[str, Any]:
    """The share of the seed's criteria that passed, and a suggestion for each of the others."""
    passed = {verdict.id for verdict in brief.verdicts if verdict.passed}
    criteria = brief.seed.acceptance_criteria
    missing = [criterion for criterion in criteria if criterion.id not in passed]
    share = (len(criteria) - len(missing)) / len(criteria) if criteria else 0.0
    evidence = {verdict.id: verdict.evidence for verdict in brief.verdicts}
    plan = plan_for(brief.seed)
    return {
        "score": round(100 * share, 4),
        "differences": [_difference(c, evidence) for c in missing[:_MOST]],
        "suggestions": list(_suggestions(missing[:_MOST], plan)),
    }


def _difference(criterion: Criterion, evidence: dict[str, str]) -> str:
    found = evidence.get(criterion.id) or "no verdict"
    return f"{criterion.id} is not met: {criterion.description} ({found})"


def _suggestions(missing: Iterable[Criterion], plan: Plan) -> Iterable[str]:
    for criterion in missing:
        trouble = plan.trouble(criterion.id)
        if trouble:
            yield (
                f"{criterion.id}: no rule serves it ({trouble}); run it with a coding agent, give "
                "it a verify_command, or name a file, a text that a function returns, or tests"
            )
        else:
            yield f"{criterion.id}: make it so, then it can be checked: {criterion.description}"
