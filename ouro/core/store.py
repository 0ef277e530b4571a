"""The event store: what a place that keeps a lineage's log must do, and one in memory."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ouro.core.codec import EMPTY_LOG, Log, decode_files, encode_lines, line_hash
from ouro.core.events import Event
from ouro.errors import ConcurrentAppend


class Stream(NamedTuple):
    """A lineage as read: its log, the revision that holds it (None: there is no such lineage)
    and the id of the code tree there ("": none)."""

    log: Log
    revision: str | None
    code: str


class Tag(NamedTuple):
    """A generation's tag. `message` makes its text from the revision that it will name."""

    name: str
    message: Callable[[str], str]


class EventStore(Protocol):
    """Keeps one lineage's log."""

    def read(self) -> Stream: ...

    def append(
        self,
        at: Stream,
        events: Sequence[Event],
        *,
        code: str | None = None,
        adopted: Sequence[str] = (),
        tag: Tag | None = None,
    ) -> Stream:
        """Add `events` (at least one), which continue `at.log`, in one atomic step; the stream
        after it.

        `code` is the new code tree (None: `at.code`), `adopted` further parents; a tag of that
        name that is there already is moved. Raises ConcurrentAppend, and changes nothing, where
        the lineage is no longer at `at.revision`.
        """
        ...

    def tags(self) -> dict[str, str]:
        """Generation tags: name -> the revision that each one names."""
        ...


class MemoryEventStore:
    """Keeps the log's bytes in memory; revisions are their hashes."""

    def __init__(self) -> None:
        self._content = b""
        self._stream = Stream(EMPTY_LOG, None, "")
        self._tags: dict[str, str] = {}
        self.messages: dict[str, str] = {}

    def read(self) -> Stream:
        return self._stream._replace(log=decode_files([("memory", self._content)]))

    def append(
        self,
        at: Stream,
        events: Sequence[Event],
        *,
        code: str | None = None,
        adopted: Sequence[str] = (),
        tag: Tag | None = None,
    ) -> Stream:
        if at.revision != self._stream.revision:
            raise ConcurrentAppend("the lineage moved on meanwhile", "run the step again")
        content = self._content + encode_lines(events)
        log = decode_files([("memory", content)])
        revision = line_hash(content + "".join(adopted).encode())
        self._content = content
        self._stream = Stream(log, revision, at.code if code is None else code)
        if tag:
            self._tags[tag.name] = revision
            self.messages[tag.name] = tag.message(revision)
        return self._stream

    def tags(self) -> dict[str, str]:
        return dict(self._tags)
