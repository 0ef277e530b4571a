"""The generations' tags: derived from the log, and made again from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from ouro.app.run import Run, generation_tag
from ouro.core.codec import Log
from ouro.core.events import (
    Event,
    EvolveStepCompleted,
    Jump,
    LineageForked,
)
from ouro.core.ids import archived_name, tag_name
from ouro.core.jumps import beginning, completions, left_behind
from ouro.core.lineage import Lineage
from ouro.core.story import counted
from ouro.errors import DamagedLog, OuroError
from ouro.git.event_store import TagChanges, update


def put_right(run: Run) -> None:
    """Make the tags again that a crash left out or an agent moved. Raises DamagedLog where a tag in
    the branch's own history knows another log."""
    if _is_cut_off(run) and (changed := finish_jump(run)):
        run.session.console.say(f"{counted(changed, 'tag')} of ooo/{run.lineage.id} put right")
    _newest(run)


def _is_cut_off(run: Run) -> bool:
    """Whether the tags may still be those from before a jump, or a fork, that is the last thing in
    the log, or that came with more by a pull: then old tags stand where new ones belong."""
    if isinstance(run.stream.log.events[-1].data, Jump | LineageForked):
        return True
    if not run.lineage.jumps:
        return False
    present, end = run.session.store.tag_objects(), _last_completion(run)
    archive, newest = _archive(present), len(run.lineage.generations)
    stale = [n for n in (newest, newest + 1) if present.get(_tag(run, n)) in archive.get(n, ())]
    current = present.get(_tag(run, newest))
    if end and current and run.session.store.ends_with(current, end):
        stale = [n for n in stale if n > newest]
    return bool(stale)


def _tag(run: Run, number: int) -> str:
    return tag_name(run.lineage.id, number)


def _newest(run: Run) -> None:
    beyond = tag_name(run.lineage.id, len(run.lineage.generations) + 1)
    lost = run.session.store.tagged(beyond)
    if lost and run.session.repo.descends(run.tip, lost):
        _refuse_rewritten(run, beyond, lost, run.lineage.id)
    event = _last_completion(run)
    if event is None:
        return
    tag = generation_tag(run.lineage, event.generation)
    named = run.session.store.tagged(tag.name)
    if named == run.tip:
        return
    if named and run.session.repo.descends(run.tip, named):
        _refuse_rewritten(run, tag.name, named, event.lineage_id)
    commit = run.session.store.commit_ending_with(event, run.tip)
    if named != commit:
        if named:
            run.session.console.warn(f"the tag {tag.name} was moved; it is put right")
        run.session.store.put_tag(run.tip, tag, commit)


def _refuse_rewritten(run: Run, tag: str, commit: str, owner: str) -> None:
    # A log that was handed on by a fork lies in another folder: `ouro verify` looks at that.
    if owner == run.lineage.id and not run.session.store.continues(commit, run.tip, owner):
        raise DamagedLog(
            f"the log at the tip of ooo/{run.lineage.id} does not continue the one at {tag}: "
            "lines that were committed are changed or gone",
            f"nothing was changed; see who did it: git log -p --text {tag}..ooo/{run.lineage.id}"
            " -- .ouro",
        )


def completing_commit(run: Run) -> str:
    """The commit of the newest completed generation's decision."""
    event = _last_completion(run)
    assert event is not None, "there is a completed generation"
    return run.session.store.commit_ending_with(event, run.tip)


def _last_completion(run: Run) -> Event | None:
    events = reversed(run.stream.log.events)
    return next((e for e in events if isinstance(e.data, EvolveStepCompleted)), None)


# --- jumps -------------------------------------------------------------------------------------


