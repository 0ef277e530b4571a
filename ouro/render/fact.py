"""Events and what they hold, as lines that people read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from ouro.core.events import (
    CriterionChange,
    Data,
    Event,
    LeftOut,
    LineageCreated,
    LineageForked,
    Mutation,
    Question,
    Usage,
    Verdict,
)
from ouro.core.seed import Criterion, Field, Seed
from ouro.core.story import body, counted, headline
from ouro.git.timeline import Recorded
from ouro.render.screen import TITLE, Screen, printable


def event_line(event: Event) -> str:
    return printable(f"{event.seq:>4}  {event.at[:19]}Z  gen {event.generation}  {headline(event)}")


def event_text(one: Recorded, screen: Screen, *, details: bool) -> str:
    """An event as `git log` shows a commit; with `details`, all that it holds."""
    event = one.event
    rows = [
        ("Id", event.id),
        ("Gen", str(event.generation)),
        ("Date", f"{event.at[:19]}Z"),
        ("Commit", one.commit),
    ]
    told = data_lines(event.data) if details else body(event).splitlines()
    lines = [headline(event), *([""] if told else []), *told]
    return "\n".join(
        [
            screen.painted(printable(f"event {event.seq} {event.type}"), TITLE),
            *(printable(f"{name + ':':<8}{text}") for name, text in rows),
            "",
            *(printable(f"    {line}".rstrip()) for line in lines),
            "",
        ]
    )


def data_lines(data: Data) -> list[str]:
    """Everything in an event's data but what is empty; of a reflection's seed the size only."""
    if isinstance(data, LineageCreated | LineageForked) and data.seed:
        return [*seed_lines(data.seed), *_struct_lines(data, without="seed")]
    return _struct_lines(data)


def _struct_lines(value: Struct, without: str = "") -> list[str]:
    names = [name for name in value.__struct_fields__ if name != without]
    return [line for name in names for line in named_lines(name, getattr(value, name))]


def named_lines(name: str, value: Any) -> list[str]:
    """`name: value`, or the name above what there is more of; nothing where there is nothing."""
    title = name.replace("_", " ")
    lines = _lines(value)
    if len(lines) == 1 and not isinstance(value, list | tuple):
        return [f"{title}: {lines[0]}"]
    return [f"{title}:", *indented(lines)] if lines else []


def _lines(value: Any) -> list[str]:
    match value:
        case None | "":
            return []
        case str():
            return value.strip().splitlines()
        case bool():
            return ["yes" if value else "no"]
        case int() | float():
            return [f"{value:g}"]
        case list() | tuple():
            return [line for one in value for line in listed(_lines(one))]
        case dict():
            return [line for name, one in value.items() for line in named_lines(str(name), one)]
        case Struct():
            return item(value).splitlines() or _struct_lines(value)
        case _:
            return [str(value)]


def item(value: Struct) -> str:
    """What is told in its own words; "" for what is told field by field."""
    match value:
        case Question(question, criteria, subject):
            about = ", ".join([*criteria, *([subject] if subject else [])])
            return f"{question} ({about})" if about else question
        case Mutation():
            return _mutation(value)
        case CriterionChange(action, name, description):
            return f"{action} {name}: {description}"
        case LeftOut(path, reason):
            return f"{path}: {reason}"
        case Verdict():
            return verdict_text(value)
        case Usage():
            return usage_text(value)
        case Criterion():
            return criterion_text(value)
        case Field():
            return field_text(value)
        case Seed():
            fields = counted(len(value.ontology_schema.fields), "field")
            return f"criteria {', '.join(c.id for c in value.acceptance_criteria)}; {fields}"
        case _:
            return ""


def _mutation(one: Mutation) -> str:
    kind = f" ({one.field_type})" if one.field_type else ""
    told = f": {one.description}" if one.description else ""
    return f"{one.action} {one.name}{kind}{told}" + (f"; {one.reason}" if one.reason else "")


def verdict_text(one: Verdict) -> str:
    state = "passed" if one.passed else "open"
    evidence = "\n".join(indented(one.evidence.strip().splitlines()))
    return f"{one.id} {state} ({one.method}, {one.score:g})\n{evidence}".rstrip()


def usage_text(one: Usage) -> str:
    """What the client does not say is unknown, not free."""
    model = f" ({one.model})" if one.model else ""
    tokens = f"{_count(one.input_tokens)} tokens in, {_count(one.output_tokens)} out"
    cost = "cost unknown" if one.cost is None else f"{one.cost:.4f} USD"
    return f"{one.agent}{model}, {tokens}, {cost}, {one.seconds:.1f} s"


def _count(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def field_text(one: Field) -> str:
    needed = "" if one.required else ", optional"
    return f"{one.name} ({one.field_type}{needed})" + (
        f": {one.description}" if one.description else ""
    )


def criterion_text(one: Criterion) -> str:
    """With its checks, and what reflect had to remark."""
    where = f" (from generation {one.added_in})" if one.added_in else ""
    lines = [f"{one.id}: {' '.join(one.description.split())}{where}"]
    if one.checks.verify_command is not None:
        lines += indented([f"verified by: {one.checks.verify_command}"])
    if one.checks.expected_artifacts:
        lines += indented([f"files: {', '.join(one.checks.expected_artifacts)}"])
    if one.hidden:
        lines += indented(["its checks are hidden"])
    return "\n".join([*lines, *indented(f"note: {text}" for text in one.notes)])


def seed_lines(seed: Seed) -> list[str]:
    return [
        *named_lines("goal", seed.goal),
        *named_lines("constraints", seed.constraints),
        *named_lines("criteria", seed.acceptance_criteria),
        *named_lines(f"ontology {seed.ontology_schema.name}".rstrip(), seed.ontology_schema.fields),
    ]


def indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}".rstrip() for line in lines]


def listed(lines: list[str]) -> list[str]:
    """One entry of a list: a dash, and what is more of it below."""
    return [f"- {lines[0]}", *indented(lines[1:])] if lines else []
