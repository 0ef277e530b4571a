"""Ontology mutations as an agent asks for them: checked against the fields, then applied."""

from collections.abc import Sequence

from msgspec import Struct

from ouro.core.events import Mutation
from ouro.core.ontology import normalise
from ouro.core.seed import Field
from ouro.core.seed_changes import Fields, mutated
from ouro.phases import BadReply
from ouro.phases.text import one_line

MOST_FIELDS = 300
"""As in a seed file: similarity compares every field with every other."""
LONGEST_NAME = 200
LONGEST_TEXT = 1_000


class AskedMutation(Struct, frozen=True):
    """One entry of the reply's `ontology_mutations`."""

    action: str
    name: str
    field_type: str | None = None
    description: str | None = None
    reason: str | None = None


def mutate(fields: Fields, asked: Sequence[AskedMutation]) -> tuple[Fields, tuple[Mutation, ...]]:
    """The fields after all of `asked`, and the mutations with the names that the fields have.

    Modified fields keep their place, added ones come last, in order. Raises BadReply.
    """
    mutations = tuple(_checked(fields, mutation) for mutation in asked)
    _once_each(mutations)
    after = mutated(fields, mutations)
    if fields and not after:
        raise BadReply("the mutations would remove every field of the ontology")
    if len(after) > max(MOST_FIELDS, len(fields)):
        raise BadReply(f"the ontology would have {len(after)} fields, {MOST_FIELDS} is the limit")
    return after, mutations


def _checked(fields: Fields, asked: AskedMutation) -> Mutation:
    name = one_line(asked.name, LONGEST_NAME)
    if not normalise(name):
        raise BadReply("an ontology mutation has no name")
    match asked.action:
        case "add":
            return _addition(fields, name, asked)
        case "modify":
            return _modification(_named(fields, name), asked)
        case "remove":
            return _removal(_named(fields, name), asked)
    raise BadReply(f"{asked.action!r} ({name}) is no action: use add, modify or remove")


def _addition(fields: Fields, name: str, asked: AskedMutation) -> Mutation:
    same = _matches(fields, name)
    if same:
        raise BadReply(f"add {name!r}: the ontology has {same[0].name!r} already; modify that")
    return Mutation(
        action="add",
        name=name,
        field_type=one_line(asked.field_type or "", LONGEST_NAME) or "string",
        description=_description("add", name, asked.description or ""),
        reason=_reason(asked),
    )


def _modification(field: Field, asked: AskedMutation) -> Mutation:
    kind = one_line(asked.field_type or "", LONGEST_NAME) or None
    if asked.description is None and kind is None:
        raise BadReply(f"modify {field.name!r}: give a field_type or a description")
    text = asked.description
    return Mutation(
        action="modify",
        name=field.name,
        field_type=kind,
        description=None if text is None else _description("modify", field.name, text),
        reason=_reason(asked),
    )


def _removal(field: Field, asked: AskedMutation) -> Mutation:
    reason = _reason(asked)
    if not reason:
        raise BadReply(f"remove {field.name!r}: a removal needs a reason")
    return Mutation(action="remove", name=field.name, reason=reason)


def _description(action: str, name: str, text: str) -> str:
    description = one_line(text, LONGEST_TEXT)
    if not description:
        raise BadReply(f"{action} {name!r}: the description is empty")
    return description


def _reason(asked: AskedMutation) -> str:
    return one_line(asked.reason or "", LONGEST_TEXT)


def _named(fields: Fields, name: str) -> Field:
    found = _matches(fields, name)
    if not found:
        raise BadReply(f"the ontology has no field {name!r}")
    if len(found) > 1:
        raise BadReply(f"{name!r} fits several fields: {', '.join(f.name for f in found)}")
    return found[0]


def _matches(fields: Fields, name: str) -> list[Field]:
    """The field of exactly that name, else those whose names say the same."""
    exact = [field for field in fields if field.name == name]
    same = normalise(name)
    return exact or [field for field in fields if normalise(field.name) == same]


def _once_each(mutations: Sequence[Mutation]) -> None:
    seen: set[str] = set()
    for mutation in mutations:
        # An added name may be spelled in two ways; one that is there has one spelling.
        key = normalise(mutation.name) if mutation.action == "add" else mutation.name
        if key in seen:
            raise BadReply(f"two mutations of {mutation.name!r}: one a field")
        seen.add(key)
