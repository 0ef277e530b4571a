"""What every event store must do, held by the one in memory and the one on git alike."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouro.core.chain import extend
from ouro.core.codec import EMPTY_LOG
from ouro.core.events import Data, Event, NoteAdded
from ouro.core.store import EventStore, MemoryEventStore, Stream, Tag
from ouro.errors import ConcurrentAppend
from ouro.git.event_store import GitEventStore
from ouro.git.repository import Repo
from tests.core.builders import EVERYTHING, completed, created, executed, judged, seal_all

_names = count()


class Place(NamedTuple):
    """Where a lineage can be kept: `reopened` is the same one as another process would see it,
    `trees` are code trees and `commits` revisions that may be adopted."""

    id: str
    store: EventStore
    reopened: Callable[[], EventStore]
    trees: tuple[str, ...]
    commits: tuple[str, ...]

    @property
    def nothing(self) -> Stream:
        return self.store.read()._replace(code=self.trees[0])

    def seal(self, *facts: Data, at: Stream | None = None) -> tuple[Event, ...]:
        return seal_all(facts, at.log if at else EMPTY_LOG, self.id)

    def begin(self) -> Stream:
        return self.store.append(self.nothing, self.seal(created()))

    def add(self, *facts: Data) -> Stream:
        now = self.store.read()
        return self.store.append(now, self.seal(*facts, at=now))


Places = Callable[[], Place]


def memory_places() -> Place:
    store = MemoryEventStore()
    return Place(f"x{next(_names)}", store, lambda: store, ("t0", "t1", "t2"), ("c1", "c2"))


def git_places(folder: Path) -> Places:
    repository = pygit2.init_repository(folder)
    who = pygit2.Signature("A", "a@example.org", 1, 0)
    trees: list[pygit2.Oid] = []
    commits: list[pygit2.Oid] = []
    for number in range(3):
        builder = repository.TreeBuilder()
        builder.insert("file", repository.create_blob(b"%d\n" % number), 0o100644)
        trees.append(builder.write())
        commits.append(repository.create_commit(None, who, who, "", trees[-1], commits[-1:]))

    def place() -> Place:
        name = f"x{next(_names)}"

        def reopened() -> EventStore:
            return GitEventStore(Repo(folder), name)

        tree_ids, commit_ids = tuple(map(str, trees)), tuple(map(str, commits))
        return Place(name, reopened(), reopened, tree_ids, commit_ids)

    return place


@pytest.fixture(scope="module", params=["memory", "git"])
def places(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Places:
    """A new place at each call."""
    if request.param == "memory":
        return memory_places
    return git_places(tmp_path_factory.mktemp("repository"))


@pytest.fixture
def place(places: Places) -> Place:
    return places()


def test_where_there_is_nothing(place: Place) -> None:
    for store in (place.store, place.reopened()):
        assert store.read().log == EMPTY_LOG
        assert store.read().revision is None
        assert store.tags() == {}


def test_created(place: Place) -> None:
    events = place.seal(created())
    stream = place.store.append(place.nothing, events)
    assert stream.revision is not None
    assert (stream.log, stream.code) == (extend(EMPTY_LOG, events), place.trees[0])
    assert place.store.read() == place.reopened().read() == stream


def test_appended_one_after_the_other(place: Place) -> None:
    stream = place.begin()
    revisions = {stream.revision}
    for fact in EVERYTHING:
        stream = place.add(fact)
        revisions.add(stream.revision)
        assert place.reopened().read() == stream
    assert stream.log.events == place.seal(created(), *EVERYTHING)
    assert len(revisions) == len(EVERYTHING) + 1


def test_several_events_at_once(place: Place) -> None:
    place.begin()
    stream = place.add(*EVERYTHING)
    assert place.reopened().read() == stream
    assert stream.log.events == place.seal(created(), *EVERYTHING)


def test_created_with_all_that_follows(place: Place) -> None:
    events = place.seal(created(), *EVERYTHING)
    assert place.store.append(place.nothing, events).log.events == events
    assert place.store.read().log.events == events


def test_the_code_stays_until_it_is_changed(place: Place) -> None:
    stream = place.begin()
    assert stream.code == place.trees[0]
    for code in (place.trees[1], None, place.trees[2], place.trees[0]):
        before, events = stream.code, place.seal(executed(), at=stream)
        stream = place.store.append(stream, events, code=code)
        assert stream.code == (code or before)
        assert place.reopened().read() == stream


def test_adopted_revisions(place: Place) -> None:
    place.store.append(place.nothing, place.seal(created()), adopted=place.commits[:1])
    now = place.store.read()
    events = place.seal(executed(), at=now)
    stream = place.store.append(now, events, code=place.trees[2], adopted=place.commits[1:])
    assert place.reopened().read() == stream
    assert stream.log.events[1:] == events


# --- concurrency


def test_a_stale_append_is_refused_and_changes_nothing(place: Place) -> None:
    stale = place.begin()
    newest = place.add(NoteAdded(text="first come"))
    tag = Tag(f"ooo/{place.id}/gen_1", str)
    with pytest.raises(ConcurrentAppend):
        place.reopened().append(
            stale, place.seal(executed(), at=stale), code=place.trees[1], tag=tag
        )
    assert place.store.read() == place.reopened().read() == newest
    assert place.store.tags() == {}


def test_created_twice_is_refused_the_second_time(place: Place) -> None:
    nothing = place.nothing
    stream = place.begin()
    with pytest.raises(ConcurrentAppend):
        place.reopened().append(nothing, place.seal(created(), NoteAdded(text="me too")))
    assert place.store.read() == stream


def test_who_was_refused_reads_again_and_goes_on(place: Place) -> None:
    stale = place.begin()
    place.add(NoteAdded(text="one"))
    with pytest.raises(ConcurrentAppend):
        place.store.append(stale, place.seal(NoteAdded(text="two"), at=stale))
    texts = [getattr(e.data, "text", "") for e in place.add(NoteAdded(text="two")).log.events]
    assert texts == ["", "one", "two"]


# --- tags


def test_tags_name_the_revision_that_they_came_with(place: Place) -> None:
    place.begin()
    told: list[str] = []

    def message(revision: str) -> str:
        told.append(revision)
        return f"made at {revision}"

    wanted = {}
    for number in (1, 2, 10):
        now = place.store.read()
        events = place.seal(judged(True, False), completed(), at=now)
        name = f"ooo/{place.id}/gen_{number}"
        stream = place.store.append(now, events, tag=Tag(name, message))
        assert stream.revision is not None
        wanted[name] = stream.revision
        place.add(NoteAdded(text="a tag stays where it is"))
    assert place.store.tags() == place.reopened().tags() == wanted
    assert told == list(wanted.values())


def test_a_tag_that_is_there_is_moved(place: Place) -> None:
    stream = place.begin()
    for _ in range(2):
        events = place.seal(completed(), at=stream)
        stream = place.store.append(stream, events, tag=Tag(f"ooo/{place.id}/gen_1", str))
    assert place.store.tags() == {f"ooo/{place.id}/gen_1": stream.revision}


# --- against a plain list

FACTS = st.sampled_from(EVERYTHING) | st.text(max_size=9).map(lambda text: NoteAdded(text=text))
APPENDS = st.lists(
    st.tuples(
        st.lists(FACTS, min_size=1, max_size=4),
        st.sampled_from([None, 0, 1, 2]),  # the code tree
        st.booleans(),  # with a tag
        st.integers(0, 3),  # 0: as one who read too early
    ),
    max_size=6,
)


@settings(max_examples=15)
@given(APPENDS)
def test_any_appends_are_what_a_list_would_hold(
    places: Places, appends: list[tuple[list[Data], int | None, bool, int]]
) -> None:
    place = places()
    stale = stream = place.begin()
    wanted, code, tags = list(stream.log.events), place.trees[0], {}
    for number, (facts, tree, tagged, luck) in enumerate(appends):
        tag = Tag(f"ooo/{place.id}/gen_{number}", str) if tagged else None
        new_code = None if tree is None else place.trees[tree]
        if luck == 0 and stale != stream:
            late = place.seal(*facts, at=stale)
            with pytest.raises(ConcurrentAppend):
                place.store.append(stale, late, code=new_code, tag=tag)
            continue
        events = place.seal(*facts, at=stream)
        stale, stream = stream, place.store.append(stream, events, code=new_code, tag=tag)
        wanted += events
        code = new_code or code
        if tag and stream.revision:
            tags[tag.name] = stream.revision
    found = place.reopened().read()
    assert found == stream
    assert (list(found.log.events), found.code) == (wanted, code)
    assert place.store.tags() == tags
