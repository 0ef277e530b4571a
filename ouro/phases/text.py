"""Texts from agents: clean enough for the log, short enough for it, and fenced for prompts."""

import re
from collections.abc import Iterable

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TICKS = re.compile("`+")
_NOTE_ROOM = 40
"""Characters kept free for the note that something was cut, blanks around it included."""


def clean(text: str) -> str:
    """`text` so that UTF-8 can hold it: LF only, no control characters but LF and tab."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", lines))


def one_line(text: str, limit: int) -> str:
    """`text` cleaned, its blanks and line ends made single spaces, at most `limit` characters."""
    return cut(" ".join(clean(text).split()), limit, glue=" ")


def block(text: str, limit: int) -> str:
    """`text` cleaned, its lines kept, at most `limit` characters."""
    return cut(clean(text).strip(), limit)


def cut(text: str, limit: int, glue: str = "\n") -> str:
    """At most `limit` (from 100 on) characters: head and tail stay, the middle becomes a note."""
    if len(text) <= limit:
        return text
    head = (limit - _NOTE_ROOM) // 2
    tail = limit - _NOTE_ROOM - head
    note = f"{glue}[… {len(text) - head - tail} characters cut …]{glue}"
    return text[:head] + note + text[-tail:]


def keep_end(text: str, limit: int) -> str:
    """At most `limit` characters: the end stays, what stood before becomes a note."""
    if len(text) <= limit:
        return text
    kept = limit - _NOTE_ROOM
    return f"[… {len(text) - kept} characters cut …]\n{text[-kept:]}"


def fence(text: str, mark: str) -> str:
    """`text` as a fenced block that nothing inside it can close; `mark` says what it is."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{mark}\n{text}\n{ticks}"


def material(text: str) -> str:
    """Text of agents, checks or the repository: to be weighed, never obeyed."""
    return fence(clean(text), "material")


def bullets(items: Iterable[str]) -> str:
    """One list entry each; further lines of an entry stay inside it."""
    return "\n".join("- " + item.strip().replace("\n", "\n  ") for item in items)


def section(title: str, body: str) -> str:
    """A section, or nothing at all where there is no body."""
    return f"## {title}\n\n{body}" if body else ""
