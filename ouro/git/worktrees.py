"""Finding the working tree of a lineage, and making one where there is none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pygit2
from msgspec import Struct

from ouro.core.ids import branch_ref
from ouro.errors import OuroError
from ouro.git import link, sparse
from ouro.git.journal import PREPARED
from ouro.git.program import Git
from ouro.git.repository import Repo
from ouro.git.workspace import Workspace


class Listed(Struct, frozen=True):
    """One entry of `git worktree list`. `branch` is a full ref name, "" when detached."""

    path: Path
    branch: str
    bare: bool


def listed(repo: Repo) -> list[Listed]:
    """The working trees of this repository: git in a copy of one lists those of the original, too,
    which are not the copy's."""
    raw = repo.git.run("worktree", "list", "--porcelain", "-z").decode("utf-8", "surrogateescape")
    entries = (entry.split("\0") for entry in raw.split("\0\0") if entry)
    trees = (_entry([line for line in lines if line]) for lines in entries)
    return [tree for tree in trees if not of_another(repo, tree.path)]


def _entry(lines: list[str]) -> Listed:
    said = dict(line.partition(" ")[::2] for line in lines)
    return Listed(Path(said["worktree"]), said.get("branch", ""), "bare" in said)


def find(repo: Repo, lineage_id: str, root: Path | None) -> Workspace | None:
    """The working tree where `ooo/<id>` is checked out now; None where there is none.

    `root` is the configured folder for workspaces (None: the usual place).
    """
    for tree in listed(repo):
        if tree.branch == branch_ref(lineage_id) and tree.path.is_dir():
            return _workspace(repo, lineage_id, tree.path, place(repo, lineage_id, root))
    return None


def registered(repo: Repo, lineage_id: str) -> bool:
    """Whether git knows a working tree of `ooo/<id>`, there or gone."""
    return any(tree.branch == branch_ref(lineage_id) for tree in listed(repo))


def ensure(repo: Repo, lineage_id: str, tip: str, root: Path | None) -> Workspace:
    """The lineage's working tree, made from `tip` where there is none or it is gone."""
    path = place(repo, lineage_id, root)
    if _unfinished(repo, lineage_id).exists():
        return _make(repo, lineage_id, tip, path)
    _rejoin_moved(repo, path)
    found = find(repo, lineage_id, root)
    if found and not found.git_dir.is_dir():
        # The repository was moved away from its workspaces: tell this one where it is now.
        link.join(found.root, _registered(repo, found.root))
        found = find(repo, lineage_id, root)
    if found:
        return found
    _refuse_another_branch(repo, lineage_id, path)
    return _make(repo, lineage_id, tip, path)


def of_another(repo: Repo, path: Path) -> bool:
    """Whether the working tree at `path` is linked to another repository, and that one to it."""
    holder = link.holder(path)
    return holder is not None and holder.parent != (repo.common / "worktrees").resolve()


def _rejoin_moved(repo: Repo, path: Path) -> None:
    """Where a clone was moved, or copied, together with its workspaces: both ends of the link lead
    to where they were. `git worktree repair` would take a copy's from the original."""
    stale = link.named(path)
    if stale is None or link.holder(path):
        return
    git_dir = repo.common / "worktrees" / stale.name
    known = link.tree_of(git_dir)
    if known and known != path and link.holder(known) != git_dir.resolve():
        link.join(path, git_dir)


def _refuse_another_branch(repo: Repo, lineage_id: str, path: Path) -> None:
    """While no agent ran, whoever switched the workspace away was the user."""
    if path.is_dir() and any(tree.path == path for tree in listed(repo)):
        raise OuroError(
            f"ooo/{lineage_id} is not checked out in its workspace {path}",
            f"go back to it: git -C {path} switch ooo/{lineage_id}",
        )


def reopen(repo: Repo, lineage_id: str, path: Path) -> Workspace | None:
    """The workspace whose real path was `path`, whatever is checked out there now; None where it
    is gone, or a link leads elsewhere."""
    if path == repo.main:
        return Workspace(repo, lineage_id, path, repo.common, ours=False)
    if not path.is_dir() or path.resolve() != path:
        return None
    git_dir = _registered(repo, path)
    ours = path.name == lineage_id
    # One of ours gets a lost git folder back; what is a user's own is left alone.
    return Workspace(repo, lineage_id, path, git_dir, ours) if ours or git_dir.is_dir() else None


def place(repo: Repo, lineage_id: str, root: Path | None) -> Path:
    """Where the workspace of a lineage lies that is not checked out anywhere else."""
    base = repo.main or repo.common
    if root:
        return root / lineage_id
    beside = base.with_name(f"{base.name}.ouro")
    if os.access(beside if beside.is_dir() else base.parent, os.W_OK) and not _inside(base.parent):
        return beside / lineage_id
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return state / "ouro" / f"{base.name}-{repo.fingerprint()}" / lineage_id


def _inside(folder: Path) -> bool:
    """Whether `folder` lies in some working tree, whose tools would descend into ours."""
    return pygit2.discover_repository(str(folder)) is not None


def _git_dir_of(tree: Path) -> Path:
    pointer = tree / ".git"
    if pointer.is_dir():
        return pointer
    return (tree / pointer.read_text().partition("gitdir: ")[2].strip()).resolve()


def _workspace(repo: Repo, lineage_id: str, path: Path, wanted: Path) -> Workspace:
    ours = path.resolve() == wanted.resolve() and path != repo.main
    git_dir = _registered(repo, path) if ours else _git_dir_of(path)
    return Workspace(repo, lineage_id, path, git_dir, ours)


def _registered(repo: Repo, path: Path) -> Path:
    """The git folder of a linked worktree by git's own list: an agent may have removed the
    worktree's `.git` file, or the git folder itself."""
    for entry in (repo.common / "worktrees").glob("*"):
        if link.tree_of(entry) == path:
            return entry
    if (path / ".git").exists():
        return _git_dir_of(path)
    return repo.common / "worktrees" / path.name


def _make(repo: Repo, lineage_id: str, tip: str, path: Path) -> Workspace:
    unfinished = _unfinished(repo, lineage_id)
    _clear_the_way(repo, path, unfinished)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    unfinished.write_text(str(path))
    (repo.state_folder(lineage_id) / PREPARED).unlink(missing_ok=True)
    # Twice forced: the place may still be registered, and locked, from a workspace that is gone.
    repo.git.run("worktree", "add", "-f", "-f", "--no-checkout", "--detach", str(path), tip)
    git_dir = _registered(repo, path)
    git = Git(git_dir, path)
    git.run("symbolic-ref", "HEAD", branch_ref(lineage_id))
    git.run("read-tree", "--reset", "-u", tip)
    sparse.recall(git, tip)
    unfinished.unlink()
    return Workspace(repo, lineage_id, path, git_dir, ours=True)


def _unfinished(repo: Repo, lineage_id: str) -> Path:
    """Names the folder of a workspace that is being made; gone once it is whole."""
    return repo.state_folder(lineage_id) / "making"


def _clear_the_way(repo: Repo, path: Path, unfinished: Path) -> None:
    """Remove what a step that died left of a workspace it was making; refuse anything foreign."""
    if unfinished.is_file() and unfinished.read_text() == str(path):
        shutil.rmtree(path, ignore_errors=True)
    if of_another(repo, path):
        raise OuroError(
            f"{path} is the workspace of another repository: {link.named(path)}",
            "set worktree_root to another folder",
        )
    if path.is_symlink() or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
        raise OuroError(
            f"{path} is in the way of the workspace: it is not empty",
            "move it away, or set worktree_root to another folder",
        )
