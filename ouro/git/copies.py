"""Untracked files of the user's checkout, copied into a workspace and kept out of generations."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from ouro.git.left_out import LeftOutPaths
from ouro.git.program import Git
from ouro.git.repository import Repo
from ouro.git.workspace import Workspace, is_ours, shown


def copy_into(repo: Repo, lineage_id: str, workspace: Workspace, globs: Sequence[str]) -> list[str]:
    """Copy what `globs` fit, of what is untracked or ignored in the checkout that was stood in;
    what was not copied and why, for people, a line each. Copies are left out of every generation.
    """
    source = _checkout(repo, workspace)
    if source is None:
        return ["there is no checkout to copy from"]
    found = {glob: _untracked(source, glob) for glob in globs}
    said = [f"copy: nothing untracked fits {glob}" for glob, paths in found.items() if not paths]
    for path in dict.fromkeys(path for paths in found.values() for path in paths):
        if why := _objection(workspace, path):
            said.append(f"copy: {shown(path)} was not copied: {why}")
            continue
        LeftOutPaths(repo, lineage_id).add([path])
        _copy(_at(source.work_tree, path), _at(workspace.root, path))
    return said


def _checkout(repo: Repo, workspace: Workspace) -> Git | None:
    """The user's own working tree: the one stood in, but for the workspace itself."""
    if repo.here and repo.here.resolve() != workspace.root.resolve():
        return repo.git_here()
    return Git(repo.common, repo.main) if repo.main else None


def _untracked(source: Git, glob: str) -> list[bytes]:
    listed = source.run("ls-files", "-o", "-z", "--", glob).split(b"\0")[:-1]
    # What ends so is a folder: a repository of its own.
    return [path for path in listed if not path.endswith(b"/") and not is_ours(path)]


def _objection(workspace: Workspace, path: bytes) -> str | None:
    """Why nothing may be put at `path` of the workspace, None where it may."""
    root, target = workspace.root, _at(workspace.root, path)
    if b"\n" in path:
        return "its name has a line end, and could not be ignored"
    if target.is_dir() and not target.is_symlink():
        return "there is a folder"
    if any(p.is_symlink() or p.is_file() for p in target.parents if root in p.parents):
        return "its folder is a file or a link"
    literal = f":(top,literal){os.fsdecode(path)}"
    tracked = Git(workspace.git_dir, root).run("ls-files", "-z", "--", literal)
    return "it is tracked in the lineage" if tracked else None


def _copy(source: Path, target: Path) -> None:
    """With its mode; a link as the link."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)


def _at(root: Path | None, path: bytes) -> Path:
    assert root is not None, "there are files"
    return root / os.fsdecode(path)
