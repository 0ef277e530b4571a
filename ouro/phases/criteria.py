"""Changes to criteria as an agent asks for them. The user's own keep their words and their ids."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import count

from msgspec import Struct

from ouro.core.events import CriterionChange
from ouro.core.seed import Criterion
from ouro.core.seed_changes import revised
from ouro.phases import BadReply
from ouro.phases.text import one_line

MOST_CRITERIA = 200
LONGEST_TEXT = 1_000
LONGEST_NOTE = 500

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")  # as in a seed file

Criteria = tuple[Criterion, ...]


class AskedChange(Struct, frozen=True):
    """One entry of the reply's `criteria`."""

    action: str
    description: str
    id: str | None = None


def change(
    criteria: Criteria, asked: Sequence[AskedChange], generation: int
) -> tuple[Criteria, tuple[CriterionChange, ...]]:
    """The criteria after all of `asked`, and the changes with the ids that they got.

    None ever goes or moves; those added come last, marked with `generation`. Raises BadReply.
    """
    by_id = {criterion.id: criterion for criterion in criteria}
    free = _free_ids({*by_id, *(a.id for a in asked if a.id)})
    changes: list[CriterionChange] = []
    for wanted in asked:
        done = _checked(by_id, wanted, free)
        by_id[done.id] = revised(by_id.get(done.id), done, generation)
        changes.append(done)
    _once_each(changes)
    if len(by_id) > max(MOST_CRITERIA, len(criteria)):
        raise BadReply(f"there would be {len(by_id)} criteria, {MOST_CRITERIA} is the limit")
    return tuple(by_id.values()), tuple(changes)


def _free_ids(taken: Container[str]) -> Iterator[str]:
    return (name for name in map("ac{}".format, count(1)) if name not in taken)


def _checked(
    by_id: Mapping[str, Criterion], asked: AskedChange, free: Iterator[str]
) -> CriterionChange:
    name = one_line(asked.id or "without id", 100)
    text = one_line(asked.description, LONGEST_NOTE if asked.action == "note" else LONGEST_TEXT)
    if not text:
        raise BadReply(f"criterion {name} ({asked.action}): the description is empty")
    match asked.action:
        case "add":
            return CriterionChange(action="add", id=_new_id(by_id, asked, free), description=text)
        case "revise":
            return CriterionChange(action="revise", id=_revisable(by_id, name), description=text)
        case "note":
            return CriterionChange(action="note", id=_known(by_id, name).id, description=text)
    raise BadReply(f"{asked.action!r} ({name}) is no action: use add, revise or note")


def _new_id(by_id: Mapping[str, Criterion], asked: AskedChange, free: Iterator[str]) -> str:
    """The id that was asked for, where it can be one and was given; else the next free `ac<k>`."""
    if not asked.id or not _ID.fullmatch(asked.id):
        return next(free)
    # Two ids that differ in case alone would be mixed up by everybody.
    if any(asked.id.casefold() == known.casefold() for known in by_id):
        raise BadReply(f"add {asked.id}: there is a criterion of that id; leave the id out")
    return asked.id


def _revisable(by_id: Mapping[str, Criterion], name: str) -> str:
    criterion = _known(by_id, name)
    if criterion.added_in == 0:
        raise BadReply(f"revise {name}: that criterion is the user's and keeps its words; use note")
    return criterion.id


def _known(by_id: Mapping[str, Criterion], name: str) -> Criterion:
    if name not in by_id:
        raise BadReply(f"there is no criterion {name}")
    return by_id[name]


def _once_each(changes: Sequence[CriterionChange]) -> None:
    written = [done.id for done in changes if done.action != "note"]
    for criterion_id in written:
        if written.count(criterion_id) > 1:
            raise BadReply(f"criterion {criterion_id} is changed twice")
