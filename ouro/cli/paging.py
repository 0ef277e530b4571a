"""Long texts: through git's own pager, in git's colours, where stdout is a terminal."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ouro.git.repository import Repo
from ouro.render.screen import PLAIN, Screen

_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
"""What git sets for its pager where nothing is set."""


def screen_of(repo: Repo) -> Screen:
    """What stdout is. git's own settings (`color.ui`, TERM) decide about colours, and NO_COLOR."""
    if not sys.stdout.isatty():
        return PLAIN
    said = repo.git.attempt("config", "--get-colorbool", "color.ui", "true")
    colour = "NO_COLOR" not in os.environ and said.stdout.strip() == b"true"
    return Screen(terminal=True, colour=colour, width=shutil.get_terminal_size().columns)


@contextmanager
def paged(repo: Repo) -> Iterator[Screen]:
    """While this lasts, what is printed goes to the pager, where there is one."""
    screen = screen_of(repo)
    pager = repo.git.attempt("var", "GIT_PAGER").stdout.decode().strip() if screen.terminal else ""
    if pager in ("", "cat"):
        yield screen
        return
    process = subprocess.Popen(
        pager, shell=True, stdin=subprocess.PIPE, env={**_DEFAULTS, **os.environ}
    )
    assert process.stdin is not None, "asked for above"
    # Ctrl-C is the pager's to hear: it would be left behind, reading the terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    terminal = os.dup(1)
    os.dup2(process.stdin.fileno(), 1)
    process.stdin.close()
    try:
        yield screen
        sys.stdout.flush()
    except BrokenPipeError:
        # What the pager did not want to read must not reach the terminal after it.
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            sys.stdout.flush()
        raise
    finally:
        os.dup2(terminal, 1)
        process.wait()
