"""A lineage's log in a commit's tree: reading its files, and making the tree that holds more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ouro.core.codec import encode_lines
from ouro.core.events import Event, LineageCreated, LineageForked, ReflectCompleted
from ouro.core.seed import Seed
from ouro.core.store import Stream
from ouro.errors import DamagedLog
from ouro.git.repository import OURO_FOLDER, Repo

if TYPE_CHECKING:
    import pygit2

ROLL_OVER = 64 * 1024
"""At the start of a generation a log file larger than this (bytes) is left for the next one."""

_ATTRIBUTES = b"* -text -filter -ident -diff -merge\n"
_FILE, _FOLDER = 0o100644, 0o040000


def folder(lineage_id: str) -> str:
    return f"{OURO_FOLDER}/lineages/{lineage_id}/events"


def files(repo: Repo, lineage_id: str, revision: str) -> list[tuple[str, pygit2.Object]]:
    """(file name, blob) of the log's files at `revision`, in order; raises DamagedLog where there
    are none, or others. Nothing of them is loaded yet: `read_raw` is the content."""
    import pygit2

    tree, path = repo.commit(revision).tree, folder(lineage_id)
    found = tree[path] if path in tree else None  # noqa: SIM401 (no dict)
    if not isinstance(found, pygit2.Tree):
        raise DamagedLog(
            f"refs/heads/ooo/{lineage_id} holds no log ({path} at {revision[:12]})",
            "is it a branch of yours? ouro keeps ooo/… for lineages",
        )
    by_name = {str(entry.name): entry for entry in found}
    names = sorted(by_name)
    if names != [_file_name(number) for number in range(1, len(names) + 1)]:
        raise DamagedLog(f"{path}: files are missing or foreign: {names}")
    return [(name, by_name[name]) for name in names]


def contents(
    repo: Repo, lineage_id: str, revision: str, *, newest_first: bool = False
) -> Iterator[tuple[str, bytes]]:
    """(path, content) of the log's files at `revision`, for a reader that follows `prev`."""
    found = files(repo, lineage_id, revision)
    path = folder(lineage_id)
    for name, blob in reversed(found) if newest_first else found:
        sealed = name != found[-1][0]
        yield f"{path}/{name}", _unhashed(blob) if sealed else blob.read_raw()


def _unhashed(blob: pygit2.Object) -> bytes:
    """The content of a file that others follow. Their lines, and in the end the newest file, whose
    id is checked, vouch for each of its bytes; to hash it for its id too took a quarter of the
    time of reading a long log."""
    from pygit2 import settings

    settings.enable_strict_hash_verification(False)
    try:
        return blob.read_raw()
    finally:
        settings.enable_strict_hash_verification(True)


def last_line(repo: Repo, lineage_id: str, revision: str) -> bytes | None:
    """The last line, with its LF, of that lineage's log at `revision`; None where there is none."""
    try:
        found = files(repo, lineage_id, revision)
    except DamagedLog:
        return None
    content = found[-1][1].read_raw() if found else b""
    return content[content.rfind(b"\n", 0, -1) + 1 :] or None


def extended(
    repo: Repo, at: Stream, events: Sequence[Event], code: str, adopted: Sequence[str] = ()
) -> str:
    """The tree with the code tree `code` and ouro's own folder: as at `at`, with `events` at the
    log's end. Where there is nothing yet, the folder begins as that of the first adopted commit."""
    lineage_id = events[0].lineage_id
    own = _Folder(repo, _own_folder(repo, at.revision or next(iter(adopted), None)))
    if at.revision is None:
        own.drop("lineages")
        (own / "lineages" / lineage_id).put(".gitattributes", _ATTRIBUTES)
    else:
        (own / "lineages").rename(at.log.events[-1].lineage_id, lineage_id)
    name, content = _live_file(repo, at, events)
    lineage = own / "lineages" / lineage_id
    (lineage / "events").put(name, content + encode_lines(events))
    if seed := _new_seed(events):
        from ouro.core.seed_file import render_seed

        lineage.put("seed.yaml", render_seed(seed))
    top = repo.handle.TreeBuilder(_code(repo, at, code))
    top.insert(OURO_FOLDER, own.write(), _FOLDER)
    return str(top.write())


def _code(repo: Repo, at: Stream, code: str) -> pygit2.Tree:
    """The code tree. One that was read is known by its id alone: it need not be stored."""
    return repo.commit(at.revision).tree if at.revision and code == at.code else repo.tree(code)


def _own_folder(repo: Repo, revision: str | None) -> pygit2.Tree | None:
    import pygit2

    tree = repo.commit(revision).tree if revision else None
    found = tree[OURO_FOLDER] if tree is not None and OURO_FOLDER in tree else None
    return found if isinstance(found, pygit2.Tree) else None


def _live_file(repo: Repo, at: Stream, events: Sequence[Event]) -> tuple[str, bytes]:
    """Name and present content of the file that the next lines go to."""
    if at.revision is None:
        return _file_name(1), b""
    last = at.log.events[-1]
    found = files(repo, last.lineage_id, at.revision)
    name, blob = found[-1]
    content = blob.read_raw()
    if events[0].generation != last.generation and len(content) > ROLL_OVER:
        return _file_name(len(found) + 1), b""
    return name, content


def _file_name(number: int) -> str:
    return f"{number:06}.jsonl"


def _new_seed(events: Sequence[Event]) -> Seed | None:
    """The seed that `events` change, if they do."""
    for event in reversed(events):
        match event.data:
            case LineageCreated(seed=seed) | LineageForked(seed=seed) if seed:
                return seed
            case ReflectCompleted(seed=seed) as data if data.mutations or data.criteria:
                return seed
    return None


class _Folder:
    """A folder being edited: blobs and folders go in, a tree comes out. Nothing else changes."""

    def __init__(self, repo: Repo, tree: pygit2.Tree | None) -> None:
        self._handle = repo.handle
        self._repo = repo
        self._builder = self._handle.TreeBuilder(tree) if tree else self._handle.TreeBuilder()
        self._open: dict[str, _Folder] = {}

    def __truediv__(self, name: str) -> _Folder:
        import pygit2

        if name not in self._open:
            entry = self._builder.get(name)
            tree = entry if isinstance(entry, pygit2.Tree) else None
            self._open[name] = _Folder(self._repo, tree)
        return self._open[name]

    def put(self, name: str, content: bytes) -> None:
        self._builder.insert(name, self._handle.create_blob(content), _FILE)

    def drop(self, name: str) -> None:
        if self._builder.get(name) is not None:
            self._builder.remove(name)

    def rename(self, old: str, new: str) -> None:
        if old != new:
            self._builder.insert(new, self._builder.get(old).id, _FOLDER)
            self._builder.remove(old)

    def write(self) -> pygit2.Oid:
        for name, folder in self._open.items():
            self._builder.insert(name, folder.write(), _FOLDER)
        return self._builder.write()
