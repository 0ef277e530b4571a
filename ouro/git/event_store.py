"""The event store on git: an append is one commit on the lineage's branch, by compare-and-swap."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ouro.core.chain import extend
from ouro.core.codec import EMPTY_LOG, decode_files, encode_lines
from ouro.core.events import Event
from ouro.core.ids import branch_ref, hidden_ref
from ouro.core.store import Stream, Tag
from ouro.core.story import message
from ouro.errors import ConcurrentAppend, DamagedLog, NotNow, OuroError
from ouro.git import log_tree
from ouro.git.journal import Journal
from ouro.git.program import GitFailed
from ouro.git.repository import Repo

PATIENCE = 5.0
"""Seconds to wait for another program's lock on a ref."""
ABSENT = "0" * 40


class TagChanges(NamedTuple):
    """Ref updates of a jump, as lines for `git update-ref --stdin`."""

    archived: Sequence[str]
    moved: Sequence[str]


class GitEventStore:
    """One lineage's log in `.ouro/lineages/<id>/events/` on `refs/heads/ooo/<id>`."""

    def __init__(self, repo: Repo, lineage_id: str) -> None:
        self._repo = repo
        self._id = lineage_id
        self.ref = branch_ref(lineage_id)
        self.journal = Journal(repo.state_folder(lineage_id))

    # --- reading -----------------------------------------------------------------------------

    def read(self) -> Stream:
        tip = self._repo.ref(self.ref)
        return self.read_at(tip) if tip else Stream(EMPTY_LOG, None, "")

    def read_at(self, revision: str) -> Stream:
        """The stream as it was at `revision`; raises DamagedLog where that commit holds no log."""
        log = decode_files(log_tree.contents(self._repo, self._id, revision))
        if not log.events:
            raise DamagedLog(f"the log of {self._id} is empty at {revision[:12]}")
        if log.events[-1].lineage_id != self._id:
            raise DamagedLog(f"the log of {self._id} holds lines of {log.events[-1].lineage_id}")
        return Stream(log, revision, self._repo.code_tree_id(revision))

    def continues(self, old: str, new: str, owner: str) -> bool:
        """Whether the log at commit `new` begins with every byte of the one at `old`, where it was
        that of the lineage `owner`."""
        *sealed, (live, blob) = log_tree.files(self._repo, owner, old)
        after = dict(log_tree.files(self._repo, self._id, new))
        same = all(name in after and after[name].id == b.id for name, b in sealed)
        return same and live in after and after[live].read_raw().startswith(blob.read_raw())

    def size(self, at: Stream) -> int:
        """Bytes of the log at `at`."""
        if not at.revision:
            return 0
        files = log_tree.files(self._repo, self._id, at.revision)
        return sum(len(blob.read_raw()) for _, blob in files)

    def tag_objects(self) -> dict[str, str]:
        """Name -> id of the tag object, of all the lineage's tags, archived ones too."""
        listed = self._repo.git.run(
            "for-each-ref",
            "--format=%(refname:lstrip=2) %(objectname)",
            f"refs/tags/ooo/{self._id}/",
        )
        return dict(line.split(" ") for line in listed.decode().splitlines())

    def tags(self) -> dict[str, str]:
        prefix = f"refs/tags/ooo/{self._id}/gen_"
        listed = self._repo.git.run(
            "for-each-ref", "--format=%(refname) %(*objectname)%(objectname)", prefix + "*"
        )
        lines = (line.split(" ") for line in listed.decode().splitlines())
        return {name.removeprefix("refs/tags/"): named[:40] for name, named in lines}

    # --- appending ---------------------------------------------------------------------------

    def append(
        self,
        at: Stream,
        events: Sequence[Event],
        *,
        code: str | None = None,
        adopted: Sequence[str] = (),
        tag: Tag | None = None,
    ) -> Stream:
        log = extend(at.log, events)
        code = at.code if code is None else code
        tree = log_tree.extended(self._repo, at, events, code, adopted)
        commit = self._commit(tree, [r for r in (at.revision, *adopted) if r], message(events))
        updates = [update(self.ref, commit, at.revision)]
        if tag:
            # An agent may have made a tag of that name: it is the lineage's, and so ours to set.
            named = self._repo.ref(f"refs/tags/{tag.name}")
            updates.append(self.tag_update(tag, commit, named))
        self._move(at.revision, commit, updates)
        self._read_back(commit, events)
        return Stream(log, commit, code)

    def jump(self, at: Stream, to: Stream, event: Event, tags: TagChanges) -> Stream:
        """Go from `at` to the log and the code of `to`, and `event` after it: one commit on top of
        `at`. Archived tags are there before anything that they archive is moved."""
        assert at.revision, "a jump leaves a commit"
        log = extend(to.log, [event])
        tree = log_tree.extended(self._repo, to, [event], to.code)
        commit = self._commit(tree, [at.revision], message([event]))
        if tags.archived:
            self._move(at.revision, at.revision, tags.archived)
        self._move(at.revision, commit, [update(self.ref, commit, at.revision), *tags.moved])
        self._read_back(commit, [event])
        return Stream(log, commit, to.code)

    def fork(self, source: Stream, event: Event, refs: Sequence[str]) -> Stream:
        """Begin this lineage with the log and code of `source`, and `event` after it."""
        assert source.revision, "a fork begins at a commit"
        tree = log_tree.extended(self._repo, source, [event], source.code)
        commit = self._commit(tree, [source.revision], message([event]))
        self._move(None, commit, [update(self.ref, commit, None), *refs])
        self._read_back(commit, [event])
        return Stream(extend(source.log, [event]), commit, source.code)

    def follow(self, at: str | None, to: str, tags: TagChanges, refs: Sequence[str]) -> None:
        """Go from the tip `at` (None: there is no branch) to `to`, a commit that another clone
        made; `refs` are further updates. As in a jump, what is archived comes first."""
        if at and tags.archived:
            self._move(at, at, tags.archived)
        first = [update(self.ref, to, at)] if at != to else []
        archived = [] if at else tags.archived
        self._move(at, to, [*first, *archived, *tags.moved, *refs])

    def change_tags(self, tip: str, updates: Sequence[str]) -> None:
        self._move(tip, tip, updates)
        self.journal.settle()

    def put_tag(self, tip: str, tag: Tag, revision: str) -> None:
        """Make a generation's tag that a crash left out, or move one back to `revision`."""
        update = self.tag_update(tag, revision, self._repo.ref(f"refs/tags/{tag.name}"))
        self._move(tip, tip, [update])
        self.journal.settle()

    def tagged(self, name: str) -> str | None:
        """The commit that the tag `name` names, None where there is no such tag."""
        import pygit2

        target = self._repo.ref(f"refs/tags/{name}")
        found = self._repo.handle.get(target) if target else None
        return str(found.peel(pygit2.Commit).id) if found else None

    def ends_with(self, revision: str, event: Event) -> bool:
        """Whether the log at `revision` ends with `event`, whichever lineage it was of then."""
        return log_tree.last_line(self._repo, event.lineage_id, revision) == encode_lines([event])

    def commit_ending_with(self, event: Event, tip: str) -> str:
        """The oldest commit down from `tip` along first parents whose log ends with `event`."""
        return self.commits_ending_with([event], tip)[event.seq]

    def commits_ending_with(self, events: Sequence[Event], tip: str) -> dict[int, str]:
        """The same for several: `seq` -> commit."""
        wanted = {encode_lines([event]): event.seq for event in events}
        owners = {event.lineage_id for event in events}
        found: dict[int, str] = {}
        for commit in self._first_parents(tip):
            lines = (log_tree.last_line(self._repo, owner, commit) for owner in owners)
            seq = next((wanted[line] for line in lines if line in wanted), None)
            if seq is not None:
                found[seq] = commit
            elif len(found) == len(wanted):
                break
        if lost := wanted.values() - found.keys():
            raise DamagedLog(f"no commit of {self.ref} ends with event {min(lost)}")
        return found

    def _first_parents(self, tip: str) -> Iterator[str]:
        commit = self._repo.commit(tip)
        while True:
            yield str(commit.id)
            if not commit.parents:
                return
            commit = commit.parents[0]

    def _commit(self, tree: str, parents: Sequence[str], text: str) -> str:
        who = self._repo.signature()
        return str(self._repo.handle.create_commit(None, who, who, text, tree, list(parents)))

    def tag_update(self, tag: Tag, commit: str, old: str | None) -> str:
        return update(f"refs/tags/{tag.name}", self.tag_object(tag, commit), old)

    def tag_object(self, tag: Tag, commit: str) -> str:
        """Write the tag's object, without a ref; its id."""
        from pygit2.enums import ObjectType

        who = self._repo.signature()
        zone = (
            f"{'-' if who.offset < 0 else '+'}{abs(who.offset) // 60:02}{abs(who.offset) % 60:02}"
        )
        head = (
            f"object {commit}\ntype commit\ntag {tag.name}\n"
            f"tagger {who.name} <{who.email}> {who.time} {zone}\n\n"
        )
        body = head + tag.message(commit) + "\n"
        return str(self._repo.handle.write(ObjectType.TAG, body.encode()))

    def _move(self, old: str | None, new: str, updates: Sequence[str]) -> None:
        """Move the refs in one transaction; raises ConcurrentAppend where the branch moved on."""
        # git renames one ref after the other, in this order: the branch, which is the truth, first.
        program = "".join(f"{line}\n" for line in ("start", *updates, "prepare", "commit"))
        self.journal.intend(old, new)
        deadline = time.monotonic() + PATIENCE
        while True:
            done = self._repo.git.attempt("update-ref", "--stdin", stdin=program.encode())
            if done.returncode == 0:
                return
            if self._repo.ref(self.ref) != old:
                raise ConcurrentAppend(
                    f"{self.ref} moved while this step worked", "run the step again"
                )
            if not self._wait_for_locks(updates, deadline):
                said = " ".join(done.stderr.decode("utf-8", "replace").split())
                raise GitFailed(f"{self.ref} could not be moved: {said}")

    def _wait_for_locks(self, updates: Sequence[str], deadline: float) -> bool:
        """Sleep a little where another program holds a lock that is in the way."""
        locks = [self._repo.common / (line.split(" ")[1] + ".lock") for line in updates]
        held = next((lock for lock in locks if lock.exists()), None)
        if held is None:
            return False
        if time.monotonic() > deadline:
            age = time.time() - held.stat().st_mtime
            raise NotNow(
                f"{held} has been held for {age:.0f} s by another program",
                "if no git runs here any more, remove that file",
            )
        time.sleep(random.uniform(0.02, 0.2))
        return True

    def _read_back(self, commit: str, events: Sequence[Event]) -> None:
        """Look at the disk again: libgit2 can return the id of an object that it never wrote."""
        import pygit2

        try:
            fresh = Repo(self._repo.common)
            name, blob = log_tree.files(fresh, self._id, commit)[-1]
            written = blob.read_raw()
            if fresh.ref(self.ref) == commit and written.endswith(encode_lines(events)):
                return
        except (KeyError, pygit2.GitError, OuroError) as problem:
            raise OuroError(
                f"commit {commit[:12]} cannot be read back: {problem}",
                "is the disk full or failing? the log before it is intact: git fsck",
            ) from problem
        raise OuroError(
            f"{self.ref} does not hold what was just written ({name})",
            "did another program move the branch? run the step again",
        )

    # --- hidden checks -----------------------------------------------------------------------

    def put_hidden(self, content: bytes) -> str:
        """Keep the hidden checks in a blob of their own, in no tree; its id."""
        blob = self.write_hidden(content)
        self._repo.git.run("update-ref", hidden_ref(self._id), blob)
        return blob

    def write_hidden(self, content: bytes) -> str:
        """The same, without the ref that keeps it from being collected."""
        return str(self._repo.handle.create_blob(content))

    def hidden(self, blob: str) -> bytes | None:
        """The hidden checks, None where this clone does not have them."""
        import pygit2

        found = self._repo.handle.get(blob)
        return found.data if isinstance(found, pygit2.Blob) else None


def update(ref: str, new: str, old: str | None) -> str:
    """A line for `git update-ref --stdin`: `ref`, which names `old` (None: is absent), to `new`."""
    return f"update {ref} {new} {old or ABSENT}"
