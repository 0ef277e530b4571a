"""A lineage's log from its newest end, and which commit recorded each event."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from ouro.core.codec import decode_newest_first, encode
from ouro.core.events import Event
from ouro.git import log_tree
from ouro.git.repository import OURO_FOLDER, Repo

if TYPE_CHECKING:
    import pygit2


class Recorded(NamedTuple):
    """An event, and the commit that put it on the lineage's branch."""

    event: Event
    commit: str


class _Last(NamedTuple):
    """The last line of a log. Its `prev` stands for all lines before."""

    seq: int
    line: bytes


class _Seq(Struct):
    seq: int


_UNREADABLE = _Last(sys.maxsize, b"")
"""Of a log that somebody damaged in a commit further down: it is no beginning of any other."""


class Timeline:
    """The log at the commit `tip`, the newest event first; read only as far as it is asked for."""

    def __init__(self, repo: Repo, lineage_id: str, tip: str) -> None:
        self._repo = repo
        self._id = lineage_id
        self.tip = tip

    def raw(self) -> bytes:
        """The bytes of all files, in order, whatever they are."""
        files = log_tree.files(self._repo, self._id, self.tip)
        return b"".join(blob.read_raw() for _, blob in files)

    def events(self) -> Iterator[Event]:
        files = log_tree.contents(self._repo, self._id, self.tip, newest_first=True)
        return decode_newest_first(files)

    def recorded(self) -> Iterator[Recorded]:
        """The events with their commits.

        A commit down the first parents counts when its log is a beginning of the tip's: its last
        event is one of ours. Commits that a jump left behind are passed over; an event belongs to
        the oldest commit that has it.
        """
        ahead = _Ahead(self.events())
        holder: str | None = None
        for commit, last in self._ends():
            if last is None or (not ahead.has(last) and ahead.is_at_its_end()):
                break
            if not ahead.has(last):
                continue
            if holder:
                yield from (Recorded(event, holder) for event in ahead.above(last.seq))
            holder = commit
        if holder:
            yield from (Recorded(event, holder) for event in ahead.above(0))

    def _ends(self) -> Iterator[tuple[str, _Last | None]]:
        """Each commit from the tip along first parents, with the last line of its log."""
        commit = self._repo.commit(self.tip)
        while True:
            yield str(commit.id), self._last(commit)
            if not commit.parents:
                return
            commit = commit.parents[0]

    def _last(self, commit: pygit2.Commit) -> _Last | None:
        """None where the commit holds no log. Before a fork the log is another lineage's; a tree
        holds one only."""
        import pygit2

        lineages = _below(commit.tree, OURO_FOLDER, "lineages")
        names = [str(entry.name) for entry in lineages] if lineages else []
        name = self._id if self._id in names else next(iter(names), "")
        events = _below(lineages, name, "events") if lineages else None
        if events is None:
            return None
        try:
            newest = max(events, key=lambda entry: str(entry.name)).peel(pygit2.Blob).data
            line = newest[newest.rfind(b"\n", 0, -1) + 1 : -1]
            return _Last(msgspec.json.decode(line, type=_Seq).seq, line)
        except ValueError:  # msgspec's errors and libgit2's are such
            return _UNREADABLE


class _Ahead:
    """Events that were read and are not told yet, the newest first, and those still to be read."""

    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self._read: deque[Event] = deque()

    def has(self, last: _Last) -> bool:
        """Whether `last` is one of the events that are not told yet."""
        self._read_down_to(last.seq)
        at = self._read[0].seq - last.seq if self._read else -1
        return 0 <= at < len(self._read) and encode(self._read[at]) == last.line

    def is_at_its_end(self) -> bool:
        """Whether only the first event is left: below the commit that holds it there is none."""
        return len(self._read) == 1 and self._read[0].seq == 1

    def above(self, seq: int) -> Iterator[Event]:
        """The events after `seq`, which then are told."""
        self._read_down_to(seq)
        while self._read and self._read[0].seq > seq:
            yield self._read.popleft()

    def _read_down_to(self, seq: int) -> None:
        while not self._read or self._read[-1].seq > max(seq, 1):
            event = next(self._events, None)
            if event is None:
                return
            self._read.append(event)


def _below(tree: pygit2.Tree, *names: str) -> pygit2.Tree | None:
    """The folder at the path `names`, None where there is none."""
    import pygit2

    path = "/".join(names)
    found = tree[path] if path in tree else None  # noqa: SIM401 (no dict)
    return found if isinstance(found, pygit2.Tree) else None
