"""The repository that ouro works on: where it is, who commits, and its objects."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ouro.errors import OuroError
from ouro.git.program import Git

if TYPE_CHECKING:
    import pygit2

OURO_FOLDER = ".ouro"
NOBODY = ("ouro", "ouro@localhost")
"""Who commits where git knows no identity."""


class Repo:
    """One repository, found from any folder in one of its work trees or from its git folder.

    `common` is the git folder that all its work trees share, `here` the work tree that was stood
    in (None in a bare repository), `main` the main work tree's top (None where there is none).
    """

    def __init__(self, path: Path) -> None:
        import pygit2

        if not path.is_dir():
            raise OuroError(f"{path}: no such folder", "give --project-dir a git repository")
        _refuse_unwritable_name(path.resolve())
        try:
            found = pygit2.discover_repository(str(path.absolute()))
            if found is None:
                raise OuroError(
                    f"{path}: not in a git repository", f"make one there: git init {path}"
                )
            self.handle = pygit2.Repository(found)
        except pygit2.GitError as problem:
            raise _cannot_open(path, str(problem)) from problem
        self._settle_durability()
        self.git_dir = Path(found)
        self.common = _common_dir(self.git_dir)
        self.here = Path(self.handle.workdir) if self.handle.workdir else None
        self.main = self._main_work_tree()
        self.git = Git(self.common)

    @staticmethod
    def _settle_durability() -> None:
        import pygit2

        # libgit2 syncs nothing by default; a power cut could then leave a ref to a missing object.
        pygit2.settings.enable_fsync_gitdir(True)

    def _main_work_tree(self) -> Path | None:
        import pygit2

        if self.git_dir == self.common:
            return self.here
        workdir = pygit2.Repository(str(self.common)).workdir
        return Path(workdir) if workdir else None

    @property
    def root(self) -> Path:
        """Where the repository's own files for ouro (`ouro.yaml`) lie."""
        return self.here or self.common

    @cached_property
    def identity(self) -> tuple[str, str]:
        """Name and address for commits: git's own answer, which libgit2 does not always share."""
        said = self.git.attempt("var", "GIT_COMMITTER_IDENT")
        name, _, rest = said.stdout.decode("utf-8", "replace").partition(" <")
        address, _, _ = rest.partition(">")
        return (name, address) if said.returncode == 0 and name and address else NOBODY

    @property
    def anonymous(self) -> bool:
        return self.identity == NOBODY

    def signature(self) -> pygit2.Signature:
        import pygit2

        now = time.time()
        offset = time.localtime(now).tm_gmtoff // 60
        return pygit2.Signature(*self.identity, int(now), offset)

    def state_folder(self, lineage_id: str) -> Path:
        """Where lock, marker and kept output of a lineage lie; shared by all work trees."""
        return self.common / "ouro" / lineage_id

    # --- refs and objects ------------------------------------------------------------------

    def ref(self, name: str) -> str | None:
        """The object id that a full ref name points to, None where there is no such ref."""
        try:
            return str(self.handle.lookup_reference(name).resolve().target)
        except KeyError:
            return None

    def is_symbolic(self, name: str) -> bool:
        """Whether the ref stands for another one."""
        ref = self.handle.references.get(name)
        return ref is not None and isinstance(ref.raw_target, str)

    def refs(self, prefix: str) -> dict[str, str]:
        """Full name -> object id, of all refs that begin with `prefix`."""
        names = self.handle.references.iterator()
        return {r.name: str(r.target) for r in names if r.name.startswith(prefix)}

    def refs_holding(self, commit_id: str) -> list[str]:
        """Full names of the branches, remote-tracking ones too, in whose history a commit is."""
        listed = self.git.run(
            "for-each-ref", "--format=%(refname)", "--contains", commit_id,
            "refs/heads/", "refs/remotes/",
        )  # fmt: skip
        return listed.decode("utf-8", "replace").splitlines()

    def delete_ref(self, name: str, old: str) -> None:
        """Delete a ref that still names `old`; raises GitFailed otherwise."""
        self.git.run("update-ref", "-d", name, old)

    def commit(self, revision: str) -> pygit2.Commit:
        import pygit2

        found = self.handle.get(revision)
        if found is None:
            raise OuroError(
                f"the object {revision} is missing from the repository",
                "git fsck tells more; in a shallow or partial clone: fetch it",
            )
        return found.peel(pygit2.Commit)

    def tree(self, tree_id: str) -> pygit2.Tree:
        import pygit2

        return self.handle[tree_id].peel(pygit2.Tree)

    def blob(self, blob_id: str) -> bytes:
        import pygit2

        return self.handle[blob_id].peel(pygit2.Blob).data

    def new_objects(self, tip: str, known: str) -> Iterator[bytes]:
        """The contents of commits and files that are in the history of `tip` and not of `known`."""
        import pygit2
        from pygit2.enums import ObjectType

        listed = self.git.run("rev-list", "--objects", "--no-object-names", tip, f"^{known}")
        for object_id in listed.decode().split():
            found = self.handle[object_id]
            if found.type == ObjectType.BLOB:
                yield found.peel(pygit2.Blob).data
            elif found.type == ObjectType.COMMIT:
                yield found.peel(pygit2.Commit).message.encode()

    def resolve_commit(self, revision: str) -> str:
        """The commit id that a name as git's users write it (`main`, `HEAD~2`) stands for."""
        said = self.git_here().attempt(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
        if said.returncode != 0:
            raise OuroError(f"{revision!r} names no commit here", "see: git log --oneline --all")
        return said.stdout.decode().strip()

    def git_here(self) -> Git:
        return Git(self.git_dir, self.here)

    def head(self) -> str | None:
        """The commit that HEAD names where the user stands; None while it is unborn."""
        return None if self.handle.head_is_unborn else str(self.handle.head.target)

    def branch(self) -> str | None:
        """The full name of the branch that is checked out where the user stands."""
        said = self.git_here().attempt("symbolic-ref", "--quiet", "HEAD")
        return said.stdout.decode().strip() or None

    def branch_tip(self, ref: str) -> str | None:
        """The commit of a branch by its full name, whatever a user gave for one; None where there
        is no such branch, or it has no commit yet."""
        said = self.git.attempt("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        return said.stdout.decode().strip() or None

    def has(self, object_id: str) -> bool:
        return self.handle.get(object_id) is not None

    def code_difference(self, old: str, new: str) -> int:
        """How many files of the code differ between two commits or trees."""
        listed = self.git.run(
            "diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new, "--",
            ".", f":(exclude){OURO_FOLDER}",
        )  # fmt: skip
        return listed.count(b"\0")

    def code_tree_id(self, commit_id: str) -> str:
        """The id that the commit's tree has without ouro's own folder, and nothing is written: the
        repository may be read-only, and there need not be such a tree in it."""
        return code_id(self.commit(commit_id).tree)

    def code_tree(self, commit_id: str) -> str:
        """The same id, of a tree that is in the repository afterwards."""
        builder = self.handle.TreeBuilder(self.commit(commit_id).tree)
        if builder.get(OURO_FOLDER) is not None:
            builder.remove(OURO_FOLDER)
        return str(builder.write())

    def descends(self, commit_id: str, ancestor: str) -> bool:
        """Whether `ancestor` is in the history of `commit_id`, or is it."""
        return commit_id == ancestor or self.handle.descendant_of(commit_id, ancestor)

    def holds(self, commit_id: str, path: str) -> bool:
        """Whether the commit's tree has a file or folder at `path`. A link counts as what it leads
        to, so one that leads out of the tree does not."""
        path = path.strip("/")
        if path not in self.commit(commit_id).tree:
            return False
        asked = f"{commit_id}:{path}\n".encode()
        said = self.git.run("cat-file", "--batch-check=found", "--follow-symlinks", stdin=asked)
        return said == b"found\n"

    def empty_tree(self) -> str:
        return str(self.handle.TreeBuilder().write())

    def fingerprint(self) -> str:
        """A short name for this repository's place on the disk."""
        return hashlib.sha256(str(self.common.resolve()).encode()).hexdigest()[:8]


def _refuse_unwritable_name(path: Path) -> None:
    """A path that is no text could stand in no message, and in no file that a step leaves."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise OuroError(f"the path {str(path)!a} is not UTF-8", "rename that folder") from None


def code_id(tree: pygit2.Tree) -> str:
    """The id that `tree` has without ouro's own folder."""
    kept = [e for e in tree if e.name != OURO_FOLDER]
    content = b"".join(b"%o %b\0%b" % (e.filemode, e.raw_name or b"", e.id.raw) for e in kept)
    return hashlib.sha1(b"tree %d\0%b" % (len(content), content)).hexdigest()


def blob_id(content: bytes) -> str:
    """The id that git gives to `content` as a blob."""
    import pygit2

    return str(pygit2.hash(content))


def _common_dir(git_dir: Path) -> Path:
    pointer = git_dir / "commondir"
    if not pointer.is_file():
        return git_dir
    return (git_dir / pointer.read_text().strip()).resolve()


def _cannot_open(path: Path, said: str) -> OuroError:
    if "not owned" in said:
        return OuroError(
            f"{path}: the repository belongs to another user",
            f"if you trust it: git config --global --add safe.directory {path.resolve()}",
        )
    return OuroError(
        f"{path}: cannot open the repository: {said}",
        "ouro reads repositories with SHA-1 objects and the files ref backend",
    )
