"""Which event brought each part of the spec, changed it last, met it and broke it."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from ouro.core.comparison import State
from ouro.core.events import EvaluateCompleted, Event, LineageForked, Verdict
from ouro.core.lineage import Lineage, evolve
from ouro.core.ontology import normalise
from ouro.core.seed import Criterion, Field, Seed


class Point(Struct, frozen=True):
    """An event: its generation (0 at the creation), its number, the commit that recorded it."""

    generation: int
    seq: int
    commit: str


class FieldBlame(Struct, frozen=True):
    field: Field
    brought: Point
    changed: Point | None = None


class CriterionBlame(Struct, frozen=True):
    """`met` and `broke` are the last verdicts that turned it from open to passed and back."""

    criterion: Criterion
    brought: Point
    changed: Point | None = None
    met: Point | None = None
    broke: Point | None = None
    state: State = State.OPEN


class Blame(Struct, frozen=True):
    """The parts of the newest seed, in its order."""

    lineage_id: str
    criteria: tuple[CriterionBlame, ...]
    fields: tuple[FieldBlame, ...]


def blame(recorded: Iterable[tuple[Event, str]]) -> Blame:
    """Of a whole log, oldest event first, each with the commit that recorded it.

    A field is known by its normalised name, a criterion by its id; what was removed and came back
    counts from its return. With a fork's own seed everything begins anew.
    """
    lineage: Lineage | None = None
    criteria: dict[str, CriterionBlame] = {}
    fields: dict[str, FieldBlame] = {}
    for event, commit in recorded:
        before = lineage.seed if lineage else None
        lineage = evolve(lineage, event)
        point = Point(event.generation, event.seq, commit)
        if isinstance(event.data, LineageForked) and event.data.seed:
            before, criteria, fields = (
                None,
                {},
                {},
            )  # what met another seed says nothing of this one
        if lineage.seed != before:
            criteria = _criteria(criteria, lineage.seed, point)
            fields = _fields(fields, lineage.seed, point)
        if isinstance(event.data, EvaluateCompleted):
            criteria |= _judged(criteria, event.data.verdicts, point)
    assert lineage is not None, "a log has events"
    return Blame(lineage.id, tuple(criteria.values()), tuple(fields.values()))


def _criteria(
    known: dict[str, CriterionBlame], seed: Seed, point: Point
) -> dict[str, CriterionBlame]:
    found = {}
    for criterion in seed.acceptance_criteria:
        one = known.get(criterion.id) or CriterionBlame(criterion, point)
        same = one.criterion == criterion
        found[criterion.id] = one if same else replace(one, criterion=criterion, changed=point)
    return found


def _fields(known: dict[str, FieldBlame], seed: Seed, point: Point) -> dict[str, FieldBlame]:
    found = {}
    for field in seed.ontology_schema.fields:
        key = normalise(field.name)
        one = known.get(key) or FieldBlame(field, point)
        same = one.field == field
        found[key] = one if same else replace(one, field=field, changed=point)
    return found


def _judged(
    known: dict[str, CriterionBlame], verdicts: Iterable[Verdict], point: Point
) -> dict[str, CriterionBlame]:
    """Those of `known` whose state the verdicts turned."""
    turned = (v for v in verdicts if v.id in known)
    return {
        verdict.id: replace(known[verdict.id], state=State.PASSED, met=point)
        if verdict.passed
        else replace(known[verdict.id], state=State.OPEN, broke=point)
        for verdict in turned
        if verdict.passed != (known[verdict.id].state is State.PASSED)
    }
