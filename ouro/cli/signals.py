"""Signals: the first one asks the step to end in order, a second one ends it at once."""

import os
import signal
import time
from types import FrameType

DEBOUNCE = 0.5
"""Seconds within which a second signal is the same one: a terminal's Ctrl-C reaches the step
directly and, a moment later, once more from ralph.sh."""


class Interrupt:
    """Remembers the signal that asked the program to end."""

    def __init__(self) -> None:
        self._number = 0
        self._at = 0.0

    def __call__(self) -> int:
        """The signal's number, 0 while there was none."""
        return self._number

    def install(self) -> "Interrupt":
        # A background job of a shell starts with SIGINT ignored; the loop runs the step as one.
        signal.signal(signal.SIGINT, self._heard)
        signal.signal(signal.SIGTERM, self._heard)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
            signal.signal(signal.SIGHUP, self._heard)
        return self

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._number and now - self._at > DEBOUNCE:
            from ouro.agents.process import kill_running

            kill_running()
            os._exit(128 + number)
        if not self._number:
            self._number, self._at = number, now
