"""Protected paths: what an agent did to them is undone, on the disk and in the index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ouro.git.left_out import LeftOutPaths
from ouro.git.program import Git

REASON = "protected"


class Touched(NamedTuple):
    """Paths of the tip that differ on the disk, and paths that only the disk has."""

    changed: tuple[bytes, ...]
    added: tuple[bytes, ...]


class ProtectedPaths:
    """The paths of the commit `tip` in a working tree that `globs` fit, as git's pathspecs do.

    Made before an agent runs, while the tree is at `tip`: what a sparse checkout leaves absent then
    may stay so. They are compared by an index of their own: in the tree's own one an agent can
    mark a file as unchanged. What is left out of generations is none of them.
    """

    def __init__(
        self, git: Git, index: Path, left_out: LeftOutPaths, tip: str, globs: Sequence[str]
    ) -> None:
        assert git.work_tree is not None, "there are files to protect"
        self._git = git
        self._root = git.work_tree
        self._index = {"GIT_INDEX_FILE": str(index)}
        # A git that was killed leaves its lock; nobody else works on this index.
        index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
        self._tip = tip
        self._globs = tuple(globs)
        self._left_out = left_out
        self._absent: frozenset[bytes] = frozenset()
        self._absent = frozenset(path for path in self.touched().changed if self._is_absent(path))

    def touched(self) -> Touched:
        self._git.run("read-tree", self._tip, variables=self._index)
        changed = self._git.run(
            "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all",
            "--", *self._globs,
            settings=("diff.autoRefreshIndex=true",), variables=self._index,
        )  # fmt: skip
        added = self._git.run(
            "ls-files", "-o", "-z", "--exclude-standard", "--", *self._globs,
            settings=(f"core.excludesFile={self._left_out.ignore_file()}",), variables=self._index,
        )  # fmt: skip
        # A nested repository is listed as a folder, and is left out of generations anyway.
        left_out = set(self._left_out.paths())
        files = (p for p in added.split(b"\0")[:-1] if not p.endswith(b"/") and p not in left_out)
        paths = changed.split(b"\0")[:-1]
        differ = (p for p in paths if p not in self._absent or not self._is_absent(p))
        return Touched(tuple(differ), tuple(files))

    def _is_absent(self, path: bytes) -> bool:
        return not os.path.lexists(self._root / os.fsdecode(path))

    def put_back(self, touched: Touched) -> tuple[bytes, ...]:
        """Undo it on the disk; every path that was put back or removed."""
        self._undo(touched)
        # Where ignore rules are protected, putting them back can uncover more.
        uncovered = self.touched()
        self._undo(uncovered)
        return tuple(dict.fromkeys((*touched.changed, *touched.added, *uncovered.added)))

    def _undo(self, touched: Touched) -> None:
        for path in touched.added:
            self._remove(self._root / os.fsdecode(path))
        self._git.run(
            "checkout-index", "-f", "-z", "--stdin",
            stdin=b"".join(path + b"\0" for path in touched.changed), variables=self._index,
        )  # fmt: skip

    def _remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self._root or any(folder.iterdir()):
                return
            folder.rmdir()

    def put_back_staged(self) -> None:
        """Give the tree's own index the tip's entries for these paths, and no others."""
        raw = self._git.run(
            "diff-index", "--cached", "--raw", "-z", "--no-renames", self._tip, "--", *self._globs
        )
        parts = raw.split(b"\0")
        heads = (head.lstrip(b":").split(b" ") for head in parts[0:-1:2])
        entries = (
            b"%b %b\t%b\0" % (head[0], head[2], path)
            for head, path in zip(heads, parts[1::2], strict=True)
        )
        self._git.run("update-index", "-z", "--index-info", stdin=b"".join(entries))
