"""The link between a linked worktree and its git folder, which an agent may have broken."""

from __future__ import annotations

import shutil
from pathlib import Path


def mend(root: Path, git_dir: Path, branch: str) -> None:
    """Give the worktree at `root` its `.git` file back, and its git folder, on `branch`."""
    pointer, wanted = root / ".git", f"gitdir: {git_dir}\n"
    root.mkdir(parents=True, exist_ok=True)
    if not git_dir.is_dir():
        _register(root, git_dir, branch)
    if pointer.is_file() and pointer.read_text(errors="replace").strip() == wanted.strip():
        return
    remove(pointer)
    pointer.write_text(wanted)


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
