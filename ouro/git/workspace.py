"""The workspace: the working tree in which the agent works, always put back to the branch's tip."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ouro.core.events import LeftOut
from ouro.core.ids import branch_ref, rescue_prefix
from ouro.errors import OuroError
from ouro.git import link, sparse
from ouro.git.changes import Change, parse_raw
from ouro.git.index import Index
from ouro.git.journal import PREPARED
from ouro.git.left_out import LeftOutPaths, Screen
from ouro.git.program import Git
from ouro.git.protected import REASON, ProtectedPaths
from ouro.git.repository import OURO_FOLDER, Repo

PROTECTED = ("ouro.yaml",)
"""Files at the top of the code that an agent's run never changes, beside ouro's own folder."""

ASIDE = ".left-out"
"""Where the agent's version of a tracked file goes that must not be committed: beside it."""

_IN_PROGRESS = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisect",
}
_LEFT_BEHIND = (
    *_IN_PROGRESS, "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "sequencer", "index.lock", "HEAD.lock",
)  # fmt: skip
"""What an agent's own git commands leave in the working tree's git folder."""


class Snapshot(Struct, frozen=True):
    """The code in a workspace against the tip: `tree` is its id, without ouro's own folder.
    `saved` is the ref of what was undone of it, where something was."""

    tree: str
    files: tuple[str, ...]
    added: int
    removed: int
    left_out: tuple[LeftOut, ...]
    saved: str | None = None