def jumped(run: Run, after: Log, lineage: Lineage, jump: int) -> TagChanges:
    """What the jump with the number `jump`, from `run` to the log `after` (folded: `lineage`), does
    to the tags: those of generations left behind are archived, then moved or deleted."""
    present, before = run.session.store.tag_objects(), run.stream.log.events
    left, ends = left_behind(before, after.events), completions(before)
    objects = _objects(run, [ends[number] for number in left], present)
    names = {n: archived_name(run.lineage.id, jump, n) for n in left}
    for number, name in names.items():
        if present.get(name, objects[number]) != objects[number]:
            raise OuroError(
                f"the tag {name} is there already, and names something else",
                f"ouro keeps such names for jumps; rename yours: git tag NEW {name}",
            )
    archived = [
        update(f"refs/tags/{name}", objects[number], None)
        for number, name in names.items()
        if name not in present
    ]
    kept = present | {name: objects[number] for number, name in names.items()}
    same = completions(after.events).keys() - left_behind(after.events, before)
    return TagChanges(archived, _moves(run, after.events, lineage, kept, frozenset(same)))


def _objects(run: Run, ends: Sequence[Event], present: Mapping[str, str]) -> dict[int, str]:
    """The tag objects of generations, by their last events; made where a tag is gone."""
    found = {e.generation: present.get(tag_name(run.lineage.id, e.generation)) for e in ends}
    lost = [end for end in ends if not found[end.generation]]
    return {n: o for n, o in found.items() if o} | _made(run, lost, run.lineage)


def _made(run: Run, ends: Sequence[Event], lineage: Lineage) -> dict[int, str]:
    """New tag objects for the generations of `lineage` that `ends` completed."""
    store = run.session.store
    commits = store.commits_ending_with(ends, run.tip) if ends else {}
    return {
        end.generation: store.tag_object(generation_tag(lineage, end.generation), commits[end.seq])
        for end in ends
    }


def taken_over(
    run: Run, theirs: Mapping[str, str], elsewhere: Set[str] = frozenset()
) -> TagChanges:
    """What a clone at `run` has to do to its tags, where those of another clone (name -> tag
    object) are `theirs`: what fits the log is taken, archived ones stay. Of the tag objects
    `elsewhere`, whose generations another lineage has now, those beyond the log go."""
    present, events = run.session.store.tag_objects(), run.stream.log.events
    ends = {tag_name(run.lineage.id, number) for number in completions(events)}
    gone = {name: made for name, made in present.items() if name not in ends and made in elsewhere}
    here = {name: made for name, made in present.items() if name not in gone}
    taken = fitting(
        run, {n: made for n, made in theirs.items() if not (is_archived(n) and n in here)}
    )
    first = [update(f"refs/tags/{n}", made, None) for n, made in taken.items() if is_archived(n)]
    first += [f"delete refs/tags/{name} {made}" for name, made in gone.items()]
    return TagChanges(first, _moves(run, events, run.lineage, here | taken, frozenset(), here))


def fitting(run: Run, tags: Mapping[str, str]) -> dict[str, str]:
    """Those of `tags` (name -> tag object) that the log knows: of a generation that it holds, or
    that one of its jumps left behind."""
    matches = {name: match for name in tags if (match := _GENERATION.fullmatch(name))}
    oldest = min((int(match["jump"]) for match in matches.values() if match["jump"]), default=None)
    ends = {0: completions(run.stream.log.events)}
    if oldest is not None:
        ends |= _left(run, oldest)
    found = {n: ends.get(int(m["jump"] or 0), {}).get(int(m["n"])) for n, m in matches.items()}
    store = run.session.store
    return {n: tags[n] for n, end in found.items() if end and store.ends_with(tags[n], end)}


def _left(run: Run, oldest: int) -> dict[int, dict[int, Event]]:
    """The number of each jump, from the newest down to `oldest` -> what the log that it left had
    completed."""
    found: dict[int, dict[int, Event]] = {}
    events = run.stream.log.events
    while True:
        own = [e.data for e in events[beginning(events) :] if isinstance(e.data, Jump)]
        if not own or own[-1].n < oldest or not run.session.repo.has(own[-1].left):
            return found
        events = run.session.store.read_at(own[-1].left).log.events
        found[own[-1].n] = completions(events)


