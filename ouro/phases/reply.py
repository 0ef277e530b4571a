"""Replies that must be JSON: where it stands in the text, and its strict reading."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from ouro.phases import BadReply
from ouro.phases.text import clean

LONGEST = 2_000_000
"""Characters at the end of a reply that are looked at: what does not fit into them is no reply."""

T = TypeVar("T")

# Takes escapes one by one, so that an escaped backslash before a `u` is not taken for one.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|u(?P<lone>[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


class _Block(NamedTuple):
    language: str
    text: str


def read(text: str, shape: type[T]) -> T:
    """The reply in `text` as `shape`; keys that `shape` does not have are passed over.

    It is the last fenced `json` block, else the last fenced block without a language where that
    holds a JSON object, else the whole text. Raises BadReply.
    """
    try:
        return msgspec.json.decode(_candidate(clean(text[-LONGEST:])), type=shape)
    except msgspec.ValidationError as problem:
        raise BadReply(str(problem)) from None
    except msgspec.DecodeError as problem:
        raise BadReply(f"no readable JSON in the reply: {problem}") from None
    except RecursionError:
        raise BadReply("the JSON in the reply is nested too deeply") from None


def _candidate(text: str) -> str:
    blocks = tuple(_blocks(text))
    found = _last(blocks, "json")
    if found is None and (bare := _last(blocks, "")) is not None and _is_object(bare):
        found = bare
    whole = text.strip().removeprefix("\ufeff") if found is None else found
    return _ESCAPE.sub(_without_lone_surrogate, whole)


def _last(blocks: Sequence[_Block], language: str) -> str | None:
    return next((b.text for b in reversed(blocks) if b.language == language), None)


def _is_object(text: str) -> bool:
    try:
        msgspec.json.decode(_ESCAPE.sub(_without_lone_surrogate, text), type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _without_lone_surrogate(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape["lone"] else escape[0]


def _blocks(text: str) -> Iterator[_Block]:
    """The fenced blocks, as in CommonMark but for two things that agents do: a block that
    is still open at the end counts, and a `json` fence opens one even inside another."""
    language, ticks, lines = "", 0, list[str]()
    for line in text.split("\n"):
        length, info = _fence(line)
        opens = length and (not ticks or _language(info) == "json")
        if opens:
            language, ticks, lines = _language(info), length, []
        elif ticks and length >= ticks and not info:
            yield _Block(language, "\n".join(lines))
            ticks = 0
        elif ticks:
            lines.append(line)
    if ticks:
        yield _Block(language, "\n".join(lines))


def _fence(line: str) -> tuple[int, str]:
    """How many backticks a fence has and what follows them; 0 where the line is none."""
    line = line.strip()
    info = line.lstrip("`")
    length = len(line) - len(info)
    return (length, info.strip()) if length >= 3 and "`" not in info else (0, "")


def _language(info: str) -> str:
    return info.split(maxsplit=1)[0].lower() if info else ""
