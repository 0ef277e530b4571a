"""The sections of a prompt that say what is asked for. Nothing here tells a hidden criterion
from one that has no checks."""

from collections.abc import Container
from typing import Any

import msgspec

from ouro.core.seed import Checks, Criterion, Seed
from ouro.phases.text import bullets, fence, material, section


def goal(seed: Seed) -> str:
    return section("Goal", seed.goal.strip())


def constraints(seed: Seed) -> str:
    return section("Constraints", bullets(seed.constraints))


def criteria(seed: Seed, only: Container[str] | None = None) -> str:
    """All criteria, or those whose ids are in `only`, by id."""
    chosen = [c for c in seed.acceptance_criteria if only is None or c.id in only]
    return section("Acceptance criteria", bullets(_criterion(c) for c in chosen))


def _criterion(criterion: Criterion) -> str:
    added = f" (added in generation {criterion.added_in})" if criterion.added_in else ""
    return f"`{criterion.id}`{added}: {criterion.description.strip()}"


def criterion_notes(seed: Seed) -> str:
    """What earlier generations remarked on criteria."""
    lines = [f"{c.id}: {note}" for c in seed.acceptance_criteria for note in c.notes]
    return section("Remarks on criteria", material(bullets(lines)) if lines else "")


def ontology(seed: Seed) -> str:
    schema = seed.ontology_schema
    about = " ".join(filter(None, [schema.name, schema.description and f"({schema.description})"]))
    fields = [f"{f.name} ({f.field_type}): {f.description}" for f in schema.fields]
    lines = ([about] if about else []) + ([bullets(fields)] if fields else [])
    return section("Ontology", material("\n\n".join(lines)) if fields else "It has no fields yet.")


def checks(seed: Seed) -> str:
    """The mechanical checks of the visible criteria."""
    shown = [c for c in seed.acceptance_criteria if c.checks and not c.hidden]
    parts = [f"### `{c.id}`\n\n{_check(c.checks)}" for c in shown]
    return section("Checks that decide", "\n\n".join(parts))


def _check(check: Checks) -> str:
    parts: list[str] = []
    if check.verify_command is not None:
        within = f" within {check.timeout:g} s" if check.timeout is not None else ""
        parts.append(f"Run at the top of the tree, this has to exit 0{within}:")
        parts.append(fence(check.verify_command.strip(), "sh"))
        if check.output_assertion is not None:
            parts.append("What it prints has to contain this text:")
            parts.append(fence(check.output_assertion, "text"))
    if check.expected_artifacts:
        parts.append("These have to be in the tree, and not ignored by git:")
        parts.append(bullets(check.expected_artifacts))
    return "\n\n".join(parts)


def principles(seed: Seed) -> str:
    return section("Principles of evaluation", _as_given(seed.evaluation_principles))


def context(seed: Seed) -> str:
    """What the user said of the kind of task and of the code that was there before."""
    kind = f"Kind of task: {seed.task_type}" if seed.task_type else ""
    parts = [kind, _as_given(seed.brownfield_context)]
    return section("Context", "\n\n".join(filter(None, parts)))


def _as_given(value: Any) -> str:
    if not value:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return bullets(value)
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return fence(text, "json")
