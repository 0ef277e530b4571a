"""Linking facts to a log: `seq` from 1 without a gap, `prev` the hash of the line before."""

from collections.abc import Sequence
from typing import Protocol

from ouro.core.codec import Log, encode, line_hash, sealed_line
from ouro.core.events import TYPE_OF, Data, Event
from ouro.errors import DamagedLog


class Stamp(Protocol):
    """Where a new event's `id` and `at` come from."""

    def __call__(self) -> tuple[str, str]: ...


def seal(
    facts: Sequence[tuple[int, Data]], log: Log, lineage_id: str, stamp: Stamp
) -> tuple[Event, ...]:
    """`facts` (generation, data) as the events that come next after `log`; raises DamagedLog
    where one would not read back."""
    events: list[Event] = []
    seq, prev = len(log.events), log.head
    for generation, data in facts:
        seq += 1
        identity, at = stamp()
        event = Event(
            seq=seq,
            id=identity,
            at=at,
            lineage_id=lineage_id,
            generation=generation,
            type=TYPE_OF[type(data)],
            data=data,
            prev=prev,
        )
        events.append(event)
        prev = line_hash(sealed_line(event))
    return tuple(events)


def extend(log: Log, events: Sequence[Event]) -> Log:
    """`log` with `events` appended; raises DamagedLog where they are not its next ones."""
    if not events:
        return log
    if (events[0].seq, events[0].prev) != (len(log.events) + 1, log.head):
        raise DamagedLog(
            f"event {events[0].seq} does not follow event {len(log.events)}",
            "this is a bug in ouro; nothing was written",
        )
    return Log(log.events + tuple(events), line_hash(encode(events[-1])))
