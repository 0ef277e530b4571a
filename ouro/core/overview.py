"""A lineage at a glance: what it is to reach, and how far it has come."""

from msgspec import Struct

from ouro.core.comparison import State, state_of
from ouro.core.lineage import Generation, Lineage
from ouro.core.seed import Criterion, Ontology

PHASES = ("wonder", "reflect", "execute", "evaluate", "qa")


class CriterionState(Struct, frozen=True):
    criterion: Criterion
    state: State


class Overview(Struct, frozen=True, kw_only=True):
    """`generation` is the one in progress, else the newest (0: none has begun); `done` its phases
    so far, `action` and `reason` its decision. States are those of the newest that was judged."""

    lineage_id: str
    goal: str
    constraints: tuple[str, ...]
    criteria: tuple[CriterionState, ...]
    ontology: Ontology
    generation: int
    done: tuple[str, ...]
    action: str | None
    reason: str | None


def overview(lineage: Lineage) -> Overview:
    current = lineage.open or lineage.latest
    completed = current.completed if current else None
    judged = judged_last(lineage)
    return Overview(
        lineage_id=lineage.id,
        goal=lineage.seed.goal,
        constraints=lineage.seed.constraints,
        criteria=tuple(
            CriterionState(criterion, state_of(judged, criterion.id))
            for criterion in lineage.seed.acceptance_criteria
        ),
        ontology=lineage.seed.ontology_schema,
        generation=current.number if current else 0,
        done=tuple(phase for phase in PHASES if getattr(current, phase, None)),
        action=completed.action if completed else None,
        reason=completed.reason if completed else None,
    )


def judged_last(lineage: Lineage) -> Generation | None:
    """The newest generation of this seed that was judged."""
    everything = (*lineage.counted, *([lineage.open] if lineage.open else []))
    return next((g for g in reversed(everything) if g.verdicts), None)
