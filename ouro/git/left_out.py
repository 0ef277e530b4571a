"""Paths that stay on disk and never become part of a generation: listed, and then ignored."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from ouro.git.journal import write_durably
from ouro.git.program import Git
from ouro.git.repository import Repo

JUNK = (
    "# what tools leave behind; a user's own patterns follow and win",
    "__pycache__/",
    "*.py[cod]",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".coverage",
    ".coverage.*",
    "node_modules/",
    ".DS_Store",
    ".aider*",
)
_SPECIAL = re.compile(rb"([*?\[\\!# ])")


class Screen(Struct, frozen=True, kw_only=True):
    """What may get into the history: `objection` says of path and content of a file why it must
    not, None where it may; `file` and `total` are the most bytes of one new file, and of all new
    files of a generation."""

    objection: Callable[[str, bytes], str | None]
    file: int
    total: int


class LeftOutPaths:
    """The list of one lineage, NUL-separated in its state folder."""

    def __init__(self, repo: Repo, lineage_id: str) -> None:
        self._repo = repo
        self._folder = repo.state_folder(lineage_id)
        self._list = self._folder / "left_out"

    def paths(self) -> list[bytes]:
        return self._list.read_bytes().split(b"\0")[:-1] if self._list.is_file() else []

    def add(self, paths: Iterable[bytes]) -> None:
        known = self.paths()
        new = [path for path in dict.fromkeys(paths) if path not in known]
        if new:
            write_durably(self._list, b"".join(path + b"\0" for path in [*known, *new]))

    def ignore_file(self) -> Path:
        """Ignore patterns for staging: tools' junk, then the user's own global ones, then these."""
        path = self._folder / "ignore"
        listed = b"".join(_pattern(left) + b"\n" for left in self.paths() if b"\n" not in left)
        wanted = "\n".join(JUNK).encode() + b"\n" + self._users_own + b"\n" + listed
        if not path.is_file() or path.read_bytes() != wanted:
            write_durably(path, wanted)
        return path

    @cached_property
    def _users_own(self) -> bytes:
        """The user's own global patterns, read once: an agent may change the setting meanwhile."""
        said = self._repo.git.attempt("config", "--type=path", "--get", "core.excludesFile")
        home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        named = Path(os.fsdecode(said.stdout.strip())) if said.returncode == 0 else None
        path = named or home / "git" / "ignore"
        return path.read_bytes() if path.is_file() else b""

    def in_commits(self, commit: str, known: str) -> bool:
        """Whether the history of `commit`, but for that of `known`, has a path that is left out."""
        git, listed = self._repo.git, set(self.paths())
        if not listed:
            return False
        tracked = git.run("ls-tree", "-r", "-z", "--name-only", known).split(b"\0")
        listed -= set(tracked)
        commits = git.run("rev-list", commit, f"^{known}").decode().split()
        trees = (git.run("ls-tree", "-r", "-z", "--name-only", one) for one in commits)
        return any(not listed.isdisjoint(tree.split(b"\0")) for tree in trees)

    def too_large(self, git: Git, screen: Screen) -> dict[bytes, str]:
        """New files in the working tree of `git` that are too large, with the reason: looked at
        before git reads them."""
        assert git.work_tree is not None, "there are files"
        ignore = f"core.excludesFile={self.ignore_file()}"
        listed = git.run("ls-files", "-o", "-z", "--exclude-standard", settings=(ignore,))
        total, large = 0, {}
        for path in listed.split(b"\0")[:-1]:
            file = git.work_tree / os.fsdecode(path)
            size = file.lstat().st_size if file.is_file() or file.is_symlink() else 0
            if size > screen.file or total + size > screen.total:
                large[path] = f"too large: {size} bytes"
            else:
                total += size
        return large


def _pattern(path: bytes) -> bytes:
    """The ignore pattern that fits `path` alone."""
    return b"/" + _SPECIAL.sub(rb"\\\1", path)
