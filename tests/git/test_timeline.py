"""Which commit recorded each event, also where the branch took a jump."""

from pathlib import Path

import pytest

from ouro.core.chain import extend
from ouro.core.codec import EMPTY_LOG, encode_lines
from ouro.core.events import Data, NoteAdded
from ouro.core.store import Stream
from ouro.git.log_tree import ROLL_OVER
from ouro.git.repository import Repo
from ouro.git.timeline import Timeline
from tests.core.builders import completed, created, executed, forked, judged, seal_all, wondered
from tests.git.test_event_store import LOG, Project

FILE = f"{LOG}/000001.jsonl"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def told(project: Project) -> dict[int, str]:
    """Number of each event -> its commit; that all are told, newest first, is checked."""
    timeline = Timeline(Repo(project.folder), "x", project.tip)
    recorded = [*timeline.recorded()]
    assert [one.event for one in recorded] == [*timeline.events()]
    log = project.store.read().log
    assert [one.event for one in reversed(recorded)] == [*log.events]
    return {one.event.seq: one.commit for one in recorded}


def jump(project: Project, to: str, text: str) -> str:
    """As a rewind does: on top of the tip, the log at `to` and a line more."""
    log = project.store.read_at(to).log
    more = encode_lines(seal_all([NoteAdded(text=text)], log, "x"))
    project.overwrite({FILE: project.blob(FILE, to) + more})
    return project.tip


def test_each_event_by_its_commit(project: Project) -> None:
    one = project.begin().revision
    two = project.add(executed(), judged(True, False)).revision
    three = project.add(completed()).revision
    assert told(project) == {1: one, 2: two, 3: two, 4: three}


def test_commits_that_add_no_event_hold_none(project: Project) -> None:
    one = project.begin().revision
    project.overwrite({"mine": b"1"})
    two = project.add(executed()).revision
    project.overwrite({"mine": b"2"})
    project.overwrite({"mine": b"3"})
    assert told(project) == {1: one, 2: two}


def test_a_lineage_from_an_empty_root(project: Project) -> None:
    empty = Stream(EMPTY_LOG, None, project.store._repo.empty_tree())
    stream = project.store.append(empty, seal_all([created()], lineage_id="x"))
    assert told(project) == {1: stream.revision}


def test_a_lineage_on_top_of_another_one(project: Project) -> None:
    log = extend(EMPTY_LOG, seal_all([created(), executed(), completed()], lineage_id="other"))
    folder = ".ouro/lineages/other/events"
    project.base = project.commit(
        {f"{folder}/000001.jsonl": encode_lines(log.events)}, parent="HEAD"
    )
    one = project.begin().revision
    two = project.add(executed()).revision
    assert told(project) == {1: one, 2: two}


def test_after_a_rewind_what_was_left_behind_holds_nothing(project: Project) -> None:
    one = project.begin().revision
    two = project.add(executed()).revision
    assert two
    for number in range(3):
        project.add(judged(True, False), NoteAdded(text=f"left {number}"))
    three = jump(project, two, "back")
    four = project.add(judged(True, True)).revision
    assert told(project) == {1: one, 2: two, 3: three, 4: four}


def test_after_an_undo_the_events_belong_to_the_commits_that_first_had_them(
    project: Project,
) -> None:
    commits = {1: project.begin().revision}
    for seq in range(2, 6):
        commits[seq] = project.add(NoteAdded(text=f"{seq}")).revision
    left = project.tip
    jump(project, commits[2] or "", "back")
    for number in range(7):
        project.add(NoteAdded(text=f"another way {number}"))
    commits[6] = jump(project, left, "undone")
    assert told(project) == commits
    commits[7] = project.add(NoteAdded(text="on")).revision
    assert told(project) == commits


def test_two_rewinds_and_the_undo_of_the_second(project: Project) -> None:
    commits: dict[int, str | None] = {1: project.begin().revision}
    for number in range(4):
        project.add(NoteAdded(text=f"first {number}"))
    commits[2] = jump(project, commits[1] or "", "back")
    commits[3] = project.add(NoteAdded(text="second")).revision
    left = project.tip
    jump(project, commits[1] or "", "back again")
    commits[4] = jump(project, left, "undone")
    assert told(project) == commits


def test_before_a_fork_the_log_lies_in_another_folder(project: Project) -> None:
    one, two = project.begin().revision, project.add(executed()).revision
    log = project.store.read().log
    more = encode_lines(seal_all([forked(source="x")], log, "x"))
    gone = dict.fromkeys(project.files(".ouro"))
    there = ".ouro/lineages/x_forked/events/000001.jsonl"
    three = project.commit({**gone, there: project.blob(FILE) + more})
    recorded = Timeline(Repo(project.folder), "x_forked", three).recorded()
    assert {one.event.seq: one.commit for one in recorded} == {1: one, 2: two, 3: three}


def test_a_log_of_many_files(project: Project) -> None:
    commits: dict[int, str | None] = {1: project.begin().revision}
    long = NoteAdded(text="x" * ROLL_OVER)
    facts: tuple[Data, ...] = (executed(), long, completed(), wondered(), long, completed(), long)
    for seq, fact in enumerate(facts, start=2):
        commits[seq] = project.add(fact).revision
    assert len(project.files(LOG)) == 3
    assert told(project) == commits
    timeline = Timeline(Repo(project.folder), "x", project.tip)
    assert timeline.raw() == project.log_bytes()


@pytest.mark.parametrize("content", [b"", b"\n", b"?\n", b'{"seq":"x"}\n', b"\xff", b"{}"])
def test_a_log_that_was_damaged_and_put_right_again(project: Project, content: bytes) -> None:
    one, two = project.begin().revision, project.add(executed()).revision
    good = project.blob(FILE)
    project.overwrite({FILE: content})
    project.overwrite({FILE: good})
    assert told(project) == {1: one, 2: two}


def test_only_as_far_as_it_is_asked_for(project: Project) -> None:
    """An older file may even be damaged: looking at the newest events does not read it."""
    project.begin()
    project.add(executed(), NoteAdded(text="x" * ROLL_OVER), completed())
    project.add(wondered())
    damaged = project.commit({FILE: b"?\n"})
    events = Timeline(Repo(project.folder), "x", damaged).events()
    assert next(events).seq == 5
