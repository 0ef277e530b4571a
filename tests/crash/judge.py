"""What must be true of a lineage that has ended, whatever was killed on the way."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pygit2

from ouro.agents.leftovers import marked
from ouro.app.run import generation_tag
from ouro.core.events import (
    TYPE_OF,
    Event,
    EvolveStepCompleted,
    EvolveStepFailed,
    EvolveStepInterrupted,
)
from ouro.core.lineage import fold
from ouro.core.store import Stream
from ouro.git.event_store import GitEventStore
from ouro.git.repository import Repo
from tests.crash.stand import BRANCH, ID, Stand

TIMES = frozenset(["seconds", "last_at"])
OF_ATTEMPTS = (EvolveStepInterrupted, EvolveStepFailed)


def read(stand: Stand) -> Stream:
    return GitEventStore(Repo(stand.repo), ID).read()


def state(stand: Stand) -> dict[str, Any]:
    """What the lineage came to, without ids, times and attempts."""
    stream = read(stand)
    facts = [event for event in stream.log.events if not isinstance(event.data, OF_ATTEMPTS)]
    return {
        "lineage": plain(fold(stream.log.events)),
        "events": [[e.generation, TYPE_OF[type(e.data)], plain(e.data)] for e in facts],
        "code": stream.code,
        "files": stand.git("ls-tree", "-r", "--name-only", BRANCH).splitlines(),
        "seed": stand.git("cat-file", "blob", f"{BRANCH}:.ouro/lineages/{ID}/seed.yaml"),
        "tags": stand.git("tag", "--list").splitlines(),
    }


def plain(value: object) -> Any:
    return _blank(msgspec.to_builtins(value))


def _blank(value: Any) -> Any:
    match value:
        case dict():
            return {key: None if key in TIMES else _blank(v) for key, v in value.items()} | (
                {"adopted": len(value["adopted"])} if "adopted" in value else {}
            )
        case list() | tuple():
            return [_blank(one) for one in value]
        case _:
            return value


# --- judged one by one -------------------------------------------------------------------------


def judge(stand: Stand, undisturbed: dict[str, Any]) -> None:
    try:
        _judge(stand, undisturbed)
    except AssertionError as fault:
        raise AssertionError(f"{fault}\n{stand.story()}") from None


def _judge(stand: Stand, undisturbed: dict[str, Any]) -> None:
    stand.await_orphans()
    assert not stand.faults()
    assert state(stand) == undisturbed
    events = read(stand).log.events
    each_event_once(events)
    no_call_too_many(stand)
    tags_are_right(stand, events)
    unsaved_work_is_kept(stand, events)
    nothing_is_left_behind(stand)
    workspace_is_at_the_tip(stand)
    checkout_is_untouched(stand)
    repository_is_sound(stand)


def each_event_once(events: tuple[Event, ...]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len({event.id for event in events}) == len(events)
    lasting = [event for event in events if not isinstance(event.data, OF_ATTEMPTS)]
    facts = [(event.generation, type(event.data)) for event in lasting]
    assert len(set(facts)) == len(facts)


def no_call_too_many(stand: Stand) -> None:
    """A call comes once, and once more for each death that it did not see committed."""
    again = {call: n - 1 for call, n in stand.calls().items() if n > 1}
    if not stand.unsteady:
        assert again == {call: n for call, n in stand.asked_again.items() if n}
    for call, times in again.items():
        assert times <= sum(call not in committed for committed in stand.deaths), call


def tags_are_right(stand: Stand, events: tuple[Event, ...]) -> None:
    lineage = fold(events)
    assert lineage
    repo = Repo(stand.repo)
    store = GitEventStore(repo, ID)
    for event in events:
        if not isinstance(event.data, EvolveStepCompleted):
            continue
        wanted = generation_tag(lineage, event.generation)
        target = repo.ref(f"refs/tags/{wanted.name}")
        assert target, f"{wanted.name} is missing"
        tag = repo.handle[target]
        assert isinstance(tag, pygit2.Tag), f"{wanted.name} is not annotated"
        commit = str(tag.peel(pygit2.Commit).id)
        assert commit == store.commit_ending_with(event, str(store.read().revision))
        said = json.loads(tag.message)
        assert said == json.loads(wanted.message(commit))
        assert (said["generation"], said["commit"]) == (event.generation, commit)


def unsaved_work_is_kept(stand: Stand, events: tuple[Event, ...]) -> None:
    """What lay in the workspace when a step died in execute is under a rescue ref."""
    refs = stand.git("for-each-ref", "--format=%(refname)", f"refs/ouro/rescue/{ID}/").split()
    kept = {name: set(stand.git("ls-tree", "--name-only", name).split()) for name in refs}
    attempts = [(e.generation, e.data) for e in events if isinstance(e.data, OF_ATTEMPTS)]
    interrupted = {(generation, data.phase) for generation, data in attempts}
    for generation, file in stand.lost:
        if stand.unsteady and (generation, "execute") not in interrupted:
            continue
        assert any(file in names for names in kept.values()), (
            f"generation {generation}: {file} is under no rescue ref"
        )
    assert {data.rescue for _, data in attempts if data.rescue} <= set(refs)


def nothing_is_left_behind(stand: Stand) -> None:
    locks = [*stand.repo.rglob("*.lock"), *stand.workspace.parent.rglob("*.lock")]
    assert not locks
    assert not (stand.state / "run.json").exists()
    assert not (stand.state / "making").exists()
    alive = [pid for mark in stand.marks() for pid in marked(mark)]
    assert not alive


def workspace_is_at_the_tip(stand: Stand) -> None:
    where = str(stand.workspace)
    assert stand.git("-C", where, "symbolic-ref", "HEAD").strip() == BRANCH
    looked = stand.git("-C", where, "status", "--porcelain", "--ignored", "--untracked-files=all")
    assert not looked, f"{looked}"
    listed = stand.git("worktree", "list", "--porcelain").split("\n\n")
    assert len([entry for entry in listed if entry.strip()]) == 2


def checkout_is_untouched(stand: Stand) -> None:
    now = (stand.repo / ".git" / "index").read_bytes()
    assert now == stand.index_before, "the user's index was written"
    assert not stand.git("--no-optional-locks", "status", "--porcelain")
    assert stand.git("rev-parse", "--abbrev-ref", "HEAD").strip() == "main"
    assert stand.git("for-each-ref", "--format=%(refname)", "refs/heads/").split() == [
        "refs/heads/main",
        BRANCH,
    ]
    assert sorted(p.name for p in stand.repo.iterdir()) == [".git", "README.txt"]


def repository_is_sound(stand: Stand) -> None:
    said = stand.git("fsck", "--strict", "--no-dangling", "--no-progress")
    assert not said.strip(), said
