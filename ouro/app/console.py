"""What the app says to people while it works; what it looks like is for `render` to decide."""

from pathlib import Path
from typing import Protocol


class Console(Protocol):
    def say(self, text: str) -> None:
        """A line that stays."""
        ...

    def warn(self, text: str) -> None:
        """A line that stays and deserves a look."""
        ...

    def progress(self, what: str, seconds: float, output: Path | None) -> None:
        """What is going on right now; heard several times a second."""
        ...

    def settle(self) -> None:
        """What was going on is over."""
        ...
