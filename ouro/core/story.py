"""Commit messages: a lineage's history as people read it with `git log`."""

from collections.abc import Sequence
from typing import assert_never

from ouro.core.events import (
    EvaluateCompleted,
    Event,
    EvolveStepCompleted,
    EvolveStepFailed,
    EvolveStepInterrupted,
    ExecuteCompleted,
    LateralThinkApplied,
    LineageCreated,
    LineageForked,
    LineageRestored,
    LineageRewound,
    Method,
    NoteAdded,
    PauseCleared,
    PolicyChanged,
    QaCompleted,
    ReflectCompleted,
    WonderCompleted,
)

SUBJECT = 100
"""Longest subject, in characters."""

_CONTROLS = dict.fromkeys(
    code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
)
"""What agents write may end a message early (NUL) or drive a terminal (escape sequences)."""


def message(events: Sequence[Event]) -> str:
    """The message of the commit that appends `events`: subject, body, trailers."""
    said = "; ".join(headline(event) for event in events)
    created = isinstance(events[0].data, LineageCreated)
    subject = cut(said if created else f"gen {events[-1].generation}: {said}", SUBJECT)
    told = "\n\n".join(text for event in events if (text := body(event)))
    parts = (subject, told, "\n".join(trailers(events)))
    text = "\n\n".join(part for part in parts if part)
    return text.translate(_CONTROLS) + "\n"


def headline(event: Event) -> str:  # noqa: C901 (one case an event)
    """One event in a few words."""
    data = event.data
    match data:
        case LineageCreated():
            return f"lineage {event.lineage_id} created: {one_line(data.seed.goal)}"
        case LineageForked():
            seed = ", with another seed" if data.seed else ""
            return f"lineage {event.lineage_id} forked from {data.source}{seed}"
        case PolicyChanged():
            return "policy changed"
        case NoteAdded():
            return f"note: {one_line(data.text)}"
        case LateralThinkApplied():
            return f"lateral thinking, {data.persona} ({data.pattern})"
        case WonderCompleted():
            return f"wonder, {counted(len(data.questions), 'question')}"
        case ReflectCompleted():
            return f"reflect, {_changes(data)}"
        case ExecuteCompleted():
            lines = f"(+{data.added} −{data.removed})"
            return f"execute, {counted(len(data.files), 'file')} changed {lines}"
        case EvaluateCompleted():
            passed = sum(verdict.passed for verdict in data.verdicts)
            carried = any(verdict.method is Method.CARRIED for verdict in data.verdicts)
            how = "verdicts carried over" if carried else "evaluate"
            return f"{how}, {passed}/{len(data.verdicts)} passed"
        case QaCompleted():
            return f"qa {data.verdict} ({data.score:g})"
        case EvolveStepCompleted():
            alike = "" if data.similarity is None else f" (similarity {data.similarity:g})"
            return f"{data.action}{alike}"
        case EvolveStepFailed():
            return f"{data.phase} failed, {data.kind}: {one_line(data.message)}"
        case EvolveStepInterrupted():
            return f"{data.phase} interrupted"
        case PauseCleared():
            return "pause cleared"
        case LineageRewound():
            return f"rewound from generation {data.from_generation}"
        case LineageRestored():
            return f"restored, from generation {data.from_generation} again"
        case _:  # pragma: no cover
            assert_never(data)


def _changes(data: ReflectCompleted) -> str:
    parts = []
    if data.mutations:
        parts.append(counted(len(data.mutations), "mutation"))
    if data.criteria:
        parts.append(counted(len(data.criteria), "criterion change"))
    return ", ".join(parts) or "no change"


def body(event: Event) -> str:
    """What there is to say of one event beyond its headline, "" where nothing is."""
    data = event.data
    match data:
        case WonderCompleted():
            return "\n".join(f"- {one_line(q.question)}" for q in data.questions)
        case ReflectCompleted():
            return "\n".join(f"- {m.action} {one_line(m.name)}" for m in data.mutations)
        case ExecuteCompleted():
            return cut(data.summary.strip(), 2000)
        case EvaluateCompleted():
            return "\n".join(
                f"- {v.id}: {'passed' if v.passed else 'open'} ({v.method})" for v in data.verdicts
            )
        case EvolveStepCompleted():
            return data.reason
        case LineageForked():
            return f"From generation {data.generation} of {data.source}, commit {data.commit}."
        case LineageRewound() | LineageRestored():
            return f"From commit {data.left} to {data.commit}; undo: ouro undo {event.lineage_id}"
        case _:
            return ""


def trailers(events: Sequence[Event]) -> list[str]:
    """The lines that `message` ends with, for scripts."""
    last = events[-1]
    lines = [f"Ouro-Lineage: {last.lineage_id}", f"Ouro-Generation: {last.generation}"]
    lines += [f"Ouro-Event: {event.type}" for event in events]
    if isinstance(last.data, EvolveStepCompleted):
        lines.append(f"Ouro-Action: {last.data.action}")
        if last.data.similarity is not None:
            lines.append(f"Ouro-Similarity: {last.data.similarity:g}")
    return lines


def trailers_in(text: str) -> list[str]:
    """The lines of ours among the trailers of a commit's message."""
    last = text.strip("\n").rpartition("\n\n")[2]
    return [line for line in last.split("\n") if line.startswith("Ouro-")]


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def one_line(text: str) -> str:
    return " ".join(text.split()).translate(_CONTROLS)


def cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
