"""What outlives its use: worktrees, folders, and refs that keep a commit."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ouro.git.left_out import LeftOutPaths
from ouro.git.program import Git
from ouro.git.repository import Repo
from ouro.git.workspace import Workspace, shown


class KeptCommit(NamedTuple):
    """A commit under a ref of ouro's; `at` in seconds since 1970, by its committer."""

    ref: str
    commit: str
    at: int
    subject: str


def kept_commits(repo: Repo, prefix: str) -> list[KeptCommit]:
    """The commits under the refs that begin with `prefix`, by number."""
    form = "--format=%(refname) %(objectname) %(committerdate:unix) %(subject)"
    listed = repo.git.run("for-each-ref", "--sort=version:refname", form, prefix)
    lines = (line.split(" ", 3) for line in listed.decode("utf-8", "replace").splitlines())
    return [KeptCommit(ref, commit, int(at), text) for ref, commit, at, text in lines if at]


def size(path: Path) -> int:
    """Bytes in the files below `path`; links are not followed."""
    found = (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sum(file.lstat().st_size for file in found)


def remove_folders(folders: Iterable[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder)


def in_no_commit(repo: Repo, lineage_id: str, tree: Workspace) -> list[str]:
    """What only this working tree holds, though it counts as ignored: paths that were left out of
    generations (but for copies of what the user's checkout has), repositories in it, and submodules
    with a history of their own."""
    left = [p for p in LeftOutPaths(repo, lineage_id).paths() if _only_in(tree.root, p, repo.main)]
    listed = Git(tree.git_dir, tree.root).run("ls-files", "-o", "-z").split(b"\0")
    nested = [path for path in listed if path.endswith(b"/")]
    modules = tree.git_dir / "modules"
    submodules = [f"{path.name} (a submodule)" for path in modules.glob("*")]
    return [*map(shown, dict.fromkeys([*left, *nested])), *submodules]


def _only_in(root: Path, path: bytes, checkout: Path | None) -> bool:
    """Whether there is something at `path` below `root`, and not the same in the checkout."""
    here = root / os.fsdecode(path)
    if here.is_symlink() or not here.is_file():
        return here.is_symlink() or here.exists()
    there = checkout / os.fsdecode(path) if checkout else None
    return there is None or not there.is_file() or not filecmp.cmp(here, there, shallow=False)


def remove_worktree(repo: Repo, lineage_id: str, path: Path) -> None:
    """As `git worktree remove`, which looks once more that nothing in it would be lost."""
    ignore = LeftOutPaths(repo, lineage_id).ignore_file()
    repo.git.run("worktree", "remove", str(path), settings=(f"core.excludesFile={ignore}",))
    if path.parent.is_dir() and not any(path.parent.iterdir()):
        path.parent.rmdir()
