"""What concerns the whole repository: its kind, who commits, room, hooks, and what lies around."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from ouro.app import history, hooks
from ouro.app.doctor import Finding, note, ok, problem, refused
from ouro.config import load
from ouro.core.ids import branch_ref, is_lineage_id
from ouro.errors import OuroError
from ouro.git import survey
from ouro.git.hooks import Hook, State
from ouro.git.repository import Repo
from ouro.git.worktrees import listed

ENOUGH, SCARCE = 1000**3, 100 * 1000**2
"""Bytes free on the disk: from there on all is well, below that a step may not get through."""
MOMENT = 60.0
"""Seconds: a lock older than that has probably lost its git."""


def findings(repo: Repo) -> list[Finding]:
    return [
        *_kind(repo),
        _identity(repo),
        _configuration(repo),
        _room(repo),
        *_hooks(repo),
        *_locks(repo),
        *_worktrees(repo),
        *_rescued(repo),
        *_left_behind(repo),
    ]


def _kind(repo: Repo) -> Iterator[Finding]:
    traits = survey.traits(repo)
    said = f"{repo.common}: {', '.join(traits or ['a plain one'])}, {survey.object_format(repo)}"
    yield ok("repository", said)
    if "shallow" in traits:
        yield note(
            "repository",
            "a shallow clone cannot be verified",
            "fetch the rest: git fetch --unshallow",
        )
    if "partial" in traits:
        yield note(
            "repository",
            "a partial clone: objects that are not here are fetched, or missing without a network",
            "clone without --filter for lineages",
        )


def _identity(repo: Repo) -> Finding:
    name, address = repo.identity
    if not repo.anonymous:
        return ok("identity", f"commits are by {name} <{address}>")
    advice = "git config user.name NAME; git config user.email ADDRESS"
    return note("identity", f"git knows nobody here: commits are by {name} <{address}>", advice)


def _configuration(repo: Repo) -> Finding:
    try:
        load(repo.root, os.environ, {})
    except OuroError as said:
        return refused("configuration", said)
    found = (repo.root / "ouro.yaml").is_file()
    return ok("configuration", str(repo.root / "ouro.yaml") if found else "no ouro.yaml: defaults")


def _room(repo: Repo) -> Finding:
    free = shutil.disk_usage(repo.common).free
    said = f"{free / 1000**3:.1f} GB free"
    if free >= ENOUGH:
        return ok("disk", said)
    advice = f"make room on the disk of {repo.common}; git gc may give some back"
    return (note if free >= SCARCE else problem)("disk", said, advice)


def _hooks(repo: Repo) -> Iterator[Finding]:
    try:
        found = hooks.status(repo)
    except OuroError as said:
        yield note("hooks", said.message, said.hint)
        return
    for hook in found:
        # What a clone does not push from, or nobody pushes to, needs no guard.
        if hook.state is not State.ABSENT or (hook.name == hooks.SERVER) == (repo.here is None):
            yield _hook(hook)


def _hook(hook: Hook) -> Finding:
    server = " --server" if hook.name == hooks.SERVER else ""
    command = f"ouro hooks install{server}"
    match hook.state:
        case State.ABSENT | State.OTHER:
            return note("hooks", f"{hook.name}: pushes are not guarded", command)
        case State.EDITED:
            return note("hooks", f"{hook.path} was changed since ouro installed it", "is it yours?")
    if not hook.runs:
        how = problem if server else note
        return how("hooks", f"{hook.name}: its ouro is gone: {hook.ouro}", command)
    if hook.state is State.OLDER:
        return note("hooks", f"{hook.name} was installed by another ouro", f"renew it: {command}")
    return ok("hooks", f"{hook.name} guards what is pushed")


def _locks(repo: Repo) -> Iterator[Finding]:
    for path, age in survey.held_locks(repo, MOMENT):
        text = f"{path} has been held for {_age(age)}"
        yield problem("locks", text, "if no git runs here any more, remove that file")


def _worktrees(repo: Repo) -> Iterator[Finding]:
    lineages = {branch_ref(name) for name in history.ids(repo)}
    for tree in listed(repo):
        if not tree.path.is_dir() and tree.branch not in lineages:
            yield note(
                "worktrees",
                f"{tree.path} is registered and gone",
                "if it will not come back: git worktree prune",
            )


def _rescued(repo: Repo) -> Iterator[Finding]:
    for kept in survey.rescued(repo):
        yield note(
            "rescued work",
            f"{kept.ref}, {_age(kept.age)} old: {kept.subject}",
            f"look: git show {kept.ref}; drop it: git update-ref -d {kept.ref}",
        )


def _left_behind(repo: Repo) -> Iterator[Finding]:
    known = set(history.ids(repo))
    for name in sorted(name for name in known if not is_lineage_id(name)):
        yield note(
            "branches",
            f"ooo/{name} cannot be a lineage by its name",
            f"ooo/ is for lineages; rename yours: git branch -m ooo/{name} NEW",
        )
    for name in sorted(set(survey.state_folders(repo)) - known):
        folder = repo.state_folder(name)
        yield note(
            "state", f"{folder} is left of a lineage that is not here", f"remove it: rm -r {folder}"
        )


def _age(seconds: float) -> str:
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
