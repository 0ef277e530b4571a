"""Moving a working tree from any code to any other: exact, and nothing of the user's is lost."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ouro.errors import OuroError
from ouro.git import checkout
from ouro.git.left_out import Screen
from ouro.git.program import Git
from ouro.git.repository import Repo
from ouro.git.workspace import Workspace

Tree = dict[bytes, tuple[str, bytes]]
"""Path -> (mode, content), as git has them."""

NAMES = st.sampled_from([b"a", b"b", b"c c", b"\xff\xfe", b"new\nline", "ü".encode(), b"-x", b":m"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(b"/".join)
FILES = st.tuples(
    st.sampled_from(["100644", "100755", "120000"]), st.sampled_from([b"", b"1\n", b"2\r\n", b"\0"])
)


def consistent(tree: Tree) -> Tree:
    """Without the files at whose place others need a folder."""
    return {p: f for p, f in tree.items() if not any(q.startswith(p + b"/") for q in tree)}


TREES = st.dictionaries(PATHS, FILES, max_size=8).map(consistent)


class Place:
    """A working tree on `ooo/x`, with commits of any code."""

    def __init__(self, folder: Path, linked: bool) -> None:
        main = folder / "main"
        subprocess.run(["git", "init", "-q", "-b", "main", str(main)], check=True)
        self.repo = Repo(main)
        start = self.commit({})
        self.repo.git.run("update-ref", "refs/heads/ooo/x", start)
        self.root, git_dir = main, main / ".git"
        if linked:
            self.root = folder / "main.ouro" / "x"
            self.repo.git.run("worktree", "add", "-q", str(self.root), "ooo/x")
            git_dir = main / ".git" / "worktrees" / "x"
        self.tree = Workspace(self.repo, "x", self.root, git_dir, linked)
        self.git = Git(git_dir, self.root)
        self.git.run("symbolic-ref", "HEAD", "refs/heads/ooo/x")

    def commit(self, tree: Tree) -> str:
        index = {"GIT_INDEX_FILE": str(self.repo.common / "made")}
        (self.repo.common / "made").unlink(missing_ok=True)
        for path, (mode, content) in {b".ouro/log": ("100644", b"x"), **tree}.items():
            text = b"a" if mode == "120000" and not content.strip(b"\0") else content
            blob = self.repo.git.run("hash-object", "-w", "--stdin", stdin=text).strip()
            line = b"%b %b\t%b\0" % (mode.encode(), blob, path)
            self.repo.git.run("update-index", "-z", "--index-info", stdin=line, variables=index)
        made = self.repo.git.run("write-tree", variables=index).decode().strip()
        who = {f"GIT_{r}_{k}": "x" for r in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")}
        done = self.repo.git.run("commit-tree", made, "-m", "x", variables=who)
        return done.decode().strip()

    def at(self, commit: str) -> None:
        """Put branch and tree there, with nothing else around."""
        for entry in self.root.iterdir():
            if entry.name != ".git":
                shutil.rmtree(
                    entry
                ) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        self.repo.git.run("update-ref", "refs/heads/ooo/x", commit)
        self.git.run("read-tree", "--reset", "-u", commit)

    def files(self) -> Tree:
        """Everything on the disk, links as links."""
        found: Tree = {}
        for file in self.root.rglob("*"):
            name = os.fsencode(file.relative_to(self.root))
            if name == b".git" or name.startswith((b".git/", b".ouro/")):
                continue
            if file.is_symlink():
                found[name] = ("120000", os.fsencode(file.readlink()))
            elif file.is_file():
                mode = "100755" if os.access(file, os.X_OK) else "100644"
                found[name] = (mode, file.read_bytes())
        return found

    def put(self, path: bytes, content: bytes) -> bool:
        """Write a file of the user's where nothing is in its way; whether that was possible."""
        file = self.root / os.fsdecode(path)
        if os.path.lexists(file) or any(
            p.is_symlink() or p.is_file() for p in file.parents if p != self.root
        ):
            return False
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return True


@pytest.fixture(scope="module", params=[True, False], ids=["linked", "own checkout"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("place"), request.param)


def screen(objection: str | None) -> Screen:
    return Screen(objection=lambda path, content: objection, file=10**9, total=10**9)


KEEP_ALL = screen(None)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(TREES, TREES, st.lists(PATHS, max_size=3), st.booleans())
def test_a_move_is_exact_or_refused(
    place: Place, old: Tree, new: Tree, own: list[bytes], ignored: bool
) -> None:
    place.at(place.commit(old))
    before, target = place.commit(old), place.commit(new)
    (place.repo.common / "info").mkdir(exist_ok=True)
    (place.repo.common / "info" / "exclude").write_text("*\n" if ignored else "")
    mine = {path: b"mine" for path in own if place.put(path, b"mine")}
    there, wanted = place.files(), consistent(place_of(new))
    changes = checkout.difference(place.tree, before, target)
    blocking = checkout.in_the_way(place.tree, checkout.arriving(changes))
    if not blocking:
        checkout.refuse_move(place.tree, before, target)
        assert checkout.move(place.tree, before, target, KEEP_ALL) is None
        assert place.files() == wanted | {path: ("100644", text) for path, text in mine.items()}
        return
    assert set(blocking) <= set(mine)
    assert place.files() == there
    saved = checkout.set_aside(place.tree, before, (), blocking, KEEP_ALL)
    for path in blocking:
        held = place.git.run("cat-file", "blob", f"{saved}:{os.fsdecode(path)}")
        assert held == b"mine"
    assert checkout.move(place.tree, before, target, KEEP_ALL) is None
    rest = {path: ("100644", text) for path, text in mine.items() if path not in blocking}
    assert place.files() == wanted | rest


def place_of(tree: Tree) -> Tree:
    """A tree as it is on the disk."""
    return {
        path: (mode, b"a" if mode == "120000" and not content.strip(b"\0") else content)
        for path, (mode, content) in tree.items()
    }


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(TREES, TREES, st.sets(st.integers(0, 20)), st.booleans())
def test_a_move_that_was_cut_off_anywhere_is_finished(
    place: Place, old: Tree, new: Tree, done: set[int], torn: bool
) -> None:
    """git writes one file after the other, and the index last: any of them may be there."""
    place.at(place.commit(old))
    before, target = place.commit(old), place.commit(new)
    (place.repo.common / "info" / "exclude").parent.mkdir(exist_ok=True)
    (place.repo.common / "info" / "exclude").write_text("")
    changes = checkout.difference(place.tree, before, target)
    for number, change in enumerate(changes):
        file = place.root / os.fsdecode(change.path)
        if number in done and change.status == "D":
            file.unlink()
        elif number in done and torn and file.is_file() and not file.is_symlink():
            file.write_bytes(b"half a fi")
    checkout.move(place.tree, before, target, KEEP_ALL)
    assert place.files() == place_of(new)
    assert place.git.run("diff-index", "--cached", "--raw", target) == b""


def test_what_must_not_be_saved_is_not_removed(place: Place) -> None:
    place.at(place.commit({b"a": ("100644", b"1\n")}))
    before = place.commit({b"a": ("100644", b"1\n")})
    place.put(b"b", b"secret")
    with pytest.raises(OuroError, match="must not be saved"):
        checkout.set_aside(place.tree, before, (), [b"b"], screen("a secret"))
    assert (place.root / "b").read_bytes() == b"secret"
