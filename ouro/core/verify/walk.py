"""From commit to commit: the log unchanged, grown, or taken back by a jump, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ouro.core.codec import EMPTY_LOG, DamagedLine, Log, Place, Reading, peek
from ouro.core.events import (
    Event,
    EvolveStepCompleted,
    ExecuteCompleted,
    Jump,
    LineageCreated,
)
from ouro.core.lineage import Lineage, evolve, fold
from ouro.core.story import trailers, trailers_in
from ouro.core.verify import tags
from ouro.core.verify.beginnings import creation_faults, fork_faults, jump_faults
from ouro.core.verify.facts import faults
from ouro.core.verify.growth import Growth, growth
from ouro.core.verify.history import Commit, Finding, Folder, History, LogFile, Verified
from ouro.errors import NewerLog


class Trunk:
    """A log that grows: its events, and the commit that each came with."""

    def __init__(self, events: Sequence[Event] = (), head: str = EMPTY_LOG.head) -> None:
        self.events = list(events)
        self.commits = [""] * len(self.events)
        self.reading = Reading(Log(tuple(events), head))


class Point(NamedTuple):
    """The lineage at one commit: the first `length` events of `trunk`, whose last line has the
    hash `head`, what they fold to (None: nothing yet), and the files that hold them."""

    trunk: Trunk
    length: int
    head: str
    lineage: Lineage | None
    files: tuple[LogFile, ...]
    commit: Commit | None

    @property
    def events(self) -> Sequence[Event]:
        return self.trunk.events[: self.length]

    @property
    def ends(self) -> dict[int, str]:
        """The number of each completed generation -> the commit that completed it."""
        told = zip(self.trunk.events[: self.length], self.trunk.commits, strict=False)
        return {e.generation: c for e, c in told if isinstance(e.data, EvolveStepCompleted)}

    def branched(self) -> Trunk:
        """A trunk that goes on from here."""
        if self.length == len(self.trunk.events):
            return self.trunk
        other = Trunk(self.events, self.head)
        other.commits = self.trunk.commits[: self.length]
        return other


class News(NamedTuple):
    """What a commit adds to the log of `base`: places and events, on `trunk`."""

    base: Point
    trunk: Trunk
    grown: Growth
    told: Sequence[tuple[Place, Event]]

    @property
    def events(self) -> list[Event]:
        return [event for _, event in self.told]


def verify(history: History) -> Verified:
    """Check every commit of `history`, and its tags. Where the log of a commit cannot be read as
    one that ouro wrote, what comes after it is not looked at."""
    return _Walk(history).run()


class _Walk:
    def __init__(self, history: History) -> None:
        self._history = history
        self._read = lru_cache(maxsize=4)(history.blob)
        self._points: dict[str, Point] = {}
        self._left: dict[int, Point] = {}
        self._findings: list[Finding] = []
        self._notices: list[str] = []
        self._events = self._generations = 0
        self._commit = ""

    def run(self) -> Verified:
        seen, unknown = 0, None
        try:
            for _ in self._walked():
                seen += 1
        except DamagedLine as damage:
            self._damaged(damage)
        except NewerLog as newer:
            unknown = f"{newer.message}; {newer.hint}"
        return Verified(
            lineage_id=self._history.lineage,
            commits=seen,
            events=self._events,
            generations=self._generations,
            findings=tuple(self._findings),
            notices=tuple(self._notices),
            unknown=unknown,
        )

    def _walked(self) -> Iterator[Commit]:
        """Every commit, once it was looked at; after the last one, its tags."""
        history, before = self._history, self._history.before
        self._commit = before.id if before else ""
        point = self._trusted(before) if before and history.trusted else _nothing()
        for commit in history.commits:
            self._commit = commit.id
            point = self._step(point, before, commit)._replace(commit=commit)
            self._points[commit.id] = point
            before = commit
            yield commit
        self._check_end(point)

    def _check_end(self, point: Point) -> None:
        history = self._history
        if point.lineage is None:
            self._find(None, f"there is no log of {history.lineage}")
        elif point.lineage.id != history.lineage:
            self._find(None, f"the log is that of {point.lineage.id}, not of {history.lineage}")
        elif history.tags is not None:
            left = {number: was.ends for number, was in self._left.items()}
            jumped = isinstance(point.events[-1].data, Jump)
            checked = tags.check(history.tags, point.lineage, point.ends, left, jumped)
            self._findings += checked.findings
            self._notices += checked.notices

    # --- one commit ------------------------------------------------------------------------------

    def _step(self, point: Point, before: Commit | None, commit: Commit) -> Point:
        folder = self._own_folder(point, before, commit)
        if folder is None or (_owner(point) == folder.lineage and folder.files == point.files):
            self._check_untouched(commit)
            return point
        news = self._news(point, before, commit, folder)
        lineage = self._replayed(news, point, before, commit)
        self._check_commit(news, before, commit)
        news.trunk.events += news.events
        news.trunk.commits += [commit.id] * len(news.told)
        self._events += len(news.told)
        head = news.trunk.reading.head
        return Point(news.trunk, len(news.trunk.events), head, lineage, folder.files, commit)

    def _own_folder(self, point: Point, before: Commit | None, commit: Commit) -> Folder | None:
        """The lineage's log in the commit's tree, None where there is none and was none."""
        names = [folder.lineage for folder in commit.logs]
        was = [folder.lineage for folder in before.logs] if before else []
        if len(names) > 1 and names != was:
            self._find(None, f"the tree holds the logs of several lineages: {', '.join(names)}")
        if not names and point.lineage is None:
            return None
        if not names:
            raise DamagedLine(Place(self._path(point), 1, 0), "the log is gone")
        owner = _owner(point) or self._history.lineage
        return next((f for f in commit.logs if f.lineage == owner), commit.logs[0])

    def _path(self, point: Point) -> str:
        folders = point.commit.logs if point.commit else ()
        return next((f"{f.path}/{f.files[-1].name}" for f in folders if f.files), "")

    def _news(self, point: Point, before: Commit | None, commit: Commit, folder: Folder) -> News:
        base = self._base(point, before, commit, folder)
        grown = growth(base.files, folder, self._read)
        trunk = base.branched()
        told = list(trunk.reading.read(grown.start, grown.content))
        if not told:
            raise DamagedLine(grown.start, "no line is new")
        place, last = told[-1]
        if last.lineage_id != folder.lineage:
            raise DamagedLine(place, f"a line of {last.lineage_id} in the folder of another")
        return News(base, trunk, grown, told)

    def _base(self, point: Point, before: Commit | None, commit: Commit, folder: Folder) -> Point:
        """What the new log has to go on from: where it ends with a jump, what that goes to."""
        place, last = self._last(folder)
        if last is None:
            return point
        if isinstance(last.data, Jump) and point.lineage is not None:
            target = self._target(last.data.commit)
            if target is None:
                to = last.data.commit
                raise DamagedLine(place, f"it goes to {to}, no commit of this branch with a log")
            return target
        another = point.lineage is not None and last.lineage_id != point.lineage.id
        if isinstance(last.data, LineageCreated) and another and _begins_on(last, before):
            return _nothing()
        return point

    def _last(self, folder: Folder) -> tuple[Place, Event | None]:
        """The event of the log's last line, where it is one that may not go on from the parent's
        log; None otherwise."""
        content = self._read(folder.files[-1].blob) if folder.files else b""
        start = content.rfind(b"\n", 0, -1) + 1
        line = content[start:-1]
        place = Place(self._name(folder), content.count(b"\n", 0, start) + 1, start)
        return place, peek(line) if b'"type":"lineage.' in line else None

    def _name(self, folder: Folder) -> str:
        return f"{folder.path}/{folder.files[-1].name}" if folder.files else folder.path

    def _target(self, commit_id: str) -> Point | None:
        if commit_id not in self._points and self._history.trusted:
            found = self._history.past(commit_id)
            if found and found.logs:
                self._points[commit_id] = self._trusted(found)
        point = self._points.get(commit_id)
        return point if point and point.lineage else None

    def _trusted(self, commit: Commit) -> Point:
        """The state at a commit that was verified before."""
        if not commit.logs:
            return _nothing()
        folder = next((f for f in commit.logs if f.lineage == self._history.lineage), None)
        folder = folder or commit.logs[0]
        grown = [growth(folder.files[:n], _until(folder, n), self._read) for n in _counts(folder)]
        trunk = Trunk()
        for part in grown:
            trunk.events += [event for _, event in trunk.reading.read(part.start, part.content)]
        trunk.commits = [""] * len(trunk.events)
        head, lineage = trunk.reading.head, fold(trunk.events)
        return Point(trunk, len(trunk.events), head, lineage, folder.files, commit)

    # --- what the new lines say ------------------------------------------------------------------

    def _replayed(
        self, news: News, point: Point, before: Commit | None, commit: Commit
    ) -> Lineage | None:
        """The state after the new lines, each of which is looked at before it is taken."""
        lineage = news.base.lineage
        for place, event in news.told:
            for what in self._faults(news, point, lineage, event, before, commit):
                self._find(place, what)
            lineage = evolve(lineage, event)
            self._generations += isinstance(event.data, EvolveStepCompleted)
        return lineage

    def _faults(
        self,
        news: News,
        point: Point,
        lineage: Lineage | None,
        event: Event,
        before: Commit | None,
        commit: Commit,
    ) -> Iterable[str]:
        alone = len(news.told) == 1
        if lineage is None:
            return creation_faults(event, before, commit)
        assert before, "only a creation has nothing before it"
        if isinstance(event.data, Jump) and alone:
            self._left[event.data.n] = point
            return jump_faults(event, point.events, before.id, news.base.events)
        if event.lineage_id != lineage.id and alone:
            return fork_faults(event, news.base.events, lineage, before)
        return faults(lineage, event, before.code)

    def _check_commit(self, news: News, before: Commit | None, commit: Commit) -> None:
        first = news.told[0]
        last_before = news.base.events[-1:] if news.grown.rolled else ()
        if any(event.generation == first[1].generation for event in last_before):
            self._find(first[0], "a new file begins in the middle of a generation")
        self._check_code(news, before, commit)
        self._check_parents(news, before, commit)
        said, wanted = trailers_in(commit.message), trailers(news.events)
        if said != wanted:
            self._find(None, f"the message's trailers are {_listed(said)}; not {_listed(wanted)}")

    def _check_code(self, news: News, before: Commit | None, commit: Commit) -> None:
        executed = [d for e in news.events if isinstance(d := e.data, ExecuteCompleted)]
        if executed:
            if executed[-1].tree != commit.code:
                self._find(
                    news.told[-1][0], f"the commit's code is not the tree {executed[-1].tree}"
                )
            return
        if isinstance(news.events[-1].data, Jump):
            target = news.base.commit
            if target and target.code != commit.code:
                self._find(news.told[-1][0], f"the code is not that of {target.id}")
        elif before and news.base.lineage and before.code != commit.code:
            self._find(None, "the code is changed in a commit that executed nothing")

    def _check_parents(self, news: News, before: Commit | None, commit: Commit) -> None:
        adopted = [c for e in news.events for c in getattr(e.data, "adopted", ())]
        if before and news.base.lineage and commit.parents != (before.id, *adopted):
            self._find(None, "the commit has other parents than its events say")

    def _check_untouched(self, commit: Commit) -> None:
        if trailers_in(commit.message):
            self._notices.append(f"{commit.id[:12]}: trailers of ouro, and nothing new in the log")

    # --- what was found --------------------------------------------------------------------------

    def _find(self, place: Place | None, what: str) -> None:
        where = {"file": place.file, "line": place.line} if place else {}
        self._findings.append(Finding(commit=self._commit, what=what, **where))  # type: ignore[arg-type]

    def _damaged(self, damage: DamagedLine) -> None:
        self._find(damage.place, f"{damage.what} (what follows was not looked at)")


def _nothing() -> Point:
    return Point(Trunk(), 0, EMPTY_LOG.head, None, (), None)


def _owner(point: Point) -> str | None:
    return point.lineage.id if point.lineage else None


def _begins_on(event: Event, before: Commit | None) -> bool:
    data = event.data
    return isinstance(data, LineageCreated) and before is not None and data.base == before.id


def _counts(folder: Folder) -> range:
    return range(len(folder.files))


def _until(folder: Folder, index: int) -> Folder:
    return folder._replace(files=folder.files[: index + 1])


def _listed(lines: Sequence[str]) -> str:
    return ", ".join(lines) or "none"
