"""Where a text is going to: colour, width, and nothing that a terminal would obey."""

from __future__ import annotations

import re

from msgspec import Struct

ADDED, REMOVED, TITLE, NOTED = "32", "31", "33", "1"
"""Colours as git has them: green, red, yellow, bold."""

_OBEYED = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")
"""Control characters, but for tabs, line ends and what sets a colour."""


class Screen(Struct, frozen=True):
    """`width` in columns. Without colour, as for a file or a pipe, a text is only itself."""

    terminal: bool = False
    colour: bool = False
    width: int = 80

    def painted(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def patch(self, raw: bytes) -> bytes:
        """What git printed: every byte for a program, for a terminal its colours and texts."""
        if not self.terminal:
            return raw
        return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", raw.decode("utf-8", "replace")).encode()


PLAIN = Screen()


def printable(text: str) -> str:
    """`text` without anything that a terminal would obey."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(ch if ch.isprintable() or ch == "\n" else "�" for ch in text)
