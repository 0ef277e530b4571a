"""A lineage's history as `ouro.core.verify` takes it, read with pygit2 along first parents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ouro.core.codec import peek
from ouro.core.events import LineageCreated
from ouro.core.verify.history import Commit, Folder, LogFile, TagRef
from ouro.errors import NotNow
from ouro.git.log_tree import folder
from ouro.git.repository import OURO_FOLDER, Repo, code_id

if TYPE_CHECKING:
    import pygit2

_LINEAGES = "lineages"
_PLAIN = 0o100644


class Rewritten(Exception):
    """A commit that should be in a history is not."""


class Objects:
    """The commits and blobs of a repository; in `pre-receive` also those that are being pushed.

    Raises NotNow where an object is not there: then nothing can be said of the history.
    """

    def __init__(self, repo: Repo) -> None:
        self._handle = _handle(repo)
        self._shallow = _shallow(repo)
        self._folders: dict[pygit2.Oid, tuple[Folder, ...]] = {}

    def resolve(self, revision: str) -> str | None:
        """The id of the commit that `revision` stands for, None where it stands for none."""
        import pygit2

        try:
            return str(self._handle.revparse_single(revision).peel(pygit2.Commit).id)
        except (KeyError, ValueError, pygit2.GitError):
            return None

    def blob(self, blob_id: str) -> bytes:
        import pygit2

        return self._get(blob_id).peel(pygit2.Blob).data

    def commit(self, commit_id: str) -> Commit:
        import pygit2

        found = self._get(commit_id).peel(pygit2.Commit)
        try:
            tree = found.tree
            logs = self._logs(tree)
            parents = tuple(map(str, found.parent_ids))
            text = found.raw_message.decode("utf-8", "replace")
            return Commit(commit_id, parents, text, code_id(tree), logs)
        except (KeyError, pygit2.GitError) as problem:
            raise _missing(f"a tree of {commit_id[:12]}") from problem

    def parent(self, commit: Commit) -> Commit | None:
        """The first parent; raises NotNow where a shallow clone ends before it."""
        if commit.id in self._shallow:
            raise NotNow(
                f"cannot verify: this clone is shallow, it ends at {commit.id[:12]}",
                "fetch the rest: git fetch --unshallow",
            )
        return self.commit(commit.parents[0]) if commit.parents else None

    def tags(self, lineage_id: str) -> list[TagRef]:
        prefix = f"refs/tags/ooo/{lineage_id}/"
        names = sorted(n for n in self._handle.references if n.startswith(prefix))
        return [self._tag(name, name.removeprefix(prefix)) for name in names]

    def _tag(self, ref: str, name: str) -> TagRef:
        import pygit2

        target = str(self._handle.references[ref].resolve().target)
        found, message = self._get(target), None
        if isinstance(found, pygit2.Tag):
            message = found.read_raw().partition(b"\n\n")[2].decode("utf-8", "replace")
        try:
            commit = str(found.peel(pygit2.Commit).id)
        except (pygit2.GitError, ValueError):
            return TagRef(name, target, None, message)
        return TagRef(name, target, commit, message)

    def _get(self, object_id: str) -> pygit2.Object:
        found = self._handle.get(object_id)
        if found is None:
            raise _missing(f"the object {object_id}")
        return found

    def _logs(self, tree: pygit2.Tree) -> tuple[Folder, ...]:
        import pygit2

        own = tree[OURO_FOLDER] if OURO_FOLDER in tree else None  # noqa: SIM401 (no dict)
        if not isinstance(own, pygit2.Tree):
            return ()
        if own.id not in self._folders:
            lineages = own[_LINEAGES] if _LINEAGES in own else None  # noqa: SIM401
            found = lineages if isinstance(lineages, pygit2.Tree) else ()
            self._folders[own.id] = tuple(map(_folder, found))
        return self._folders[own.id]


def _folder(lineage: pygit2.Object) -> Folder:
    import pygit2

    name = str(lineage.name)
    events = lineage["events"] if isinstance(lineage, pygit2.Tree) and "events" in lineage else None
    entries = events if isinstance(events, pygit2.Tree) else ()
    files = tuple(LogFile(str(e.name), str(e.id), e.filemode == _PLAIN) for e in entries)
    return Folder(name, folder(name), files)


def _handle(repo: Repo) -> pygit2.Repository:
    if "GIT_QUARANTINE_PATH" not in os.environ:
        return repo.handle
    import pygit2
    from pygit2.enums import RepositoryOpenFlag

    # What is being pushed lies beside the repository until the hook has said yes.
    return pygit2.Repository(".", RepositoryOpenFlag.FROM_ENV)


def _shallow(repo: Repo) -> frozenset[str]:
    """The commits at which a shallow clone ends."""
    path = repo.common / "shallow"
    return frozenset(path.read_text().split()) if path.is_file() else frozenset()


def _missing(what: str) -> NotNow:
    return NotNow(
        f"cannot verify: {what} is missing",
        "git fsck tells more; in a shallow or partial clone: fetch it",
    )


class GitHistory:
    """What `ouro.core.verify` reads."""

    def __init__(
        self,
        objects: Objects,
        lineage: str,
        commits: Sequence[Commit],
        before: Commit | None,
        *,
        trusted: bool = False,
        tags: Sequence[TagRef] | None = None,
    ) -> None:
        self.lineage = lineage
        self.commits = commits
        self.before = before
        self.trusted = trusted
        self.tags = tags
        self.blob = objects.blob
        self._objects = objects
        self._past: dict[str, Commit] = {}
        self._reached = before

    def past(self, commit_id: str) -> Commit | None:
        """Walks down only as far as it was not walked yet."""
        while self._reached and commit_id not in self._past:
            self._past[self._reached.id] = self._reached
            self._reached = self._objects.parent(self._reached)
        return self._past.get(commit_id)


def whole(objects: Objects, tip: str, lineage_id: str) -> GitHistory:
    """The history of a lineage from its creation, with its tags."""
    commits, base = _down(objects, tip, None)
    return GitHistory(objects, lineage_id, commits, base, tags=objects.tags(lineage_id))


def between(objects: Objects, old: str | None, new: str) -> GitHistory:
    """What came to the history since the commit `old` (None: all of it), which is trusted. Tags
    are not read: where commits arrive, tags arrive beside them.

    Raises Rewritten where `old` is not among the first parents of `new`.
    """
    commits, base = _down(objects, new, old)
    if base is None or base.id != old:
        if old and not _below(objects, base, old):
            raise Rewritten
        return GitHistory(objects, _lineage(commits, None), commits, base)
    return GitHistory(objects, _lineage(commits, base), commits, base, trusted=True)


def _lineage(commits: Sequence[Commit], base: Commit | None) -> str:
    """Whose log is at the tip."""
    tip = commits[-1] if commits else base
    names = [found.lineage for found in (tip.logs if tip else ())]
    before = [found.lineage for found in (base.logs if base else ())]
    return next((name for name in names if name in before), next(iter(names or before), ""))


def _down(objects: Objects, tip: str, until: str | None) -> tuple[list[Commit], Commit | None]:
    """The commits from `tip` down to a creation or to just above `until`, oldest first, and the one
    below them."""
    found: list[Commit] = []
    commit: Commit | None = objects.commit(tip)
    while commit and commit.id != until:
        found.append(commit)
        below = objects.parent(commit)
        if not commit.logs or _creates(objects, commit, below):
            commit = below
            break
        commit = below
    return found[::-1], commit


def _creates(objects: Objects, commit: Commit, below: Commit | None) -> bool:
    """Whether a lineage begins here: its log is one line, which says so of the commit below."""
    if below and below.logs == commit.logs:
        return False
    files = commit.logs[0].files
    line = objects.blob(files[0].blob).removesuffix(b"\n") if len(files) == 1 else b"\n"
    event = None if b"\n" in line else peek(line)
    if event is None or not isinstance(event.data, LineageCreated):
        return False
    return event.data.base == (below.id if below else None)


def _below(objects: Objects, commit: Commit | None, wanted: str) -> bool:
    while commit and commit.id != wanted:
        commit = objects.parent(commit)
    return commit is not None
