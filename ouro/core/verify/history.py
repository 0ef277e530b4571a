"""What is verified, as plain values, and what comes of it."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct


class LogFile(NamedTuple):
    """A file of a log's folder: its `blob` id, and whether it is a `plain` file."""

    name: str
    blob: str
    plain: bool = True


class Folder(NamedTuple):
    """The log of one lineage in a commit's tree; `path` of its folder, `files` sorted by name."""

    lineage: str
    path: str
    files: tuple[LogFile, ...]


class Commit(NamedTuple):
    """`code` is the id of its tree without ouro's folder, `logs` all logs in it."""

    id: str
    parents: tuple[str, ...]
    message: str
    code: str
    logs: tuple[Folder, ...]


class TagRef(NamedTuple):
    """A tag below `refs/tags/ooo/<id>/`. `name` is what follows that, `target` the id of the
    object that the ref holds, `commit` the one that it comes to (None: no commit), `message` the
    text of an annotated tag (None: it is none)."""

    name: str
    target: str
    commit: str | None
    message: str | None


class History(Protocol):
    """A lineage's history, read when it is asked for."""

    lineage: str
    """The id of the lineage at the tip."""
    before: Commit | None
    """The commit on which the first of `commits` stands."""
    trusted: bool
    """Whether the log at `before` is the lineage's, and taken as it is."""
    commits: Sequence[Commit]
    """Along first parents, oldest first, the tip last."""
    tags: Sequence[TagRef] | None
    """None: tags are not looked at."""

    def blob(self, blob_id: str) -> bytes: ...

    def past(self, commit_id: str) -> Commit | None:
        """A commit at or below a trusted `before`, along first parents; None where it is none."""
        ...


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that is not as ouro writes it: in which commit, where it applies in which `file`
    of its tree and on which `line` (from 1), and what."""

    commit: str
    file: str | None = None
    line: int | None = None
    what: str


class Verified(Struct, frozen=True, kw_only=True):
    """What was looked at, and what is wrong. A notice is worth knowing, and no fault. `unknown`
    says why the history could not be verified to its end."""

    lineage_id: str
    commits: int
    events: int
    generations: int
    findings: tuple[Finding, ...] = ()
    notices: tuple[str, ...] = ()
    unknown: str | None = None
