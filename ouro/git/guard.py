"""What an agent may reach beside its workspace: looked at before a run, and put right after it.

All working trees share refs, stash and configuration. What belongs to the lineage is restored; what
may as well be the user's own doing meanwhile is reported with its old value, and never reverted.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ouro.core.ids import branch_ref
from ouro.git.repository import Repo

GUARDED_KEYS = ("core.bare", "core.worktree", "core.hooksPath")
"""Settings with which an agent can break the repository for everybody."""
STASH = "refs/stash"


class Stashed(Struct, frozen=True):
    commit: str
    message: str


class Before(Struct, frozen=True):
    """The repository as it was before a run: refs, stash entries (newest first), settings of the
    repository's own configuration file."""

    refs: Mapping[str, str]
    stash: tuple[Stashed, ...]
    settings: Mapping[str, tuple[str, ...]]


def look(repo: Repo, lineage_id: str) -> Before:
    """Note what is there, and pin what only the stash holds, so that no gc can take it."""
    before = Before(_refs(repo), _stash(repo), _settings(repo))
    for number, entry in enumerate(before.stash):
        repo.git.run("update-ref", f"{_pins(lineage_id)}{number}", entry.commit)
    return before


def put_right(repo: Repo, lineage_id: str, before: Before) -> list[str]:
    """Restore what is the lineage's; the rest that changed, for people, a line each."""
    said = _restore_settings(repo, before.settings)
    said += _restore_stash(repo, before.stash)
    said += _restore_tags(repo, lineage_id, before.refs)
    said += _other_refs(repo, lineage_id, before.refs)
    for number in range(len(before.stash)):
        repo.git.run("update-ref", "-d", f"{_pins(lineage_id)}{number}")
    return said


def _pins(lineage_id: str) -> str:
    return f"refs/ouro/pins/{lineage_id}/"


# --- looking -----------------------------------------------------------------------------------


def _refs(repo: Repo) -> dict[str, str]:
    listed = repo.git.run("for-each-ref", "--format=%(objectname) %(refname)").decode()
    pairs = (line.partition(" ")[::2] for line in listed.splitlines())
    return {name: value for value, name in pairs}


def _stash(repo: Repo) -> tuple[Stashed, ...]:
    said = repo.git.attempt("reflog", "show", "-z", "--format=%H %gs", STASH)
    if said.returncode != 0:
        return ()
    entries = said.stdout.decode("utf-8", "replace").split("\0")
    return tuple(Stashed(*entry.partition(" ")[::2]) for entry in entries if entry)


def _settings(repo: Repo) -> dict[str, tuple[str, ...]]:
    return {key: _values(repo, key) for key in GUARDED_KEYS}


def _values(repo: Repo, key: str) -> tuple[str, ...]:
    said = repo.git.attempt("config", "--file", str(repo.common / "config"), "-z", "--get-all", key)
    return tuple(said.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1])


# --- restoring ---------------------------------------------------------------------------------


def _restore_settings(repo: Repo, before: Mapping[str, tuple[str, ...]]) -> list[str]:
    changed = [key for key in GUARDED_KEYS if _values(repo, key) != before[key]]
    file = str(repo.common / "config")
    for key in changed:
        repo.git.attempt("config", "--file", file, "--unset-all", key)
        for value in before[key]:
            repo.git.run("config", "--file", file, "--add", key, value)
    return [f"the agent changed {key} of the repository; it is put back" for key in changed]


def _restore_stash(repo: Repo, before: tuple[Stashed, ...]) -> list[str]:
    """Put back entries that are missing, oldest first; none is dropped."""
    there = {entry.commit for entry in _stash(repo)}
    missing = [entry for entry in reversed(before) if entry.commit not in there]
    for entry in missing:
        repo.git.run("stash", "store", "-m", entry.message, entry.commit)
    return [f"the stash lost {entry.message!r}; it is back in the stash" for entry in missing]


def _restore_tags(repo: Repo, lineage_id: str, before: Mapping[str, str]) -> list[str]:
    """The lineage's tags are what they were; tags that the agent put among them are removed."""
    prefix = f"refs/tags/ooo/{lineage_id}/"
    old = {name: value for name, value in before.items() if name.startswith(prefix)}
    now = {name: value for name, value in _refs(repo).items() if name.startswith(prefix)}
    changed = sorted(name for name in old.keys() | now.keys() if old.get(name) != now.get(name))
    zero = "0" * 40
    for name in changed:
        wanted, found = old.get(name), now.get(name, zero)
        update = [name, wanted, found] if wanted else ["-d", name, found]
        repo.git.run("update-ref", *update)
    return [f"the agent changed the tag {name}; it is put back" for name in changed]


def _other_refs(repo: Repo, lineage_id: str, before: Mapping[str, str]) -> list[str]:
    """Refs that are not the lineage's: told, not touched, for the user works here too."""
    own = (branch_ref(lineage_id), f"refs/tags/ooo/{lineage_id}/", "refs/ouro/", STASH)
    now = _refs(repo)
    return [
        f"{name} changed during the run, it was {value[:12]}; if that was not you: "
        f"git update-ref {name} {value}"
        for name, value in before.items()
        if not name.startswith(own) and now.get(name) != value
    ]
