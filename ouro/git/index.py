"""The index of a workspace: how everything that lies there gets into it, whatever an agent did."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from subprocess import CompletedProcess

from ouro.git import link
from ouro.git.program import Git, GitFailed
from ouro.git.repository import Repo


class Index:
    """`ignore` gives the setting that names the ignore patterns; `ours` says that ouro made the
    working tree, so that its index may be made again."""

    def __init__(
        self, repo: Repo, git: Git, root: Path, ours: bool, ignore: Callable[[], str]
    ) -> None:
        self._repo = repo
        self._git = git
        self._root = root
        self._ours = ours
        self._ignore = ignore
        self.refusal: GitFailed | None = None
        """Why git did not take the files that were staged last as they are."""

    def stage(self) -> None:
        """Stage every file; byte for byte where an agent's attributes ask for filters and encodings
        with which git takes none."""
        self.refusal = None
        try:
            self._stage()
        except GitFailed as refusal:
            self.refusal = refusal
            self._stage_raw()

    def _stage(self) -> None:
        self._look_at(path for path in self.overlooked() if os.path.lexists(self._file(path)))
        done = self._add()
        if done.returncode not in (0, 1) and self._ours:
            self.rebuild()
            done = self._add()
        if done.returncode not in (0, 1):
            said = " ".join(done.stderr.decode("utf-8", "replace").split())
            raise GitFailed(f"git add failed in {self._root}: {said}")

    def _add(self) -> CompletedProcess[bytes]:
        # A nested repository without commits makes `add` fail on it alone, hence the flag; an agent
        # also writes outside of what a sparse checkout holds.
        words = ("add", "-A", "--ignore-errors", "--sparse")
        return self._git.attempt(*words, settings=(self._ignore(),))

    def rebuild(self) -> None:
        """Make an index again that an agent has broken: what counts are the files."""
        link.remove(self._git.git_dir / "index")
        self._git.run("read-tree", "HEAD")

    def remove(self, path: bytes) -> None:
        self._git.run("update-index", "-z", "--force-remove", "--stdin", stdin=path + b"\0")

    def _stage_raw(self) -> None:
        listed = self._git.run(
            "ls-files", "-o", "-m", "-z", "--exclude-standard", settings=(self._ignore(),)
        )
        paths = [path for path in listed.split(b"\0")[:-1] if os.path.lexists(self._file(path))]
        entries = (self._entry(path) for path in paths if not self._file(path).is_dir())
        self._git.run("update-index", "-z", "--index-info", stdin=b"".join(entries))

    def _entry(self, path: bytes) -> bytes:
        file = self._file(path)
        if file.is_symlink():
            mode, content = "120000", os.fsencode(file.readlink())
        else:
            mode = "100755" if os.access(file, os.X_OK) else "100644"
            content = file.read_bytes()
        blob = self._repo.handle.create_blob(content)
        return f"{mode} {blob}\t".encode() + path + b"\0"

    # --- what git was told not to look at ----------------------------------------------------

    def overlook_nothing(self) -> None:
        """Let git see every path again: what is hidden so would be checked and not committed."""
        self._look_at(self.overlooked())

    def overlooked(self) -> list[bytes]:
        """Paths that carry `--skip-worktree` or `--assume-unchanged`. In a sparse checkout, whose
        flags these are, git itself sees to it that nothing is there and yet not looked at."""
        listed = self._git.attempt("ls-files", "-v", "-z").stdout.split(b"\0")[:-1]
        marked = [entry[2:] for entry in listed if entry[:1] == b"S" or entry[:1].islower()]
        return [] if marked and not self._are_an_agents() else marked

    def _are_an_agents(self) -> bool:
        sparse = self._git.attempt("config", "--type=bool", "core.sparseCheckout").stdout
        return self._ours and sparse.strip() != b"true"

    def _look_at(self, paths: Iterable[bytes]) -> None:
        given = b"".join(path + b"\0" for path in paths)
        for flag in ("--no-skip-worktree", "--no-assume-unchanged") if given else ():
            self._git.run("update-index", flag, "-z", "--stdin", stdin=given)

    def _file(self, path: bytes) -> Path:
        return self._root / os.fsdecode(path)
