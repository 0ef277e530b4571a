"""Lines on stderr while something runs."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TextIO

from ouro.render.screen import printable

REDRAW = 0.25
"""Seconds between two drawings of the live line."""


class Terminal:
    """Speaks to people on a stream; colour, width and the live line only where it is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._colour = self._live and "NO_COLOR" not in os.environ
        self._drawn = 0.0
        self._shown = False

    def say(self, text: str) -> None:
        self.settle()
        self._print(f"ouro: {text}")

    def warn(self, text: str) -> None:
        self.settle()
        self._print(self._painted(f"ouro: warning: {text}", "33"))

    def progress(self, what: str, seconds: float, output: Path | None) -> None:
        now = time.monotonic()
        if not self._live or now - self._drawn < REDRAW:
            return
        self._drawn, self._shown = now, True
        line = f"{what}  {_duration(seconds)}  {_last_line(output)}".rstrip()
        width = shutil.get_terminal_size().columns - 1
        self._stream.write(f"\r\x1b[K{self._painted(line[:width], '2')}")
        self._stream.flush()

    def settle(self) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False

    def _print(self, text: str) -> None:
        self._stream.write(printable(text) + "\n" if not self._colour else text + "\n")
        self._stream.flush()

    def _painted(self, text: str, code: str) -> str:
        text = printable(text)
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text


def _duration(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02}" if whole else ""


def _last_line(path: Path | None, reach: int = 400) -> str:
    """The last line of an output that is being written, as far as its last bytes tell."""
    if path is None or not path.is_file():
        return ""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - reach))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return printable(lines[-1]) if lines else ""
