"""What changed between two generations: seed, verdicts, QA. The code is git's to compare."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from ouro.core.lineage import Generation
from ouro.core.ontology import delta, normalise, similarity
from ouro.core.seed import Criterion, Field, Ontology, Seed


class State(StrEnum):
    """Of a criterion: what was not judged yet is open."""

    PASSED = "passed"
    OPEN = "open"


class FieldChange(Struct, frozen=True):
    before: Field
    after: Field


class CriterionChange(Struct, frozen=True):
    before: Criterion
    after: Criterion


class SeedChanges(Struct, frozen=True, kw_only=True):
    """Two seeds, before against after; fields as `ontology.delta` tells them apart."""

    similarity: float
    added: tuple[Field, ...]
    removed: tuple[Field, ...]
    modified: tuple[FieldChange, ...]
    criteria_added: tuple[Criterion, ...]
    criteria_removed: tuple[Criterion, ...]
    criteria_changed: tuple[CriterionChange, ...]


class StateChange(Struct, frozen=True):
    id: str
    before: State
    after: State


class Comparison(Struct, frozen=True, kw_only=True):
    """Two generations by number. `states` holds the criteria of `after` whose state is another
    than before; QA's scores (0 to 100) are None where there was no review."""

    before: int
    after: int
    seed: SeedChanges
    states: tuple[StateChange, ...]
    qa_before: float | None
    qa_after: float | None


def compare(before: Generation, after: Generation) -> Comparison:
    return Comparison(
        before=before.number,
        after=after.number,
        seed=seed_changes(before.seed, after.seed),
        states=_state_changes(before, after),
        qa_before=before.qa.score if before.qa else None,
        qa_after=after.qa.score if after.qa else None,
    )


def seed_changes(before: Seed, after: Seed) -> SeedChanges:
    old, new = before.ontology_schema, after.ontology_schema
    changed = delta(old, new)
    return SeedChanges(
        similarity=similarity(old, new),
        added=_labelled(changed.added, new),
        removed=_labelled(changed.removed, old),
        modified=_pairs(changed.modified, old, new),
        criteria_added=_only_in(after, before),
        criteria_removed=_only_in(before, after),
        criteria_changed=tuple(
            CriterionChange(earlier, criterion)
            for criterion in after.acceptance_criteria
            if (earlier := before.criterion(criterion.id)) and earlier != criterion
        ),
    )


def state_of(generation: Generation | None, criterion_id: str) -> State:
    """The verdict of `generation` on a criterion."""
    verdicts = generation.verdicts if generation else ()
    passed = any(v.id == criterion_id and v.passed for v in verdicts)
    return State.PASSED if passed else State.OPEN


def _state_changes(before: Generation, after: Generation) -> tuple[StateChange, ...]:
    if not after.verdicts:
        return ()
    ids = (criterion.id for criterion in after.seed.acceptance_criteria)
    pairs = ((name, state_of(before, name), state_of(after, name)) for name in ids)
    return tuple(StateChange(name, was, now) for name, was, now in pairs if was is not now)


def _only_in(one: Seed, other: Seed) -> tuple[Criterion, ...]:
    return tuple(c for c in one.acceptance_criteria if other.criterion(c.id) is None)


def _labelled(labels: Iterable[str], ontology: Ontology) -> tuple[Field, ...]:
    fields = list(ontology.fields)
    return tuple(_taken(fields, label) for label in labels)


def _pairs(labels: Iterable[str], old: Ontology, new: Ontology) -> tuple[FieldChange, ...]:
    earlier, later = list(old.fields), list(new.fields)
    return tuple(FieldChange(_taken(earlier, label), _taken(later, label)) for label in labels)


def _taken(fields: list[Field], label: str) -> Field:
    """The field that `label` names, which is then no longer among `fields`."""
    found = next(field for field in fields if normalise(field.name) == normalise(label))
    fields.remove(found)
    return found
