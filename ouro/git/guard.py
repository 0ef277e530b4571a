"""What an agent may reach beside its workspace: looked at before a run, and put right after it.

All working trees share refs, stash and configuration. What belongs to the lineage is restored; what
may as well be the user's own doing meanwhile is reported with its old value, and never reverted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ouro.core.ids import branch_ref, hidden_ref, pins_prefix
from ouro.git.journal import write_durably
from ouro.git.repository import Repo

GUARDED_KEYS = ("core.bare", "core.worktree", "core.hookspath")
"""Settings with which an agent can break the repository for everybody; git lists keys so."""
STASH = "refs/stash"
WORKTREE_FILES = ("config.worktree", "info/sparse-checkout")
"""Settings of the workspace alone, in its git folder: they can hide files from git."""
_TRACKED = re.compile(r"refs/remotes/[^/]+/ooo/")


class Stashed(Struct, frozen=True):
    commit: str
    message: str


class Before(Struct, frozen=True):
    """The repository as it was before a run: refs, stash entries (newest first), settings of the
    repository's own configuration file, settings of the workspace's git folder."""

    refs: dict[str, str]
    stash: tuple[Stashed, ...]
    settings: dict[str, tuple[str, ...]]
    git_dir: str = ""
    files: dict[str, bytes | None] = {}


def look(repo: Repo, lineage_id: str, git_dir: Path) -> Before:
    """Note what is there, on disk for a step that comes after this one's death, and pin what only
    the stash holds, so that no gc can take it. `git_dir` is the workspace's git folder."""
    files = _files(git_dir) if git_dir != repo.common else {}
    refs = _refs(repo)
    before = Before(refs, _stash(repo, refs), _settings(repo), str(git_dir), files)
    for number, entry in enumerate(before.stash):
        repo.git.run("update-ref", f"{pins_prefix(lineage_id)}{number}", entry.commit)
    write_durably(_note(repo, lineage_id), msgspec.json.encode(before))
    return before


def put_right_after_death(repo: Repo, lineage_id: str) -> list[str]:
    """The same for a step that died, by the note that it left; nothing where it left none."""
    note = _note(repo, lineage_id)
    if not note.is_file():
        return []
    return put_right(repo, lineage_id, msgspec.json.decode(note.read_bytes(), type=Before))


def put_right(repo: Repo, lineage_id: str, before: Before) -> list[str]:
    """Restore what is the lineage's since `look`; what was restored, and what else changed, for
    people, a line each."""
    said, now = _restore_files(before), _refs(repo)
    said += _restore_settings(repo, before.settings)
    said += _restore_stash(repo, before.stash, _stash(repo, now))
    said += _restore_refs(repo, lineage_id, before.refs, now)
    said += _other_refs(repo, lineage_id, before.refs, now)
    for number in range(len(before.stash)):
        # A deletion takes the lock of packed-refs, which a killed git may have left: a pin that
        # stays is overwritten by the next run's.
        repo.git.attempt("update-ref", "-d", f"{pins_prefix(lineage_id)}{number}")
    _note(repo, lineage_id).unlink(missing_ok=True)
    return said


def pins(repo: Repo, lineage_id: str) -> dict[str, bool]:
    """The pins of a lineage that are there: ref -> whether the stash still has what it keeps."""
    there = {entry.commit for entry in _stash(repo, _refs(repo))}
    return {ref: commit in there for ref, commit in repo.refs(pins_prefix(lineage_id)).items()}


def _note(repo: Repo, lineage_id: str) -> Path:
    return repo.state_folder(lineage_id) / "before.json"


# --- looking -----------------------------------------------------------------------------------


def _refs(repo: Repo) -> dict[str, str]:
    """Full name -> object id, or `ref: ` and the name that a symbolic one stands for."""
    form = "%(refname) %(if)%(symref)%(then)ref: %(symref)%(else)%(objectname)%(end)"
    listed = repo.git.run("for-each-ref", f"--format={form}").decode()
    return dict(line.split(" ", 1) for line in listed.splitlines())


