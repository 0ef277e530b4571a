"""Paths in the workspace that are really in it."""

import stat
from pathlib import Path

_OWN = frozenset({".git", ".ouro"})


def is_inside(workspace: Path, path: str) -> bool:
    """Whether `path`, links followed, lies in the workspace, outside `.git` and `.ouro`."""
    root = workspace.resolve()
    target = _resolved(root / path)
    if target is None or not target.is_relative_to(root):
        return False
    return not _OWN & {part.casefold() for part in target.relative_to(root).parts}


def _resolved(path: Path) -> Path | None:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a link in a circle, a name too long
        return None


def is_tree_file(workspace: Path, path: str) -> bool:
    """Whether `path` is a regular file of the workspace, by exactly this name."""
    whole = workspace / path
    try:
        listed = all(_is_listed(path) for path in _below(workspace, whole))
        regular = stat.S_ISREG(whole.stat().st_mode)
    except OSError:
        return False
    return listed and regular and is_inside(workspace, path)


def _is_listed(path: Path) -> bool:
    """Some file systems find `Hello.py` under the name `hello.py`."""
    return any(entry.name == path.name for entry in path.parent.iterdir())


def _below(workspace: Path, whole: Path) -> list[Path]:
    return [whole, *(p for p in whole.parents if p != workspace and p.is_relative_to(workspace))]


def has_link(workspace: Path, path: str) -> bool:
    """Whether the file or a folder on the way to it is a symbolic link."""
    whole = workspace / path
    return any(p.is_symlink() for p in _below(workspace, whole))
