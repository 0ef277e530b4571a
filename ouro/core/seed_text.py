"""The seed as YAML for people: the same bytes on every machine, whatever PyYAML is there.

Written here and not by PyYAML, because its C and Python writers differ in details, and because
a step writes a seed far more often than it reads one and need not import yaml for that.
"""

import re
from collections.abc import Iterator
from typing import Any

from ouro.core.seed import Checks, Criterion, Field, Ontology, Seed

_HEAD = "# Derived from the log for people. A change made here has no effect."

# Plain: begins like a word, holds nothing that YAML could take for a sign of its own.
# Character ranges are spelled out, because \w and isprintable() grow with each Unicode version.
_BEYOND_ASCII = "\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010fffe"
_PLAIN = re.compile(f"[A-Za-z{_BEYOND_ASCII}](?:[ -~{_BEYOND_ASCII}]*[!-9;-~{_BEYOND_ASCII}])?")
_NOT_PLAIN = re.compile(r": | #")
_WORDS_WITH_MEANING = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])
_BLOCK_LINE = re.compile(f"(?:[ -~\t{_BEYOND_ASCII}]*[!-~{_BEYOND_ASCII}])?")
_ESCAPED = re.compile(
    '["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff\U0010ffff]'
)
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def render_seed(seed: Seed) -> bytes:
    """Block style, known keys in a fixed order, then the unknown ones; UTF-8, LF.

    `parse_seed` reads the same seed from it, but for what a seed file cannot say: the checks
    of hidden criteria (absent), and `added_in` and `notes` (comments: in a new lineage every
    criterion is the user's own).
    """
    lines = [_HEAD, *_pairs({"goal": seed.goal}, "")]
    lines += _pairs(_given({"constraints": list(seed.constraints) or None}), "")
    lines.append("acceptance_criteria:")
    for criterion in seed.acceptance_criteria:
        lines += _criterion(criterion)
    lines += _pairs(_given(_rest(seed)) | seed.extra, "")
    return ("\n".join(lines) + "\n").encode()


def _given(mapping: dict[str, Any]) -> dict[str, Any]:
    """Without the keys that hold nothing."""
    return {key: value for key, value in mapping.items() if value is not None}


def _rest(seed: Seed) -> dict[str, Any]:
    return {
        "ontology_schema": _ontology(seed.ontology_schema),
        "evaluation_principles": seed.evaluation_principles,
        "exit_conditions": seed.exit_conditions,
        "task_type": seed.task_type,
        "brownfield_context": seed.brownfield_context,
        "metadata": seed.metadata,
    }


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


def _criterion(criterion: Criterion) -> list[str]:
    pairs = {"id": criterion.id, "description": criterion.description}
    pairs |= _given(_checks(criterion.checks)) | ({"hidden": True} if criterion.hidden else {})
    return [f"  # {remark}" for remark in _remarks(criterion)] + list(_items([pairs], "  "))


def _remarks(criterion: Criterion) -> list[str]:
    added = [f"added in generation {criterion.added_in}"] if criterion.added_in else []
    return added + [f"note: {_quoted(note)}" for note in criterion.notes]


def _checks(checks: Checks) -> dict[str, Any]:
    whole = checks.timeout is not None and checks.timeout.is_integer()
    return {
        "verify_command": checks.verify_command,
        "expected_artifacts": list(checks.expected_artifacts) or None,
        "output_assertion": checks.output_assertion,
        "timeout": int(checks.timeout or 0) if whole else checks.timeout,
    }


def _pairs(mapping: dict[str, Any], pad: str) -> Iterator[str]:
    for key, value in mapping.items():
        head = f"{pad}{_quoted(key) if _needs_quotes(key) else key}:"
        if isinstance(value, dict | list) and value:
            yield head
            yield from _nested(value, pad + "  ")
        else:
            yield from _scalar(head, value, pad)


def _items(values: list[Any], pad: str) -> Iterator[str]:
    for value in values:
        if isinstance(value, dict | list) and value:
            first, *others = _nested(value, pad + "  ")
            yield f"{pad}- {first[len(pad) + 2 :]}"
            yield from others
        else:
            yield from _scalar(f"{pad}-", value, pad)


def _nested(value: dict[str, Any] | list[Any], pad: str) -> Iterator[str]:
    return _pairs(value, pad) if isinstance(value, dict) else _items(value, pad)


def _scalar(head: str, value: Any, pad: str) -> Iterator[str]:
    if isinstance(value, str) and _fits_block(value):
        yield f"{head} {'|' if value.endswith(chr(10)) else '|-'}"
        for line in value.removesuffix("\n").split("\n"):
            yield f"{pad}  {line}" if line else ""
    else:
        yield f"{head} {_inline(value)}"


def _fits_block(text: str) -> bool:
    """Several lines, none of which a block would show ambiguously or not at all."""
    lines = text.removesuffix("\n").split("\n")
    sound = all(_BLOCK_LINE.fullmatch(line) for line in lines)
    return len(lines) > 1 and sound and lines[-1] != "" and lines[0][:1] not in ("", " ", "\t")


def _inline(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value) if _needs_quotes(value) else value
        case float():
            return _float(value)
        case list():
            return "[]"
        case dict():
            return "{}"
        case _:
            return str(value)


def _float(number: float) -> str:
    """YAML 1.1 asks for a point: 1e+16 would be text."""
    digits, sign, exponent = repr(number).partition("e")
    return (digits if "." in digits else digits + ".0") + sign + exponent


def _needs_quotes(text: str) -> bool:
    if _NOT_PLAIN.search(text) or text.lower() in _WORDS_WITH_MEANING:
        return True
    return _PLAIN.fullmatch(text) is None


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    return _SHORT.get(char) or f"\\U{ord(char):08x}"