def _files(git_dir: Path) -> dict[str, bytes | None]:
    paths = {name: git_dir / name for name in WORKTREE_FILES}
    return {name: path.read_bytes() if path.is_file() else None for name, path in paths.items()}


def _stash(repo: Repo, refs: Mapping[str, str]) -> tuple[Stashed, ...]:
    if STASH not in refs:
        return ()
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


def _restore_stash(repo: Repo, before: tuple[Stashed, ...], now: tuple[Stashed, ...]) -> list[str]:
    """Put back entries that are missing, oldest first; none is dropped."""
    there = {entry.commit for entry in now}
    missing = [entry for entry in reversed(before) if entry.commit not in there]
    for entry in missing:
        # What `git stash store` does, which would want a work tree.
        repo.git.run("update-ref", "--create-reflog", "-m", entry.message, STASH, entry.commit)
    return [f"the stash lost {entry.message!r}; it is back in the stash" for entry in missing]


def _restore_files(before: Before) -> list[str]:
    git_dir, said = Path(before.git_dir), []
    for name, content in before.files.items():
        if _files(git_dir)[name] == content:
            continue
        (git_dir / name).unlink(missing_ok=True)
        if content is not None:
            (git_dir / name).parent.mkdir(parents=True, exist_ok=True)
            (git_dir / name).write_bytes(content)
        said.append(f"the workspace's {name} was changed during the run; it is put back")
    return said


def _restore_refs(
    repo: Repo, lineage_id: str, before: Mapping[str, str], after: Mapping[str, str]
) -> list[str]:
    """The lineage's refs but its branch are what they were; those that the agent put among them,
    or in their way, are removed first."""
    moved = {name for name, _ in before.items() ^ after.items()}
    changed = sorted(name for name in moved if _is_lineages(name, lineage_id))
    for name in sorted(changed, key=lambda name: name in before):
        update = [name, before[name]] if name in before else ["-d", name]
        # An agent's symbolic ref may lead to a branch of the user's.
        repo.git.run("update-ref", "--no-deref", *update)
    return [f"{_shown(name)} was changed during the run; it is put back" for name in changed]


def _is_lineages(name: str, lineage_id: str) -> bool:
    if name in ("refs/heads/ooo", "refs/tags/ooo") or name.startswith(branch_ref(lineage_id) + "/"):
        return True  # there can be no such ref beside the lineage's
    kept = (f"refs/tags/ooo/{lineage_id}", f"refs/ouro/rescue/{lineage_id}", hidden_ref(lineage_id))
    return any(name == place or name.startswith(f"{place}/") for place in kept)


def _shown(name: str) -> str:
    return f"the tag {name}" if name.startswith("refs/tags/") else name


def _other_refs(
    repo: Repo, lineage_id: str, before: Mapping[str, str], now: Mapping[str, str]
) -> list[str]:
    """Refs that are not the lineage's: told, not touched, for the user works here too. Other
    lineages have steps of their own, which guard theirs, and of which each leads on."""
    changed = (
        (name, value)
        for name, value in before.items()
        if now.get(name) != value and not _moves_by_itself(repo, lineage_id, name, value)
    )
    return [
        f"{name} changed during the run, it was {value[:12]}; if that was not you: "
        f"{_way_back(name, value)}"
        for name, value in changed
    ]


def _moves_by_itself(repo: Repo, lineage_id: str, name: str, value: str) -> bool:
    if name.startswith("refs/heads/ooo/") and name != branch_ref(lineage_id):
        return repo.git.attempt("merge-base", "--is-ancestor", value, name).returncode == 0
    if _TRACKED.match(name):
        return True  # a step or a pull of another lineage fetched it
    return name.startswith(("refs/heads/ooo/", "refs/tags/ooo/", "refs/ouro/", STASH))


def _way_back(name: str, value: str) -> str:
    symbolic = value.removeprefix("ref: ")
    return f"git {'symbolic-ref' if symbolic != value else 'update-ref'} {name} {symbolic}"
