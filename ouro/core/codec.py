"""The log's bytes: strict reading, canonical writing, the chain of `seq` and `prev`.

Canonical means that encoding what was decoded gives the same bytes again. That one rule keeps out
duplicate keys, stray blanks, other spellings of a number, and keys that nobody knows.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple, NoReturn

import jsonlines
import msgspec
from msgspec import Struct

from ouro.core.events import (
    GENESIS,
    TYPES,
    VERSION,
    Event,
    Line,
    LineageCreated,
    LineageForked,
    PolicyChanged,
)
from ouro.core.policy import RULE, Policy
from ouro.errors import DamagedLog, NewerLog

_BOM = b"\xef\xbb\xbf"
_TYPE = ',"type":"'
"""No text before it can hold this: a quote in a text is escaped."""


class _Peek(Struct):
    v: int = 0
    type: str = ""


_encoder = msgspec.json.Encoder()
_peek_decoder = msgspec.json.Decoder(_Peek)
_decoders: dict[str, msgspec.json.Decoder[Event]] = {
    name: msgspec.json.Decoder(Line[shape])  # type: ignore[valid-type]
    for name, shape in TYPES.items()
}
_any_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Line[msgspec.Raw])


class Log(NamedTuple):
    """A whole log as read: its events and the hash that the next line's `prev` must be."""

    events: tuple[Event, ...]
    head: str


EMPTY_LOG = Log((), GENESIS)


def line_hash(line: bytes) -> str:
    """SHA-256 (hex) of a line without its LF."""
    return sha256(line).hexdigest()


def encode(event: Event) -> bytes:
    """The line of `event`, without LF."""
    return _encoder.encode(event)


def encode_lines(events: Iterable[Event]) -> bytes:
    """The lines of `events`, each with its LF; raises DamagedLog where one would not read back."""
    sink = _Sink()
    with jsonlines.Writer(sink, dumps=_dumps) as writer:  # type: ignore[arg-type]
        writer.write_all(events)
    return "".join(sink.parts).encode()


