"""What reflect changes in a seed, applied: for the phase, and for whoever checks its result."""

from collections.abc import Sequence

from msgspec.structs import replace

from ouro.core.events import CriterionChange, Mutation, ReflectCompleted
from ouro.core.seed import Criterion, Field, Seed

MOST_NOTES = 5

Fields = tuple[Field, ...]


def next_seed(seed: Seed, said: ReflectCompleted, generation: int) -> Seed:
    """The seed that the changes of `said` make of `seed` in `generation`."""
    criteria = {criterion.id: criterion for criterion in seed.acceptance_criteria}
    for change in said.criteria:
        criteria[change.id] = revised(criteria.get(change.id), change, generation)
    fields = mutated(seed.ontology_schema.fields, said.mutations)
    return replace(seed.with_ontology(fields), acceptance_criteria=tuple(criteria.values()))


def mutated(fields: Fields, mutations: Sequence[Mutation]) -> Fields:
    """Modified fields keep their place, added ones come last, in order."""
    by_name = {m.name: m for m in mutations if m.action != "add"}
    kept = [_changed(f, by_name.get(f.name)) for f in fields]
    added = [_new(m) for m in mutations if m.action == "add"]
    return tuple(f for f in (*kept, *added) if f is not None)


def _changed(field: Field, mutation: Mutation | None) -> Field | None:
    if mutation is None:
        return field
    if mutation.action == "remove":
        return None
    kind, text = mutation.field_type, mutation.description
    return replace(
        field,
        field_type=field.field_type if kind is None else kind,
        description=field.description if text is None else text,
    )


def _new(mutation: Mutation) -> Field:
    return Field(
        name=mutation.name,
        field_type=mutation.field_type or "string",
        description=mutation.description or "",
    )


def revised(before: Criterion | None, done: CriterionChange, generation: int) -> Criterion:
    """The criterion after one change; one that was not there is added in `generation`."""
    text = done.description
    if before is None:
        return Criterion(id=done.id, description=text, added_in=generation)
    if done.action == "revise":
        return replace(before, description=text)
    earlier = (note for note in before.notes if note != text)
    return replace(before, notes=(*earlier, text)[-MOST_NOTES:])