class Workspace:
    """A working tree with `ooo/<id>` checked out. `ours` says that ouro made it."""

    def __init__(self, repo: Repo, lineage_id: str, root: Path, git_dir: Path, ours: bool) -> None:
        self.root = root
        self._place = root.resolve()
        self.git_dir = git_dir
        self.ours = ours
        self._repo = repo
        self._id = lineage_id
        self._git = Git(git_dir, root, repo.identity)
        self._left_out = LeftOutPaths(repo, lineage_id)
        self.prepared = repo.state_folder(lineage_id) / PREPARED
        self._index = Index(repo, self._git, root, ours, self._ignore)

    # --- looking -----------------------------------------------------------------------------

    def changes(self) -> tuple[str, ...]:
        """Paths (for people) that differ from the tip, untracked ones too, ignored ones not."""
        # Where all files are listed, a folder is one that git does not enter: a nested repository,
        # which is left out of generations and stays where it is.
        entries = (e for e in self._status() if not e.endswith(b"/"))
        left_out = {b"%b %b" % (how, p) for p in self._left_out.paths() for how in (b"??", b"A ")}
        entries = (e for e in entries if e not in left_out)
        return tuple(shown(entry[3:]) for entry in entries)

    def _status(self) -> list[bytes]:
        listed = self._git.run(
            "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all",
            "--ignore-submodules=dirty",
            settings=(self._ignore(),),
        )  # fmt: skip
        return listed.split(b"\0")[:-1]

    def is_at(self, tip: str) -> bool:
        """Whether branch, HEAD, index and files are those of `tip`, and git looks at all of them:
        then there is nothing to save, and nothing to put back."""
        branch = branch_ref(self._id)
        return (
            not self.gone()
            and (not self.ours or link.is_whole(self.root, self.git_dir))
            and not any((self.git_dir / name).exists() for name in _LEFT_BEHIND)
            and (self.git_dir / "HEAD").read_text("utf-8", "replace") == f"ref: {branch}\n"
            and self._repo.ref(branch) == tip
            and not self._index.overlooked()
            and not self._status()
        )

    def in_progress(self) -> str | None:
        """What git operation the tree is in the middle of, for people."""
        found = (what for name, what in _IN_PROGRESS.items() if (self.git_dir / name).exists())
        return next(found, None)

    def gone(self) -> bool:
        """Whether the folder itself is no longer there, or a link in its path leads elsewhere: what
        lies there is somebody else's."""
        return not self.root.is_dir() or self.root.resolve() != self._place

    def head(self) -> str | None:
        """The commit that is checked out, None where that cannot be said."""
        said = self._git.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return said.stdout.decode().strip() if said.returncode == 0 else None

    def changed_against(self, tip: str) -> list[Change]:
        """Stage everything; what then differs from `tip`. Raises GitFailed where that cannot be:
        a workspace that was not looked at must not pass for one without changes."""
        self._index.stage()
        left_out = set(self._left_out.paths())
        changes = self._staged_against(tip)
        # A user's own rules, or an agent's `git add --force`, can undo that they are ignored.
        for change in changes:
            if change.status == "A" and change.path in left_out:
                self._index.remove(change.path)
        return [c for c in changes if c.status != "A" or c.path not in left_out]

    def _staged_against(self, tip: str) -> list[Change]:
        words = ("diff-index", "--cached", "--raw", "-z", "--no-renames", tip)
        return parse_raw(self._git.run(*words))

    # --- taking what is there ----------------------------------------------------------------

    def protected(self, tip: str, globs: Sequence[str]) -> ProtectedPaths | None:
        """What the agent that runs next may not change; the workspace is at `tip`."""
        if not globs:
            return None
        index = self._repo.state_folder(self._id) / "protected.index"
        return ProtectedPaths(self._git, index, self._left_out, tip, globs)

    def snapshot(
        self, tip: str, screen: Screen, protected: ProtectedPaths | None = None
    ) -> Snapshot:
        """The workspace's code as a tree. Ouro's own things in it and what is `protected` are those
        of `tip`, on the disk too; what `screen` objects to is left out of it. Raises GitFailed
        where git does not take the files as they are."""
        self._mend_head()
        kept, left, saved = self._guarded(tip, screen, protected)
        if self._index.refusal:
            raise self._index.refusal
        left_out = tuple(LeftOut(path=shown(path), reason=reason) for path, reason in left.items())
        sparse.widen(self._git, [c.path for c in kept if c.status != "D"])
        tree = self._own_things_of(tip, self._git.run("write-tree").decode().strip())
        added, removed = self._lines(tip, tree)
        files = tuple(shown(c.path) for c in kept if not is_ours(c.path))
        return Snapshot(tree, files, added, removed, left_out, saved)

    def _guarded(
        self, tip: str, screen: Screen, protected: ProtectedPaths | None
    ) -> tuple[list[Change], dict[bytes, str], str | None]:
        """As `_screened`, with protected paths as in `tip`; and where what they were is saved."""
        if protected is None:
            return *self._screened(tip, screen), None
        touched = protected.touched()
        _, left = self._screened(tip, screen)
        saved = self._save(tip, "changed protected files") if any(touched) else None
        if saved:
            back = protected.put_back(touched)
            left |= self._screened(tip, screen)[1] | dict.fromkeys(back, REASON)
        protected.put_back_staged()
        return self._staged_against(tip), left, saved

    def rescue(self, tip: str, why: str, screen: Screen) -> str | None:
        """Save what differs from `tip` in a commit under a ref of its own; that ref, if any did."""
        if self.gone():
            return None
        self._mend_head()
        kept, _ = self._screened(tip, screen)
        return self._save(tip, why) if kept else None

    def _save(self, tip: str, why: str) -> str:
        """What is staged, in a commit under a ref of its own; that ref."""
        tree = self._git.run("write-tree").decode().strip()
        commit = self._git.run("commit-tree", tree, "-p", tip, "-m", f"rescue: {why}")
        return pin_rescue(self._repo, self._id, commit.decode().strip())

    def _screened(self, tip: str, screen: Screen) -> tuple[list[Change], dict[bytes, str]]:
        """Stage everything that may be kept: what of it differs from `tip`, and what may not, with
        the reason."""
        if self._git.attempt("ls-files", "-z").returncode != 0:
            self._index.rebuild()
        left = self._left_out.too_large(self._git, screen)
        self._left_out.add(left)
        for change in self.changed_against(tip):
            if reason := self._objection(change, screen):
                left[change.path] = reason
                self._leave_out(tip, change)
        kept = [change for change in self.changed_against(tip) if change.path not in left]
        # All files are staged: what still differs is inside a submodule, which has its own history.
        dirty = self._git.run("diff-files", "--name-only", "-z").split(b"\0")[:-1]
        return kept, left | dict.fromkeys(dirty, "changes inside a submodule, not committed there")

    def _objection(self, change: Change, screen: Screen) -> str | None:
        """Why a change must not be kept, None where it may."""
        if change.mode == "160000":
            return "nested repository" if change.status == "A" else None
        if change.status == "D" or is_ours(change.path):
            return None
        content = self._repo.blob(change.blob)
        return screen.objection(shown(change.path), content)

    def _leave_out(self, tip: str, change: Change) -> None:
        """Take a change out of the index; on disk it stays, and is ignored from now on."""
        if change.status == "A":
            self._index.remove(change.path)
            self._left_out.add([change.path])
            return
        aside = change.path + ASIDE.encode()
        self._left_out.add([aside])
        self._on_disk(change.path).replace(self._on_disk(aside))
        entry = self._git.run("ls-tree", "-z", tip, "--", os.fsdecode(change.path))
        self._git.run("update-index", "-z", "--index-info", stdin=entry)
        self._git.run("checkout-index", "-f", "-z", "--stdin", stdin=change.path + b"\0")

    def _on_disk(self, path: bytes) -> Path:
        return self.root / os.fsdecode(path)

    # --- putting it right --------------------------------------------------------------------

    def advance(self, old: str, new: str) -> None:
        """Bring index and files from commit `old` to `new`, which differ in ouro's folder alone."""
        if self.gone():
            return
        moved = self._git.attempt("read-tree", "-m", "-u", old, new)
        if moved.returncode != 0:
            self.rebuild_log(new)

    def rebuild_log(self, tip: str) -> None:
        """Make the log's files and index entries again from `tip`: derived, never the truth."""
        folder = f":(top,literal){OURO_FOLDER}/lineages/{self._id}"
        self._remove_log()
        self._git.run("reset", "-q", "--no-refresh", tip, "--", folder)
        entries = self._git.run("ls-files", "-z", "--", folder)
        self._git.run("checkout-index", "-f", "-z", "--stdin", stdin=entries)

    def _remove_log(self) -> None:
        """Remove the log's files here, and never what a link in their path leads to."""
        path = self.root
        for name in (OURO_FOLDER, "lineages", self._id):
            path /= name
            if path.is_symlink() or not path.is_dir():
                path.unlink(missing_ok=True)
                return
        shutil.rmtree(path)

    def reset(self, tip: str) -> tuple[str, ...]:
        """Put branch, HEAD, index and files back to `tip`; the paths (for people) that differed.

        What was added since is removed by staging it first, so that ignored files, and files
        outside git's reach, stay where they are.
        """
        if self.is_at(tip):
            return ()
        self._mend_head()
        lost = tuple(shown(c.path) for c in self.changed_against(tip) if not is_ours(c.path))
        self._index.overlook_nothing()
        self._git.run("read-tree", "--reset", "-u", tip)
        return lost

    def _mend_head(self) -> None:
        """Undo what an agent did to the tree's own git folder; the branch is the caller's."""
        if self.ours and self.git_dir != self._repo.common:
            if self.gone():
                self.prepared.unlink(missing_ok=True)
            self._refuse_another_place()
            link.mend(self.root, self.git_dir, branch_ref(self._id))
        if self.ours:
            for name in _LEFT_BEHIND:
                link.remove(self.git_dir / name)
        self._git.run("symbolic-ref", "HEAD", branch_ref(self._id))

    def _refuse_another_place(self) -> None:
        """Remove a link in the workspace's place; raises OuroError where one in its path leads to
        somebody else's folder."""
        if self.gone() and self.root.is_symlink():
            self.root.unlink()
        if self.root.exists() and self.gone():
            raise OuroError(
                f"{self.root} leads to {self.root.resolve()} now, which is not the workspace",
                "an agent may have made that link: put it back as it was",
            )

    # --- ignored files ------------------------------------------------------------------------

    def ignored(self) -> frozenset[bytes]:
        """The paths of ignored files that are there."""
        listed = self._git.run(
            "ls-files", "-o", "-i", "-z", "--exclude-standard", settings=(self._ignore(),)
        )
        return frozenset(listed.split(b"\0")[:-1])

    def remove_ignored(self, kept: frozenset[bytes]) -> None:
        """Remove the ignored files that are not among `kept`."""
        for path in self.ignored() - kept:
            self._on_disk(path).unlink(missing_ok=True)

    # --- with git ----------------------------------------------------------------------------

    def _ignore(self) -> str:
        return f"core.excludesFile={self._left_out.ignore_file()}"

    def _own_things_of(self, tip: str, tree: str) -> str:
        before = self._repo.commit(tip).tree
        builder = self._repo.handle.TreeBuilder(self._repo.tree(tree))
        for name in (OURO_FOLDER, *PROTECTED):
            if builder.get(name) is not None:
                builder.remove(name)
            if name in before and name in PROTECTED:
                builder.insert(name, before[name].id, before[name].filemode)
        return str(builder.write())

    def _lines(self, tip: str, tree: str) -> tuple[int, int]:
        """Lines added and removed, from the tip's code to `tree`."""
        before, after = self._repo.tree(self._repo.code_tree(tip)), self._repo.tree(tree)
        stats = before.diff_to_tree(after).stats
        return stats.insertions, stats.deletions


def is_ours(path: bytes) -> bool:
    top = path.split(b"/", 1)[0].decode("utf-8", "replace")
    return top == OURO_FOLDER or path.decode("utf-8", "replace") in PROTECTED


def shown(path: bytes) -> str:
    """A path for people and for JSON; bytes that are not UTF-8 appear as escapes."""
    return path.decode("utf-8", "backslashreplace")


def pin_rescue(repo: Repo, lineage_id: str, commit: str) -> str:
    """Keep `commit` under the next free rescue ref; that ref."""
    prefix = rescue_prefix(lineage_id)
    taken = repo.git.run("for-each-ref", "--format=%(refname)", prefix).decode().split()
    numbers = (name.removeprefix(prefix) for name in taken)
    number = max((int(said) for said in numbers if said.isdecimal()), default=0) + 1
    repo.git.run("update-ref", f"{prefix}{number}", commit, "0" * len(commit))
    return f"{prefix}{number}"
