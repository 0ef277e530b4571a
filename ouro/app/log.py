"""The events of a lineage: those that were asked for, and those to come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice

from msgspec import Struct

from ouro.app import history, show
from ouro.core.events import Event
from ouro.core.lineage import Generation
from ouro.core.report import Report, of_generation
from ouro.core.retry import timestamp
from ouro.errors import OuroError, UsageProblem
from ouro.git.repository import Repo
from ouro.git.timeline import Recorded, Timeline

POLL = 0.25
"""Seconds between two looks at the branch."""
TAIL = 10
"""Events that `follow` begins with, as `tail -f` does."""
_LATEST = 253402300799  # the last second of the year 9999


class Wanted(Struct, frozen=True):
    """Which events: of these types (none: of all), not before `since` (as in `Event.at`), at most
    so many (None: all)."""

    types: frozenset[str] = frozenset()
    since: str = ""
    count: int | None = None

    def of(self, events: Iterator[Recorded]) -> Iterator[Recorded]:
        # The clock may have gone back between two events: each is looked at.
        fitting = (one for one in events if self._fits(one.event))
        return islice(fitting, self.count)

    def _fits(self, event: Event) -> bool:
        of_type = not self.types or event.type in self.types
        return of_type and event.at >= self.since


def events(repo: Repo, lineage_id: str, wanted: Wanted, *, commits: bool) -> Iterator[Recorded]:
    """The events, newest first; without `commits` theirs are "", which is quicker."""
    found = history.find(repo, lineage_id)
    return wanted.of(_recorded(Timeline(repo, lineage_id, found.commit), commits))


def _recorded(timeline: Timeline, commits: bool) -> Iterator[Recorded]:
    if commits:
        return timeline.recorded()
    return (Recorded(event, "") for event in timeline.events())


def follow(
    repo: Repo, lineage_id: str, wanted: Wanted, stop: Callable[[], int]
) -> Iterator[Recorded]:
    """The newest events, then each one as it is committed, until `stop()`; oldest first."""
    found = history.find(repo, lineage_id)
    tip, ref = found.commit, found.ref
    first = Wanted(wanted.types, wanted.since, TAIL if wanted.count is None else wanted.count)
    yield from reversed([*first.of(Timeline(repo, lineage_id, tip).recorded())])
    every = Wanted(wanted.types, wanted.since)
    while not stop():
        now = repo.ref(ref)
        if now is None:
            raise OuroError(f"{ref} is gone", "was the lineage deleted?")
        if now != tip:
            yield from every.of(_news(repo, lineage_id, tip, now))
            tip = now
        time.sleep(POLL)


def _news(repo: Repo, lineage_id: str, old: str, new: str) -> Iterator[Recorded]:
    """What the log at `new` has and the one at `old` has not, oldest first. After a jump they
    share a beginning only."""
    before = Timeline(repo, lineage_id, old).events()
    last = next(before)
    found = []
    for one in Timeline(repo, lineage_id, new).recorded():
        while last.seq > one.event.seq:
            last = next(before)
        if last == one.event:
            break
        found.append(one)
    return reversed(found)


def raw(repo: Repo, lineage_id: str) -> bytes:
    """The log's bytes as they are committed."""
    return Timeline(repo, lineage_id, history.find(repo, lineage_id).commit).raw()


def generations(repo: Repo, lineage_id: str) -> tuple[Generation, ...]:
    """The completed generations, oldest first."""
    return history.look(repo, lineage_id)[1].generations


def reports(repo: Repo, lineage_id: str) -> list[Report]:
    """What the steps that completed them printed."""
    stream, lineage = history.look(repo, lineage_id)
    commits = show.commits_of(Timeline(repo, lineage_id, stream.revision or ""))
    return [of_generation(lineage_id, g, commits[g.number]) for g in lineage.generations]


def since(repo: Repo, text: str) -> str:
    """The time that `text` means to git (`2 hours ago`, `2026-01-31`), as in `Event.at`."""
    key = "ouro.since"
    asked = ("config", "--type=expiry-date", "--get", key)
    said = repo.git.attempt(*asked, settings=(f"{key}={text}",))
    if said.returncode != 0:
        raise UsageProblem(
            f"--since: {text!r} is no time that git knows",
            "write a date (2026-01-31, 2026-01-31T18:00) or '2 hours ago'",
        )
    return timestamp(datetime.fromtimestamp(min(int(said.stdout), _LATEST), UTC))
