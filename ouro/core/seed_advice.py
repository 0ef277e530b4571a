"""What a careful reader would say of a seed: where a criterion can be met without meeting it."""

import re

from msgspec import Struct

from ouro.core.seed import Criterion, Seed

_NAMES_A_FILE = re.compile(r"\b[\w./-]+\.[A-Za-z]\w{0,5}\b|`[^`]+`|\"[^\"]+\"|'[^']+'")
_NUMBER = re.compile(
    r"\d|\b(?:no|none|zero|one|two|three|four|five|six|seven|eight|nine|ten|every|all|each)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\b(?:and|as well as)\b|;", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:good|nice|clean|proper(?:ly)?|appropriate(?:ly)?|reasonabl[ey]|user.friendly|robust|fast"
    r"|quick(?:ly)?|eas(?:y|ily)|simple|etc)\b",
    re.IGNORECASE,
)
_MANY = 3
"""Joining words in one criterion from which it is several demands."""


class Advice(Struct, frozen=True):
    """`where` is a criterion's id, or a key of the seed."""

    where: str
    text: str


def advice(seed: Seed) -> tuple[Advice, ...]:
    """Remarks on `seed`, in its own order; none is an error."""
    found = [remark for c in seed.acceptance_criteria for remark in _on_criterion(c)]
    if not seed.ontology_schema.fields:
        text = "no fields: the first generations will be about naming the concepts"
        found.append(Advice("ontology_schema", text))
    return tuple(found)


def _on_criterion(criterion: Criterion) -> list[Advice]:
    text, checked = criterion.description, bool(criterion.checks) or criterion.hidden
    remarks = []
    if not checked:
        remarks.append("no check: an agent's verdict decides; add a verify_command if you can")
        if not _NAMES_A_FILE.search(text) and not _NUMBER.search(text):
            remarks.append("names no file, no text and no number: it can be met vaguely")
    if len(_JOINED.findall(text)) >= _MANY:
        remarks.append("several demands in one: make each a criterion of its own")
    if vague := _VAGUE.search(text):
        remarks.append(f"{vague.group()!r} can mean anything: say how one would see it")
    return [Advice(criterion.id, remark) for remark in remarks]
