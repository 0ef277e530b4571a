"""What people call a generation or an event: `gen_3`, `@`, `@-2`, a number, part of an id."""

import re
from collections.abc import Sequence

from ouro.core.events import Event
from ouro.core.lineage import Generation, Lineage
from ouro.errors import OuroError, UsageProblem

SHORTEST = 4
"""The fewest characters that may stand for an event's id."""

_NUMBERED = re.compile(r"gen_([0-9]{1,9})")
_COUNTED_BACK = re.compile(r"@(?:(-*)|-([0-9]{1,9}))")
_SEQ = re.compile(r"[1-9][0-9]{0,8}")
"""No `seq` is written with a leading zero; the ids of this millennium begin with one."""


def generation_named(text: str, lineage: Lineage) -> Generation | None:
    """The generation that `text` names; None where it is no generation's name at all.

    `gen_3` is that one, also while it is open; `@` is the newest completed one, `@-`, `@--`,
    `@-3` the first, second, third before it. Raises OuroError where the lineage has none such.
    """
    if match := _NUMBERED.fullmatch(text):
        return _numbered(int(match[1]), lineage)
    if match := _COUNTED_BACK.fullmatch(text):
        return _before_newest(int(match[2] or 0) + len(match[1] or ""), lineage)
    return None


def require_generation(text: str, lineage: Lineage) -> Generation:
    """The same; raises UsageProblem where `text` is no generation's name."""
    found = generation_named(text, lineage)
    if found is None:
        raise UsageProblem(
            f"{text!r} names no generation",
            "write gen_3, @ for the newest completed one, or @-2 for the second before it",
        )
    return found


def event_named(text: str, events: Sequence[Event]) -> Event:
    """The event whose `seq` is `text`, or the only one whose id begins with it.

    `events` are the whole log. Raises UsageProblem where there is none or more than one.
    """
    found = _events_named(text, events)
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(event.id for event in found[:5]) + (", …" if len(found) > 5 else "")
        raise UsageProblem(f"{len(found)} ids begin with {text!r}: {ids}", "write more of it")
    raise UsageProblem(
        f"{text!r} names neither a generation nor an event of this lineage",
        f"write gen_3, @, @-2, an event's number (1 to {len(events)}), "
        f"or at least {SHORTEST} characters of its id",
    )


def _events_named(text: str, events: Sequence[Event]) -> list[Event]:
    if _SEQ.fullmatch(text):
        return [event for event in events if event.seq == int(text)]
    if len(text) < SHORTEST:
        return []
    return [event for event in events if event.id.startswith(text.upper())]


def _numbered(number: int, lineage: Lineage) -> Generation:
    known = [*lineage.generations, *([lineage.open] if lineage.open else [])]
    for generation in known:
        if generation.number == number:
            return generation
    raise OuroError(f"{lineage.id} has no generation {number}", _range(known))


def _before_newest(count: int, lineage: Lineage) -> Generation:
    if count >= len(lineage.generations):
        back = f", and none {count} before the newest" if count else ""
        raise OuroError(
            f"{lineage.id} has {len(lineage.generations)} completed generations{back}",
            _range(lineage.generations),
        )
    return lineage.generations[-1 - count]


def _range(known: Sequence[Generation]) -> str:
    if not known:
        return "no generation has begun: ouro step"
    return f"there are gen_{known[0].number} to gen_{known[-1].number}"