def is_archived(name: str) -> bool:
    """Whether a tag (`ooo/…`) is that of a generation that a jump left behind."""
    match = _GENERATION.fullmatch(name)
    return bool(match and match["jump"])


def is_generation(name: str) -> bool:
    """Whether a tag (`ooo/…`) is one of a generation, archived or not."""
    return bool(_GENERATION.fullmatch(name))


def finish_jump(run: Run) -> int:
    """Do to the tags what the last jump, or a fork, has left to do; how many changed."""
    if isinstance(run.stream.log.events[-1].data, LineageForked):
        return remake(run)
    present = run.session.store.tag_objects()
    return _change(run, present, _untouched(run, present))


def remake(run: Run) -> int:
    """Make every tag again that is not as the log says, whoever did it; how many changed."""
    return _change(run, run.session.store.tag_objects(), frozenset())


def _untouched(run: Run, present: Mapping[str, str]) -> frozenset[int]:
    """The generations that have a tag, and of whose number no jump has archived any: no jump moved
    that tag."""
    archive, numbers = _archive(present), completions(run.stream.log.events)
    return frozenset(n for n in numbers if n not in archive and _tag(run, n) in present)


def _change(run: Run, present: Mapping[str, str], known: frozenset[int]) -> int:
    updates = _moves(run, run.stream.log.events, run.lineage, present, known)
    if updates:
        run.session.store.change_tags(run.tip, updates)
    return len(updates)


def _moves(
    run: Run,
    events: Sequence[Event],
    lineage: Lineage,
    present: Mapping[str, str],
    known: frozenset[int],
    set_now: Mapping[str, str] | None = None,
) -> list[str]:
    """Ref updates after which the generation tags are those of the log `events` (folded:
    `lineage`). The tags of the generations `known` are right. Of the tags `present`, those
    `set_now` are refs here already (None: all of them)."""
    here = present if set_now is None else set_now
    store, ends = run.session.store, completions(events)
    archive = _archive(present)
    objects: dict[int, str] = {}
    lost = []
    for number in sorted(ends.keys() - known):
        candidates = [present.get(tag_name(lineage.id, number)), *archive.get(number, ())]
        fitting = (o for o in candidates if o and store.ends_with(o, ends[number]))
        if found := next(fitting, None):
            objects[number] = found
        else:
            lost.append(ends[number])
    objects |= _made(run, lost, lineage)
    return _updates(lineage.id, objects, here) + _deletions(ends.keys(), here, archive)


def _updates(lineage_id: str, objects: Mapping[int, str], present: Mapping[str, str]) -> list[str]:
    named = {tag_name(lineage_id, number): made for number, made in sorted(objects.items())}
    changed = {name: made for name, made in named.items() if present.get(name) != made}
    return [update(f"refs/tags/{name}", made, present.get(name)) for name, made in changed.items()]


def _deletions(
    ends: Set[int], present: Mapping[str, str], archive: Mapping[int, Sequence[str]]
) -> list[str]:
    """Last, as git has to rewrite its packed refs for them. Only what is archived is deleted."""
    found = ((_GENERATION.fullmatch(name), name, made) for name, made in present.items())
    return [
        f"delete refs/tags/{name} {made}"
        for match, name, made in found
        if match
        and not match["jump"]
        and int(match["n"]) not in ends
        and made in archive.get(int(match["n"]), ())
    ]


_GENERATION = re.compile(r"ooo/[^/]+/(?:rewound_(?P<jump>\d+)/)?gen_(?P<n>\d+)")


def _archive(present: Mapping[str, str]) -> dict[int, list[str]]:
    """The number of a generation -> the archived tag objects of that number."""
    found: dict[int, list[str]] = {}
    for name, made in present.items():
        match = _GENERATION.fullmatch(name)
        if match and match["jump"]:
            found.setdefault(int(match["n"]), []).append(made)
    return found
