"""Bringing a working tree from one commit to another, with nothing of the user's overwritten.

`read-tree -m -u`, as `git checkout`, overwrites ignored files that are in the way, `reset --hard`
the untracked ones too: so what is in the way is found first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ouro.errors import OuroError
from ouro.git.changes import Change, parse_raw
from ouro.git.left_out import Screen
from ouro.git.program import Git, GitFailed
from ouro.git.repository import OURO_FOLDER
from ouro.git.workspace import Workspace, shown

LITERALLY = {"GIT_LITERAL_PATHSPECS": "1"}


def modified(tree: Workspace) -> frozenset[bytes]:
    """Tracked files that differ from the tip, staged or not; ouro's own folder apart."""
    listed = _git(tree).run(
        "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no",
        "--ignore-submodules=dirty", "--", ":(top)", f":(exclude,top){OURO_FOLDER}",
    )  # fmt: skip
    return frozenset(entry[3:] for entry in listed.split(b"\0") if entry)


def in_the_way(tree: Workspace, coming: Iterable[bytes]) -> list[bytes]:
    """Untracked and ignored files that would be lost if the files `coming` were written."""
    files = frozenset(coming)
    folders = {folder for path in files for folder in _parents(path)}
    listed = _git(tree).run("ls-files", "-o", "-z").split(b"\0")[:-1]
    # A folder is listed as such where it is a repository of its own.
    there = (path.rstrip(b"/") for path in listed)
    return sorted(p for p in there if p in files | folders or not files.isdisjoint(_parents(p)))


def difference(tree: Workspace, old: str, new: str) -> list[Change]:
    """What is to change on the way from commit `old` to `new`; submodules are left alone."""
    raw = _git(tree).run("diff-tree", "-r", "--raw", "-z", "--no-renames", old, new)
    return parse_raw(raw)


def arriving(changes: Iterable[Change]) -> frozenset[bytes]:
    """The paths where a file comes that was none, or of another type."""
    return frozenset(change.path for change in changes if change.status[0] in "AT")


def set_aside(
    tree: Workspace, tip: str, changed: Iterable[bytes], blocking: Sequence[bytes], screen: Screen
) -> str | None:
    """Save the user's changes of tracked files, and the files that are in the way, in a commit
    under a ref of its own; then take them back. That ref, None where there was nothing.

    Raises OuroError where something must not be saved: nothing of it is removed then.
    """
    git = _git(tree)
    if blocking:
        git.run(
            "add", "-f", "--pathspec-from-file=-", "--pathspec-file-nul",
            stdin=b"\0".join(blocking), variables=LITERALLY,
        )  # fmt: skip
    saved = tree.rescue(tip, "what was in the way of a jump", screen)
    git.run("read-tree", "--reset", tip)
    git.attempt("update-index", "-q", "--refresh")
    kept = _files_in(git, saved) if saved else frozenset()
    if left := [path for path in blocking if path not in kept]:
        raise OuroError(
            f"{shown(left[0])} is in the way, and must not be saved in the repository",
            "it holds a secret or a repository of its own: move it away, then jump again",
        )
    _remove(tree, blocking)
    _write(git, frozenset(_names(git, "diff-files")) & frozenset(changed))
    return saved


def refuse_move(tree: Workspace, old: str, new: str) -> None:
    """Raise OuroError where git would not bring the tree from commit `old` to `new`."""
    git = _git(tree)
    # Files that were only touched, or copied with the whole clone, are no reason to refuse.
    git.attempt("update-index", "-q", "--refresh")
    tried = git.attempt("read-tree", "-n", "-m", "-u", old, new)
    if tried.returncode != 0:
        said = " ".join(tried.stderr.decode("utf-8", "replace").split())
        raise GitFailed(f"{tree.root} cannot be moved to {new[:12]}: {said}")


def move(tree: Workspace, old: str, new: str, screen: Screen) -> str | None:
    """Bring the tree from commit `old` to `new`, wherever an earlier try was cut off. What is in
    files that have to change and in neither commit is saved first: that ref."""
    git = _git(tree)
    if git.attempt("read-tree", "-m", "-u", old, new).returncode == 0:
        return None
    changes = difference(tree, old, new)
    foreign = _differing(git, old) & _differing(git, new) & {change.path for change in changes}
    saved = tree.rescue(new, "what was in the way of a jump", screen) if foreign else None
    git.run("read-tree", "--reset", new)
    _remove(tree, [change.path for change in changes if change.status == "D"])
    _write(git, {change.path for change in changes if change.status != "D"})
    git.attempt("update-index", "-q", "--refresh")
    return saved


def _git(tree: Workspace) -> Git:
    return Git(tree.git_dir, tree.root)


def _parents(path: bytes) -> Iterator[bytes]:
    while (cut := path.rfind(b"/")) > 0:
        path = path[:cut]
        yield path


def _differing(git: Git, commit: str) -> frozenset[bytes]:
    """Files on the disk that are not as in `commit`, missing ones too. The index follows it."""
    git.run("read-tree", "--reset", commit)
    git.attempt("update-index", "-q", "--refresh")
    return frozenset(_names(git, "diff-files"))


def _names(git: Git, *command: str) -> list[bytes]:
    return git.run(*command, "--name-only", "-z").split(b"\0")[:-1]


def _files_in(git: Git, commit: str) -> frozenset[bytes]:
    return frozenset(_names(git, "ls-tree", "-r", commit))


def _write(git: Git, paths: Iterable[bytes]) -> None:
    """Write files as the index has them, over whatever is there."""
    stdin = b"".join(path + b"\0" for path in paths)
    git.run("checkout-index", "-f", "-z", "--stdin", stdin=stdin)


def _remove(tree: Workspace, paths: Iterable[bytes]) -> None:
    """Remove files, and the folders that become empty by it."""
    for path in paths:
        file = tree.root / os.fsdecode(path)
        if file.is_symlink() or file.is_file():
            file.unlink()
        _prune(file.parent, tree.root)


def _prune(folder: Path, root: Path) -> None:
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
