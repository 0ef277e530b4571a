"""Tags are derived from the log, and so must agree with it. One that is missing is no fault: a
clone may have none, and a kill may leave the newest out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ouro.core.lineage import Lineage
from ouro.core.report import of_generation, to_json
from ouro.core.verify.history import Finding, TagRef

_NAME = re.compile(r"(?:rewound_(?P<jump>[1-9]\d*)/)?gen_(?P<number>[1-9]\d*)")
_TOLD = ("action", "generation", "lineage_id", "similarity", "next_generation",
         "lateral_think_applied", "qa", "error", "reason", "criteria", "commit", "tag")  # fmt: skip

Ends = Mapping[int, str]
"""The number of each completed generation of a log -> the commit that completed it."""


class Checked(NamedTuple):
    findings: list[Finding]
    notices: list[str]


def check(
    tags: Sequence[TagRef], lineage: Lineage, ends: Ends, left: Mapping[int, Ends], jumped: bool
) -> Checked:
    """The lineage's tags against its log: `ends` are those of the present log, `left` those of the
    logs that each jump left, by its number. `jumped`: the log ends with a jump, whose tags may not
    be all in place."""
    known = dict(left) | {lineage.jumps + 1: ends}
    copies = {tag.target for tag in tags if "/" in tag.name}
    checked = Checked([], [])
    for tag in tags:
        match = _NAME.fullmatch(tag.name)
        if match is None:
            checked.notices.append(f"{_full(lineage, tag)} is no tag that ouro makes")
        elif match["jump"]:
            _archived(
                checked, tag, lineage, known.get(int(match["jump"]), {}), int(match["number"])
            )
        elif tag.target in copies and _unsettled(int(match["number"]), tag, ends, jumped):
            checked.notices.append(f"{_full(lineage, tag)} is archived, and still there")
        else:
            _present(checked, tag, lineage, ends, int(match["number"]))
    _missing(checked, tags, lineage, ends)
    return checked


def _full(lineage: Lineage, tag: TagRef) -> str:
    return f"the tag ooo/{lineage.id}/{tag.name}"


def _unsettled(number: int, tag: TagRef, ends: Ends, jumped: bool) -> bool:
    """Whether a tag of what was left behind waits to be deleted, or moved by a jump cut off."""
    return number not in ends or (jumped and ends[number] != tag.commit)


def _present(checked: Checked, tag: TagRef, lineage: Lineage, ends: Ends, number: int) -> None:
    name = _full(lineage, tag)
    if number not in ends:
        _find(checked, tag, f"{name} is of a generation that the log does not hold")
    elif ends[number] != tag.commit:
        _find(checked, tag, f"{name} does not name {ends[number]}, which ended that generation")
    else:
        for what in _message_faults(tag, lineage, number):
            _find(checked, tag, f"{name} {what}")


def _archived(checked: Checked, tag: TagRef, lineage: Lineage, ends: Ends, number: int) -> None:
    """Also one that a jump made which was then cut off names the end of its generation."""
    name = _full(lineage, tag)
    if number not in ends:
        _find(checked, tag, f"{name} is of a generation that no such jump left behind")
    elif ends[number] != tag.commit:
        _find(checked, tag, f"{name} does not name {ends[number]}, which ended that generation")
    elif tag.message is None:
        _find(checked, tag, f"{name} is no annotated tag")


def _message_faults(tag: TagRef, lineage: Lineage, number: int) -> Iterator[str]:
    if tag.message is None:
        yield "is no annotated tag"
        return
    wanted = to_json(of_generation(lineage.id, lineage.generations[number - 1], tag.commit or ""))
    said, told = _object(tag.message), _object(wanted)
    if said is None or told is None:
        yield "has another message than the step's JSON"
        return
    wrong = [key for key in _TOLD if said.get(key, told[key]) != told[key]]
    wrong += [key for key in _TOLD[:4] if key not in said]
    if wrong:
        yield f"says otherwise than the log: {', '.join(wrong)}"


def _object(text: str) -> dict[str, object] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def _missing(checked: Checked, tags: Sequence[TagRef], lineage: Lineage, ends: Ends) -> None:
    there = {tag.name for tag in tags}
    lost = [f"gen_{number}" for number in ends if f"gen_{number}" not in there]
    if lost:
        more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        checked.notices.append(f"tags of ooo/{lineage.id} are missing: {', '.join(lost[:5])}{more}")


def _find(checked: Checked, tag: TagRef, what: str) -> None:
    checked.findings.append(Finding(commit=tag.commit or tag.target, what=what))
