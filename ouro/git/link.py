"""The link between a linked worktree and its git folder, which an agent may have broken."""

from __future__ import annotations

import shutil
from pathlib import Path


def is_whole(root: Path, git_dir: Path) -> bool:
    """Whether the worktree at `root` and its git folder know each other as they should."""
    pointer = root / ".git"
    found = pointer.read_text(errors="replace") if pointer.is_file() else ""
    return git_dir.is_dir() and found.strip() == f"gitdir: {git_dir}"


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
