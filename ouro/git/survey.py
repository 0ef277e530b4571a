"""What kind of repository it is, and what lies around in it: read, for people, never changed."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

from msgspec import Struct

from ouro.git.program import environment
from ouro.git.repository import Repo

GIT_NEEDED = (2, 36)


class Kept(Struct, frozen=True):
    """One ref of ouro's own, with the subject of its commit and its age in seconds."""

    ref: str
    subject: str
    age: float


def git_version() -> tuple[str, bool] | None:
    """The version of the git program and whether it is new enough; None where there is no git."""
    try:
        done = subprocess.run(
            ["git", "--version"], capture_output=True, check=False, env=environment()
        )
    except OSError:
        return None
    found = re.search(r"(\d+)\.(\d+)\S*", done.stdout.decode("utf-8", "replace"))
    numbers = (int(found[1]), int(found[2])) if found else (0, 0)
    return (found[0] if found else "unknown"), numbers >= GIT_NEEDED


def traits(repo: Repo) -> list[str]:
    """What is not as in a plain clone, for people: bare, shallow, sparse, …"""
    git = repo.git_here()
    found = {
        "bare": repo.here is None,
        "a linked worktree": repo.git_dir != repo.common,
        "shallow": (repo.common / "shallow").is_file(),
        "sparse": _setting(repo, "core.sparseCheckout") == "true",
        "partial": bool(_setting(repo, "extensions.partialClone")),
        "a submodule": bool(
            repo.here and git.attempt("rev-parse", "--show-superproject-working-tree").stdout
        ),
    }
    return [name for name, holds in found.items() if holds]


def object_format(repo: Repo) -> str:
    """How objects are named: sha1 or sha256."""
    return repo.git.run("rev-parse", "--show-object-format").decode().strip()


def _setting(repo: Repo, key: str) -> str:
    return repo.git_here().attempt("config", "--get", key).stdout.decode("utf-8", "replace").strip()


def rescued(repo: Repo) -> list[Kept]:
    """All work that was ever saved and not dropped since."""
    listed = repo.git.run(
        "for-each-ref",
        "--format=%(refname)%00%(committerdate:unix)%00%(subject)",
        "refs/ouro/rescue/",
    )
    rows = (row.split("\0") for row in listed.decode("utf-8", "replace").splitlines())
    now = time.time()
    return [Kept(ref, subject, now - int(at or 0)) for ref, at, subject in rows]


def held_locks(repo: Repo, older: float) -> list[tuple[Path, float]]:
    """Lock files of git itself on what all share, with their age where it is above `older`, in
    seconds: a git that works holds one for a moment."""
    names = ("packed-refs.lock", "config.lock", "HEAD.lock", "index.lock", "shallow.lock")
    paths = (path for name in names if os.path.lexists(path := repo.common / name))
    aged = ((path, time.time() - path.lstat().st_mtime) for path in paths)
    return [(path, age) for path, age in aged if age > older]


def state_folders(repo: Repo) -> list[str]:
    """The lineages for which there is a state folder here."""
    return sorted(path.name for path in (repo.common / "ouro").glob("*") if path.is_dir())
