"""What differs between commits, index and files, as git tells it."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from ouro.git.repository import OURO_FOLDER, Repo

_CODE = ("--", ":(top)", f":(exclude,top){OURO_FOLDER}")


class FileChange(Struct, frozen=True):
    """Lines added and removed; None in a binary file."""

    path: str
    added: int | None
    removed: int | None


class Change(NamedTuple):
    """One path that differs: new mode and blob (zeros when deleted), status letter, path as git
    has it."""

    mode: str
    blob: str
    status: str
    path: bytes


def parse_raw(listed: bytes) -> list[Change]:
    """What `git diff… --raw -z --no-renames` printed."""
    parts = listed.split(b"\0")
    heads = (head.decode().split(" ") for head in parts[0:-1:2])
    return [Change(h[1], h[3], h[4], path) for h, path in zip(heads, parts[1::2], strict=True)]


# --- the code of two commits, without ouro's own folder -----------------------------------------


def patch(repo: Repo, before: str, after: str, *, colour: bool = False) -> bytes:
    """What `git diff` prints, under the user's own settings for it."""
    return repo.git.run("diff", _colour(colour), before, after, *_CODE)


def stat(repo: Repo, before: str, after: str, *, colour: bool = False, width: int = 80) -> bytes:
    return repo.git.run("diff", _colour(colour), f"--stat={width}", before, after, *_CODE)


def files(repo: Repo, before: str, after: str) -> tuple[FileChange, ...]:
    """Every path that changed; a renamed file is one removed and one added."""
    words = ("diff", "--numstat", "-z", "--no-renames", "--no-ext-diff")
    listed = repo.git.run(*words, before, after, *_CODE).split(b"\0")
    return tuple(_file_change(entry) for entry in listed if entry)


def _file_change(entry: bytes) -> FileChange:
    added, removed, path = entry.split(b"\t", 2)
    return FileChange(path.decode("utf-8", "replace"), _count(added), _count(removed))


def _count(text: bytes) -> int | None:
    return None if text == b"-" else int(text)


def _colour(wanted: bool) -> str:
    return f"--color={'always' if wanted else 'never'}"
