"""The seed as YAML for people: derived from the log, never read back by a lineage."""

from typing import Any

from ouro.core.seed import Checks, Criterion, Field, Ontology, Seed

_HEAD = "# Derived from the log for people. A change made here has no effect.\n"


def render_seed(seed: Seed) -> bytes:
    """Block style, known keys in a fixed order, then the unknown ones; UTF-8, LF.

    `parse_seed` reads the same seed from it, but for what a seed file cannot say: the checks
    of hidden criteria (absent), and `added_in` and `notes`, which are reflect's.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        """Every value in full: no anchors, and texts of several lines as blocks."""

        def ignore_aliases(self, data: object) -> bool:
            return True

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            super().increase_indent(flow, False)

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        block = "\n" in value and all(line.isprintable() for line in value.split("\n"))
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if block else None)

    Dumper.add_representer(str, text)
    written = yaml.dump(
        _document(seed), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return (_HEAD + written).encode()


def _document(seed: Seed) -> dict[str, Any]:
    known = {
        "goal": seed.goal,
        "constraints": list(seed.constraints) or None,
        "acceptance_criteria": [_criterion(c) for c in seed.acceptance_criteria],
        "ontology_schema": _ontology(seed.ontology_schema),
        "evaluation_principles": seed.evaluation_principles,
        "exit_conditions": seed.exit_conditions,
        "task_type": seed.task_type,
        "brownfield_context": seed.brownfield_context,
        "metadata": seed.metadata,
        "protect": list(seed.protect) or None,
    }
    return _given(known) | seed.extra


def _given(mapping: dict[str, Any]) -> dict[str, Any]:
    """Without the keys that hold nothing."""
    return {key: value for key, value in mapping.items() if value is not None}


def _ontology(ontology: Ontology) -> dict[str, Any]:
    return {
        "name": ontology.name,
        "description": ontology.description,
        "fields": [_field(field) for field in ontology.fields],
    }


def _field(field: Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "field_type": field.field_type,
        "description": field.description,
        "required": field.required,
    }


def _criterion(criterion: Criterion) -> dict[str, Any]:
    own = {"id": criterion.id, "description": criterion.description}
    more = {
        "hidden": criterion.hidden or None,
        "added_in": criterion.added_in or None,
        "notes": list(criterion.notes) or None,
    }
    return own | _given(_checks(criterion.checks) | more)


def _checks(checks: Checks) -> dict[str, Any]:
    return {
        "verify_command": checks.verify_command,
        "expected_artifacts": list(checks.expected_artifacts) or None,
        "output_assertion": checks.output_assertion,
        "timeout": checks.timeout,
    }
