"""The link between a linked worktree and its git folder, which an agent may have broken."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def is_whole(root: Path, git_dir: Path) -> bool:
    """Whether the worktree at `root` and its git folder know each other as they should."""
    pointer = root / ".git"
    found = pointer.read_text(errors="replace") if pointer.is_file() else ""
    return git_dir.is_dir() and found.strip() == f"gitdir: {git_dir}"


def holder(root: Path) -> Path | None:
    """The git folder of the linked worktree at `root`, where the two know each other."""
    git_dir = named(root)
    tree = tree_of(git_dir) if git_dir else None
    return git_dir.resolve() if git_dir and tree and tree.resolve() == root.resolve() else None


def tree_of(git_dir: Path) -> Path | None:
    """The worktree that a git folder names, there or not; None where it names none."""
    back = git_dir / "gitdir"
    # Not `Path.is_file`, which raises for what cannot be a path: an agent may have written it.
    if not os.path.isfile(back):  # noqa: PTH113
        return None
    return (git_dir / back.read_text("utf-8", "surrogateescape").strip()).parent


def named(root: Path) -> Path | None:
    """What the `.git` file of the worktree at `root` names, whatever there is; None without one."""
    pointer = root / ".git"
    if not pointer.is_file():
        return None
    return root / pointer.read_text("utf-8", "surrogateescape").partition("gitdir: ")[2].strip()


def join(root: Path, git_dir: Path) -> None:
    """Make the worktree at `root` and its git folder know each other again, after a move."""
    (git_dir / "gitdir").write_text(f"{root / '.git'}\n")
    (root / ".git").write_text(f"gitdir: {git_dir}\n")


def mend(root: Path, git_dir: Path, branch: str) -> None:
    """Give the worktree at `root` its `.git` file back, and its git folder, on `branch`."""
    root.mkdir(parents=True, exist_ok=True)
    if not git_dir.is_dir():
        _register(root, git_dir, branch)
    if not is_whole(root, git_dir):
        remove(root / ".git")
        (root / ".git").write_text(f"gitdir: {git_dir}\n")


def _register(root: Path, git_dir: Path, branch: str) -> None:
    """Make the git folder again, as `git worktree add` does; it refuses a folder with files."""
    git_dir.mkdir(parents=True)
    (git_dir / "commondir").write_text("../..\n")
    (git_dir / "gitdir").write_text(f"{root / '.git'}\n")
    (git_dir / "HEAD").write_text(f"ref: {branch}\n")


def remove(path: Path) -> None:
    """Remove whatever is at `path`, and never what a link leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
