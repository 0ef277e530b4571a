"""What people leave for the step that runs, in the state folder: notes, and a request to stop.

The log has one writer, the step that holds the lineage's lock. Whoever has no lock leaves a file;
the step commits it before its next request.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ouro.core.events import Event
from ouro.git.journal import write_durably
from ouro.git.lock import Holder, own_loop


class Queued(NamedTuple):
    """A note that waits. `id` is that of the event it will become, so that it becomes it once."""

    id: str
    at: str
    text: str
    path: Path


def queue_note(state: Path, stamp: tuple[str, str], text: str) -> None:
    identity, at = stamp
    write_durably(state / "notes" / f"{identity}.txt", f"{at}\n{text}".encode())


def queued_notes(state: Path) -> list[Queued]:
    """The notes that wait, oldest first."""
    found = []
    for path in sorted((state / "notes").glob("*.txt")):
        at, _, text = path.read_text("utf-8", "replace").partition("\n")
        found.append(Queued(path.stem, at, text, path))
    return found


def drop_known(notes: Sequence[Queued], events: Sequence[Event]) -> list[Queued]:
    """Without those that a step committed and did not live to remove."""
    known = {event.id for event in events[-200:]}
    for note in notes:
        if note.id in known:
            note.path.unlink(missing_ok=True)
    return [note for note in notes if note.id not in known]


def request_stop(state: Path, target: Holder) -> None:
    """Ask the step `target`, or the loop that runs it, to end after its generation."""
    write_durably(state / "stop", msgspec.json.encode(target))


def stop_requested(state: Path) -> bool:
    """Whether this process, or the loop that runs it, was asked to stop. A request that names
    others is left over from ones that are gone."""
    try:
        target = msgspec.json.decode((state / "stop").read_bytes(), type=Holder)
    except FileNotFoundError:
        return False
    return target.pid == os.getpid() or (target.loop != 0 and target.loop == own_loop())


def clear_stop(state: Path) -> None:
    (state / "stop").unlink(missing_ok=True)
