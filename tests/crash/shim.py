"""Stops a command at one of its git calls, the n-th that it makes through `PATH`."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

SHIM = """\
#!/bin/sh
echo "$*" >>"$STAND/seen"
[ "$(wc -l <"$STAND/seen")" -eq "$STAND_AT" ] || exec "$STAND_GIT" "$@"
exec {python} {takes_over} "$@"
"""
WRITES = ("update-ref", "read-tree", "add", "reset", "worktree add", "symbolic-ref HEAD")
"""What `at_git` can leave undone, with its locks, or half done."""


class Shim:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        over = Path(__file__).with_name("at_git.py")
        text = SHIM.format(python=shlex.quote(sys.executable), takes_over=shlex.quote(str(over)))
        (folder / "git").write_text(text)
        (folder / "git").chmod(0o755)

    def at(self, call: int, how: str) -> dict[str, str]:
        """The variables with which a command is killed so at this call; it is never at call 0."""
        (self._folder / "seen").write_text("")
        return {
            "PATH": f"{self._folder}:{os.environ['PATH']}",
            "STAND": str(self._folder),
            "STAND_GIT": str(shutil.which("git")),
            "STAND_AT": str(call),
            "STAND_HOW": how,
        }

    def calls(self) -> list[str]:
        """What the last command called."""
        return (self._folder / "seen").read_text().splitlines()

    def points(self) -> list[tuple[int, str]]:
        """Before and after every call of the last command, with the locks of those that write, and
        when they had done a half."""
        calls = self.calls()
        points = [(at, how) for at in range(1, len(calls) + 1) for how in ("before", "after")]
        for at, call in enumerate(calls, start=1):
            if any(f" {word}" in f" {call}" for word in WRITES) and " -n " not in f"{call} ":
                points += [(at, "half"), (at, "lock")]
        return points
