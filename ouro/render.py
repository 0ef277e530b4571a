"""What people see: lines on stderr while something runs, and tables on stdout."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ouro.core.decision import standing as standing_of
from ouro.core.story import counted, headline

if TYPE_CHECKING:
    from ouro.app.clients import Client
    from ouro.app.fork import Forked
    from ouro.app.history import Standing
    from ouro.app.jump import Jumped
    from ouro.app.seeds import Checkup
    from ouro.core.events import Event
    from ouro.core.lineage import Generation

REDRAW = 0.25
"""Seconds between two drawings of the live line."""


class Terminal:
    """Speaks to people on a stream; colour, width and the live line only where it is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._colour = self._live and "NO_COLOR" not in os.environ
        self._drawn = 0.0
        self._shown = False

    def say(self, text: str) -> None:
        self.settle()
        self._print(f"ouro: {text}")

    def warn(self, text: str) -> None:
        self.settle()
        self._print(self._painted(f"ouro: warning: {text}", "33"))

    def progress(self, what: str, seconds: float, output: Path | None) -> None:
        now = time.monotonic()
        if not self._live or now - self._drawn < REDRAW:
            return
        self._drawn, self._shown = now, True
        line = f"{what}  {_duration(seconds)}  {_last_line(output)}".rstrip()
        width = shutil.get_terminal_size().columns - 1
        self._stream.write(f"\r\x1b[K{self._painted(line[:width], '2')}")
        self._stream.flush()

    def settle(self) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False

    def _print(self, text: str) -> None:
        self._stream.write(printable(text) + "\n" if not self._colour else text + "\n")
        self._stream.flush()

    def _painted(self, text: str, code: str) -> str:
        text = printable(text)
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text


def printable(text: str) -> str:
    """`text` without anything that a terminal would obey."""
    return "".join(ch if ch.isprintable() or ch == "\n" else "�" for ch in text)


def _duration(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02}" if whole else ""


def _last_line(path: Path | None, reach: int = 400) -> str:
    """The last line of an output that is being written, as far as its last bytes tell."""
    if path is None or not path.is_file():
        return ""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - reach))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return printable(lines[-1]) if lines else ""


# --- tables ------------------------------------------------------------------------------------


def standing_text(one: Standing) -> str:
    """A lineage's standing as a small block of lines."""
    rows = [
        ("state", one.state),
        ("goal", " ".join(one.goal.split())),
        ("generation", str(one.generation)),
        ("criteria", f"{one.passed}/{one.total} passed" + (f", QA {one.qa}" if one.qa else "")),
        ("similarity", "none yet" if one.similarity is None else f"{one.similarity:g}"),
        ("cost", _cost(one)),
        ("time", f"{one.seconds:.0f} s of work"),
        ("workspace", one.workspace or "not checked out"),
        ("next", one.next),
    ]
    return printable("\n".join([one.lineage_id, *(f"  {name:<11}{text}" for name, text in rows)]))


def _cost(one: Standing) -> str:
    """Money as far as it is known: a client that does not say is unknown, not free."""
    known = f"{one.cost:.2f} USD"
    if not one.unknown_calls:
        return known
    return f"{known} known, {one.unknown_calls} calls unknown" if one.cost else "unknown"


def standing_line(one: Standing) -> str:
    alike = "" if one.similarity is None else f"  similarity {one.similarity:g}"
    text = f"{one.lineage_id:<20} {one.state:<10} gen {one.generation}  "
    return printable(f"{text}{one.passed}/{one.total} passed{alike}")


def client_line(one: Client) -> str:
    state = (one.version or "says no version") if one.path else "not installed"
    only = "" if one.edits else "  (only answers, edits nothing)"
    return printable(f"{one.name:<10} {state:<40} measured with {one.seen}{only}")


def checkup_text(one: Checkup) -> str:
    """What there is to say of a seed: warnings and advice, a line each, then the sums."""
    lines = [f"warning: {text}" for text in one.warnings]
    lines += [f"{remark.where}: {remark.text}" for remark in one.advice]
    hidden = f", {one.hidden} hidden" if one.hidden else ""
    noun = "criterion" if one.criteria == 1 else "criteria"
    lines.append(f"{one.criteria} {noun}, {one.checked} with a visible check{hidden}")
    covered = "all of them" if not one.uncovered else f"all but {', '.join(one.uncovered)}"
    if len(one.uncovered) == one.criteria:
        covered = "none of them"
    lines.append(f"the offline agent can meet and verify {covered}")
    return printable("\n".join(lines))


def jump_text(one: Jumped) -> str:
    """What a jump did, or would do, and how to take it back."""
    left = ", ".join(f"gen_{number}" for number in one.left) or "none"
    would = "would be " if one.dry_run else ""
    steps = f"generation {one.from_generation} -> {one.to_generation}"
    lines = [
        f"{one.lineage_id} {would}{one.action}: {steps}",
        f"  left behind   {left}" + (f" (kept as rewound_{one.n}/)" if one.left else ""),
        f"  code          {counted(one.files, 'file')} {'would ' if one.dry_run else ''}change",
        f"  old tip       {one.old}",
    ]
    if one.commit:
        lines.append(f"  new tip       {one.commit}")
    if one.rescue:
        lines.append(f"  your changes  {one.rescue} (git show {one.rescue})")
    if not one.dry_run:
        lines.append(f"  undo          {one.undo}")
    return printable("\n".join(lines))


def fork_text(one: Forked) -> str:
    seed = ", with another seed from there on" if one.new_seed else ""
    return printable(
        f"{one.lineage_id} forked from {one.source} at generation {one.generation} "
        f"({one.at[:12]}){seed}\n"
        f"  tip           {one.commit}\n"
        f"  go on         ouro step --lineage-id {one.lineage_id}\n"
        f"  undo          {one.undo}"
    )


def event_line(event: Event) -> str:
    return printable(f"{event.seq:>4}  {event.at[:19]}Z  gen {event.generation}  {headline(event)}")


def generation_line(one: Generation) -> str:
    """A completed generation in one line."""
    assert one.completed is not None, "only completed generations have a line"
    alike = one.completed.similarity
    shown = "   –  " if alike is None else f"{alike:.4f}"
    text = f"gen {one.number:>3}  {one.completed.action:<10} {shown}  {standing_of(one)}"
    return printable(text + (f"  [{one.persona.persona}]" if one.persona else ""))