class _Sink:
    """What jsonlines writes to."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def write(self, text: str) -> None:
        self.parts.append(text)


def _dumps(value: Any) -> str:
    # jsonlines tries it on `{}` first, to see whether text or bytes come back.
    return (sealed_line(value) if isinstance(value, Line) else _encoder.encode(value)).decode()


def sealed_line(event: Event) -> bytes:
    """The line of `event`, which is sure to read back as it."""
    try:
        line = encode(event)
        again = _load(line.decode())
        if again == event and encode(again) == line:
            return line
    except (ValueError, RecursionError):
        pass  # a lone surrogate, an infinite number, a depth without end
    raise DamagedLog(
        f"event {event.seq} ({event.type}) would not read back as written",
        "this is a bug in ouro; nothing was written",
    )


def decode_files(files: Iterable[tuple[str, bytes]]) -> Log:
    """The log that `files` (name, bytes; in order) hold together.

    Raises DamagedLog or NewerLog, with file, line and byte offset.
    """
    reading = Reading(EMPTY_LOG)
    events = (e for name, content in files for _, e in reading.read(Place(name, 1, 0), content))
    return Log(tuple(events), reading.head)


def decode_newest_first(files: Iterable[tuple[str, bytes]]) -> Iterator[Event]:
    """The events of `files` (name, bytes; the newest file first), the newest event first.

    Every line is read as strictly as by `decode_files` and must be linked to the one after it; a
    file is not asked for before its events are. Only `decode_files` knows whether an id occurs
    twice.
    """
    following: tuple[Place, Event] | None = None
    for name, content in files:
        for place, line, event in reversed([*_events_of(Place(name, 1, 0), content)]):
            if following:
                _check(*following, event.seq + 1, line_hash(line), event.lineage_id)
            yield event
            following = place, event
    if following:
        _check(*following, 1, GENESIS, None)


class Place(Struct, frozen=True):
    """Where in the log something stands; `line` from 1, `offset` in bytes from 0."""

    file: str
    line: int
    offset: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line} (byte {self.offset})"


class DamagedLine(DamagedLog):
    """Damage at one place of the log: `what` is wrong there."""

    def __init__(self, place: Place, what: str) -> None:
        super().__init__(
            f"the log is damaged: {place}: {what}",
            "nothing was changed; `git log -p` on that file shows when it happened",
        )
        self.place = place
        self.what = what


class Reading:
    """What the next line of a log has to continue; `log` is what was read before."""

    def __init__(self, log: Log) -> None:
        self.head = log.head
        self._seq = len(log.events)
        self._ids = {event.id for event in log.events}
        self._owner = log.events[-1].lineage_id if log.events else None

    def read(self, start: Place, content: bytes) -> Iterator[tuple[Place, Event]]:
        """The events of the lines `content`, which begin at `start`, each with its place.

        Raises DamagedLine or NewerLog; what was read before that counts as read.
        """
        for place, line, event in _events_of(start, content):
            _check(place, event, self._seq + 1, self.head, self._owner)
            if event.id in self._ids:
                _damaged(place, f"the id {event.id} occurred before")
            self._seq += 1
            self._ids.add(event.id)
            self.head, self._owner = line_hash(line), event.lineage_id
            yield place, event


def peek(line: bytes) -> Event | None:
    """The event of `line`, wherever it stands; None where it is none."""
    try:
        return _load(line.decode())
    except (ValueError, RecursionError):
        return None


def _events_of(start: Place, content: bytes) -> Iterator[tuple[Place, bytes, Event]]:
    lines = _split(start, content)
    place = start
    reader = jsonlines.Reader(lines, loads=_load)  # type: ignore[arg-type]  # it gives text
    for line in lines:
        try:
            event: Any = reader.read()
            canonical = _encoder.encode(event) == line
        except (ValueError, RecursionError) as problem:
            _refuse(place, line, problem.__cause__ or problem)
        if not canonical:
            _damaged(place, "not written as ouro writes it (blanks, key order or repeated keys)")
        yield place, line, event
        place = Place(place.file, place.line + 1, place.offset + len(line) + 1)


def _split(start: Place, content: bytes) -> list[bytes]:
    if start.offset == 0 and content.startswith(_BOM):
        _damaged(start, "begins with a byte order mark")
    if content and not content.endswith(b"\n"):
        torn = content.rfind(b"\n") + 1
        _damaged(_further(start, content, torn), "the last line is torn: no newline")
    carriage = content.find(b"\r")
    if carriage >= 0:
        place = _further(start, content, carriage)
        _damaged(place, "a carriage return: line endings were converted")
    return content.split(b"\n")[:-1]


def _further(start: Place, content: bytes, offset: int) -> Place:
    """The place `offset` bytes on in `content`, which begins at `start`."""
    line = start.line + content.count(b"\n", 0, offset)
    return Place(start.file, line, start.offset + offset)


def _load(line: str) -> Event:
    """One event; raises ValueError (msgspec's errors are such) or RecursionError otherwise."""
    start = line.find(_TYPE) + len(_TYPE)
    decoder = _decoders.get(line[start : line.find('"', start)])
    event: Event = (decoder or _any_decoder).decode(line)
    if decoder is None or event.v != VERSION:
        raise ValueError(f"unknown version or type: v {event.v}, {event.type}")
    return event


def _refuse(place: Place, line: bytes, problem: BaseException) -> NoReturn:
    if line.startswith((b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")):
        _damaged(place, "a conflict marker: the log was merged as text")
    try:
        peek = _peek_decoder.decode(line)
    except (ValueError, RecursionError):
        peek = _Peek(VERSION)
    if peek.v > VERSION or (peek.v == VERSION and peek.type and peek.type not in TYPES):
        _newer(place, f"v {peek.v}, {peek.type or 'no type'}")
    _damaged(place, _cause(line, problem))


def _cause(line: bytes, problem: BaseException) -> str:
    match problem:
        case RecursionError():
            return "nested too deeply"
        case UnicodeDecodeError(start=start):
            return f"not UTF-8 (byte {start} of the line)"
        case _:
            return str(problem) if line.strip() else "an empty line"


def _check(place: Place, event: Event, seq: int, prev: str, owner: str | None) -> None:
    """Whether `event` continues a log: of `owner`, up to the line before, whose hash is `prev`."""
    if event.seq != seq:
        _damaged(place, f"seq is {event.seq} where {seq} must follow")
    if event.prev != prev:
        _damaged(place, f"prev does not match the line before (seq {seq - 1})")
    fits = owner == event.lineage_id
    match event.data:
        case LineageCreated(policy=policy):
            fits = owner is None
            _check_rule(place, policy)
        case PolicyChanged(policy=policy):
            _check_rule(place, policy)
        case LineageForked(source=source):
            # Only a fork hands a log on to another lineage.
            fits = source == owner and event.lineage_id != owner
        case _:
            pass
    if not fits:
        at_start = seq == 1 or isinstance(event.data, LineageCreated)
        _damaged(
            place,
            "the first line, and no other, is lineage.created"
            if at_start
            else f"a line of {event.lineage_id} in the log of {owner}",
        )


def _check_rule(place: Place, policy: Policy) -> None:
    if policy.rule != RULE:
        _newer(place, f"decision rule {policy.rule}")


def _newer(place: Place, what: str) -> NoReturn:
    raise NewerLog(f"{place}: made by a newer ouro ({_short(what)})", "update ouro on this machine")


def _damaged(place: Place, what: str) -> NoReturn:
    raise DamagedLine(place, _short(what))


def _short(text: str) -> str:
    """One line, however long and whatever it was."""
    return " ".join(text.split())[:200]
