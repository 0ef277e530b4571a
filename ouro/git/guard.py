"""What an agent may reach beside its workspace: looked at before a run, and put right after it.

All working trees share refs, stash and configuration. What belongs to the lineage is restored; what
may as well be the user's own doing meanwhile is reported with its old value, and never reverted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ouro.core.ids import pins_prefix
from ouro.git.journal import write_durably
from ouro.git.repository import Repo

GUARDED_KEYS = ("core.bare", "core.worktree", "core.hookspath")
"""Settings with which an agent can break the repository for everybody; git lists keys so."""
STASH = "refs/stash"


class Stashed(Struct, frozen=True):
    commit: str
    message: str


class Before(Struct, frozen=True):
    """The repository as it was before a run: refs, stash entries (newest first), settings of the
    repository's own configuration file."""

    refs: dict[str, str]
    stash: tuple[Stashed, ...]
    settings: dict[str, tuple[str, ...]]


def look(repo: Repo, lineage_id: str) -> None:
    """Note what is there, on disk for a step that comes after this one's death, and pin what only
    the stash holds, so that no gc can take it."""
    before = Before(_refs(repo), _stash(repo), _settings(repo))
    for number, entry in enumerate(before.stash):
        repo.git.run("update-ref", f"{pins_prefix(lineage_id)}{number}", entry.commit)
    write_durably(_note(repo, lineage_id), msgspec.json.encode(before))


def put_right(repo: Repo, lineage_id: str) -> list[str]:
    """Restore what is the lineage's since `look`, if it was not yet; what was restored, and what
    else changed, for people, a line each."""
    note = _note(repo, lineage_id)
    if not note.is_file():
        return []
    before = msgspec.json.decode(note.read_bytes(), type=Before)
    said = _restore_settings(repo, before.settings)
    said += _restore_stash(repo, before.stash)
    said += _restore_tags(repo, lineage_id, before.refs)
    said += _other_refs(repo, before.refs)
    for number in range(len(before.stash)):
        # A deletion takes the lock of packed-refs, which a killed git may have left: a pin that
        # stays is overwritten by the next run's.
        repo.git.attempt("update-ref", "-d", f"{pins_prefix(lineage_id)}{number}")
    note.unlink()
    return said


def pins(repo: Repo, lineage_id: str) -> dict[str, bool]:
    """The pins of a lineage that are there: ref -> whether the stash still has what it keeps."""
    there = {entry.commit for entry in _stash(repo)}
    return {ref: commit in there for ref, commit in repo.refs(pins_prefix(lineage_id)).items()}


def _note(repo: Repo, lineage_id: str) -> Path:
    return repo.state_folder(lineage_id) / "before.json"


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
    """The repository's own configuration: key -> its values. `info/exclude`, by which an agent
    can hide files from git, counts as a key."""
    said = repo.git.attempt("config", "--file", str(repo.common / "config"), "-z", "--list")
    found: dict[str, tuple[str, ...]] = {}
    for entry in said.stdout.decode("utf-8", "backslashreplace").split("\0")[:-1]:
        key, _, value = entry.partition("\n")
        found[key] = (*found.get(key, ()), value)
    exclude = repo.common / "info" / "exclude"
    if exclude.is_file():
        found["info/exclude"] = (exclude.read_text("utf-8", "replace")[-300:],)
    return found


# --- restoring ---------------------------------------------------------------------------------


def _restore_settings(repo: Repo, before: Mapping[str, tuple[str, ...]]) -> list[str]:
    now, said = _settings(repo), []
    for key in sorted(before.keys() | now.keys()):
        if before.get(key) == now.get(key):
            continue
        if key in GUARDED_KEYS:
            _set(repo, key, before.get(key, ()))
            said.append(f"the setting {key} was changed during the run; it is put back")
        else:
            was = ", ".join(before.get(key, ("unset",)))
            said.append(f"the setting {key} changed during the run, it was: {was}")
    return said


def _set(repo: Repo, key: str, values: tuple[str, ...]) -> None:
    """Give `key` its old values, in its old place of the file."""
    config = ("config", "--file", str(repo.common / "config"))
    if not values:
        repo.git.run(*config, "--unset-all", key)
    for how, value in zip(("--replace-all", *["--add"] * len(values)), values, strict=False):
        repo.git.run(*config, how, key, value)


def _restore_stash(repo: Repo, before: tuple[Stashed, ...]) -> list[str]:
    """Put back entries that are missing, oldest first; none is dropped."""
    there = {entry.commit for entry in _stash(repo)}
    missing = [entry for entry in reversed(before) if entry.commit not in there]
    for entry in missing:
        # What `git stash store` does, which would want a work tree.
        repo.git.run("update-ref", "--create-reflog", "-m", entry.message, STASH, entry.commit)
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
    return [f"the tag {name} was changed during the run; it is put back" for name in changed]


def _other_refs(repo: Repo, before: Mapping[str, str]) -> list[str]:
    """Refs that are not the lineage's: told, not touched, for the user works here too. Other
    lineages have steps of their own, which move and guard theirs."""
    own = ("refs/heads/ooo/", "refs/tags/ooo/", "refs/ouro/", STASH)
    now = _refs(repo)
    return [
        f"{name} changed during the run, it was {value[:12]}; if that was not you: "
        f"git update-ref {name} {value}"
        for name, value in before.items()
        if not name.startswith(own) and now.get(name) != value
    ]
