"""The repository's hooks: putting one of ouro's in front of what is there, and taking it out."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from ouro.errors import OuroError
from ouro.git.repository import Repo

SERVER_HOOK = "pre-receive"
"""Runs in the repository that is pushed to, in its git folder; others run at a work tree's top."""

_SEAL = b"# sealed by ouro hooks install: "
_PROGRAM = re.compile(rb"^ouro=(.*) # ", re.MULTILINE)


class State(StrEnum):
    ABSENT = "absent"
    """There is no such hook."""
    OTHER = "other"
    """There is one, and ouro did not install it."""
    INSTALLED = "installed"
    OLDER = "older"
    """Installed by another version of ouro, or by an ouro at another place."""
    EDITED = "edited"
    """Installed, and somebody changed it since."""


class Hook(Struct, frozen=True, kw_only=True):
    """One hook as it stands. `before` is the hook that was there and runs first; `shared` says that
    the file lies in the work tree, where others may get it; `ouro` is the program that verifies,
    None where none was written in, and `runs` whether it is there."""

    name: str
    path: Path
    state: State
    before: Path | None
    shared: bool
    ouro: str | None
    runs: bool


def look(repo: Repo, name: str, wanted: bytes) -> Hook:
    """The hook `name` of the repository, where `wanted` would be installed as it. Raises OuroError
    where the user keeps hooks outside of the repository."""
    path = _folder(repo, name) / name
    content = path.read_bytes() if os.path.lexists(path) else None
    before = _before(path)
    program = _program(content) if content and _SEAL in content else None
    return Hook(
        name=name,
        path=path,
        state=_state(content, wanted),
        before=before if os.path.lexists(before) else None,
        shared=not _within(path, repo.common),
        ouro=program,
        runs=program is not None and os.access(program, os.X_OK),
    )


def seal(script: bytes, program: Path) -> bytes:
    """`script` as it is installed: `program` written in, and a last line that tells whether
    anybody changed the lines above it."""
    named = f"ouro={shlex.quote(str(program))} # ".encode()
    body = _PROGRAM.sub(lambda _: named, script, count=1)
    return body + _seal_of(body)


def install(repo: Repo, name: str, wanted: bytes) -> Hook:
    """Make `wanted` the hook `name`; one that was there stays beside it and runs first."""
    found = look(repo, name, wanted)
    match found.state:
        case State.INSTALLED:
            return found
        case State.EDITED:
            raise _edited(found)
        case State.OTHER:
            _keep(found)
    _write(found.path, wanted)
    return look(repo, name, wanted)


def uninstall(repo: Repo, name: str, wanted: bytes) -> Hook | None:
    """Take ouro's hook out and put back what was there; what was taken out, None where nothing
    of ouro is there."""
    found = look(repo, name, wanted)
    if found.state is State.EDITED:
        raise _edited(found)
    if found.state in (State.ABSENT, State.OTHER):
        return None
    if found.before:
        found.before.replace(found.path)
    else:
        found.path.unlink()
    return found


# --- where hooks lie ---------------------------------------------------------------------------


def _folder(repo: Repo, name: str) -> Path:
    """The folder that git takes the hook from, by `core.hooksPath` where that is set."""
    scope, configured = _configured(repo)
    if not configured:
        return repo.common / "hooks"
    stands = repo.common if name == SERVER_HOOK or repo.here is None else repo.here
    path = stands / configured
    if not any(_within(path, top) for top in (repo.common, repo.here, repo.main) if top):
        raise OuroError(
            f"core.hooksPath ({scope}) names {path}, outside of this repository: hooks there are "
            "not this repository's alone",
            f"give it its own: git -C {stands} config core.hooksPath {repo.common / 'hooks'}",
        )
    return path


def _configured(repo: Repo) -> tuple[str, str | None]:
    """Where `core.hooksPath` was set (local, global, …), and to what."""
    said = repo.git_here().attempt(
        "config", "--show-scope", "-z", "--type=path", "--get-all", "core.hooksPath"
    )
    words = os.fsdecode(said.stdout).split("\0")[:-1]
    pairs = list(zip(words[::2], words[1::2], strict=True))
    # git is always told not to run hooks itself, on its command line.
    return next(((s, v) for s, v in reversed(pairs) if s != "command"), ("", None))


def _within(path: Path, top: Path) -> bool:
    return path.resolve().is_relative_to(top.resolve())


def _before(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-ouro")


# --- what is there -----------------------------------------------------------------------------


def _state(content: bytes | None, wanted: bytes) -> State:
    if content is None:
        return State.ABSENT
    if content == wanted:
        return State.INSTALLED
    body, mark, _ = content.rpartition(_SEAL)
    if not mark:
        return State.OTHER
    return State.OLDER if body + _seal_of(body) == content else State.EDITED


def _seal_of(body: bytes) -> bytes:
    return _SEAL + hashlib.sha256(body).hexdigest().encode() + b"\n"


def _program(content: bytes) -> str | None:
    found = _PROGRAM.search(content)
    words = shlex.split(os.fsdecode(found[1])) if found else []
    return words[0] if words else None


def _edited(found: Hook) -> OuroError:
    return OuroError(
        f"{found.path} was changed since ouro installed it",
        "nothing was touched; put your lines into a hook of your own and remove that file, then "
        "run this again",
    )


# --- writing -----------------------------------------------------------------------------------


def _keep(found: Hook) -> None:
    """Give the hook that is there a second name; it goes on under the first until ouro's takes it
    over, so there is no moment without it."""
    before = _before(found.path)
    if b'"$(dirname "$0")/h"' in found.path.read_bytes():
        raise OuroError(
            f"{found.path} is husky's, which finds your hook by that very name",
            f"add ouro's to .husky/{found.name} yourself; the README says how (Hooks)",
        )
    if found.before and not found.before.samefile(found.path):
        raise OuroError(
            f"{found.path} is not ouro's, and {before} is there already",
            "another tool has put its hook over ouro's: keep one of the two, then run this again",
        )
    if not found.before:
        os.link(found.path, before, follow_symlinks=False)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    new.write_bytes(content)
    new.chmod(0o755)
    new.replace(path)
