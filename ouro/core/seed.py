"""The seed: what the loop is to reach. Immutable; a generation that adds to it makes a new one."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace


class Field(Struct, frozen=True, omit_defaults=True, gc=False):
    """One concept of the ontology. `required` is kept for people; similarity ignores it."""

    name: str
    field_type: str = "string"
    description: str = ""
    required: bool = True


class Ontology(Struct, frozen=True, omit_defaults=True, gc=False):
    name: str = ""
    description: str = ""
    fields: tuple[Field, ...] = ()


class Checks(Struct, frozen=True, omit_defaults=True, gc=False):
    """The mechanical side of a criterion; `timeout` in seconds.

    `verify_command` passes when it exits 0 and, where given, `output_assertion` occurs
    literally in what it printed. Every path of `expected_artifacts` must be in the committed tree.
    """

    verify_command: str | None = None
    expected_artifacts: tuple[str, ...] = ()
    output_assertion: str | None = None
    timeout: float | None = None

    def __bool__(self) -> bool:
        return self.verify_command is not None or bool(self.expected_artifacts)


NO_CHECKS = Checks()


class Criterion(Struct, frozen=True, omit_defaults=True, gc=False):
    """One acceptance criterion. `added_in` is 0 for the user's own, else the generation that
    added it; `notes` are reflect's remarks on it. The checks of a `hidden` one are not here but
    in the lineage's hidden blob.
    """

    id: str
    description: str
    checks: Checks = NO_CHECKS
    hidden: bool = False
    added_in: int = 0
    notes: tuple[str, ...] = ()


class Seed(Struct, frozen=True, omit_defaults=True, gc=False):
    """The whole spec. Everything below `ontology_schema` is carried along as it was given;
    `extra` holds the keys that ouro does not know. What the globs of `protect` fit is the
    user's: no agent changes it.
    """

    goal: str
    acceptance_criteria: tuple[Criterion, ...]
    constraints: tuple[str, ...] = ()
    ontology_schema: Ontology = Ontology()
    evaluation_principles: Any = None
    exit_conditions: Any = None
    task_type: str | None = None
    brownfield_context: Any = None
    metadata: Any = None
    extra: dict[str, Any] = {}
    protect: tuple[str, ...] = ()

    def criterion(self, criterion_id: str) -> Criterion | None:
        return next((c for c in self.acceptance_criteria if c.id == criterion_id), None)

    def with_ontology(self, fields: tuple[Field, ...]) -> "Seed":
        return replace(self, ontology_schema=replace(self.ontology_schema, fields=fields))


HiddenChecks = dict[str, Checks]
"""Criterion id -> its checks, for the criteria that are hidden."""
