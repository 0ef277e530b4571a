"""kill -9 on a pull, a push, a landing and a gc, around every git call; the same command again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.app.hosts import FOREVER, Host, Net
from tests.app.scripted import Spare, git
from tests.crash.shim import Shim
from tests.samples import sample

LAST = ("--max-generations", "2")


class World(NamedTuple):
    """Two machines: `a` made two generations and pushed them; `b` pulled them."""

    net: Net
    a: Host
    b: Host


class Deed(NamedTuple):
    """What comes before it, whose command it is, its words."""

    prepare: Callable[[World], Host]
    words: tuple[str, ...]


def behind(world: World) -> Host:
    """The other one rewound and went on: branch, moved tags and archived ones are to come."""
    assert world.b.ouro("rewind", "greet", "--to", "1").code == 0
    world.b.step(*FOREVER)
    world.b.push()
    return world.a


def apart(world: World) -> Host:
    """Both went on, and ours further."""
    world.b.step(*FOREVER)
    world.b.push()
    world.a.steps(2, *FOREVER)
    return world.a


def ahead(world: World) -> Host:
    assert world.b.ouro("rewind", "greet", "--to", "1").code == 0
    world.b.step(*FOREVER)
    return world.b


def ended(world: World) -> Host:
    """Nothing more is to be done, and all is pushed."""
    assert world.b.step(*FOREVER, *LAST).action == "exhausted"
    (world.b.root / "mine").write_text("mine\n")
    world.b.git("add", "mine")
    world.b.git("commit", "-q", "-m", "mine")
    world.b.push()
    return world.b


DEEDS = {
    "pull": Deed(behind, ("pull", "origin", "greet")),
    "pull of two histories": Deed(apart, ("pull", "origin", "greet")),
    "push": Deed(ahead, ("push", "origin", "greet")),
    "land": Deed(ended, ("land", "greet")),
    "land by a merge": Deed(ended, ("land", "greet", "--merge")),
    "gc": Deed(ended, ("gc", "greet", "--yes")),
}


class Stage:
    """The world after a deed's preparation, put back before every life."""

    def __init__(self, folder: Path, deed: Deed) -> None:
        (folder / "net").mkdir()
        self.net = Net(folder / "net")
        a, b = self.net.host("a"), self.net.host("b")
        self.net.agent.on("execute", *({"write": {"code": str(n)}} for n in range(1, 9)))
        assert [done.code for done in a.steps(2, *FOREVER)] == [3, 3]
        a.push()
        b.pull()
        self.host, self.words = deed.prepare(World(self.net, a, b)), deed.words
        self.spare = Spare(self.net.folder, folder / "spare")
        self.shim = Shim(folder / "shims")

    def run(self, at: int = 0, how: str = "before") -> int:
        return self.host.ouro(*self.words, env=self.shim.at(at, how)).code

    def outcome(self) -> dict[str, object]:
        """What there is to be seen, but for the times and ids in commits."""
        names = ("for-each-ref", "--format=%(refname) %(contents:subject)")
        refs = ("refs/heads", "refs/tags", "refs/remotes", "refs/ouro/rescue")
        listed = git(self.host.root, *names, *refs).splitlines()
        code = {
            ref: [line for line in git(self.host.root, "ls-tree", "-r", ref).splitlines()
                  if "\t.ouro/" not in line]
            for ref in (line.split(" ")[0] for line in listed)
        }  # fmt: skip
        return {
            "here": listed,
            "code": code,
            "there": git(self.net.bare, *names),
            "history": git(self.host.root, "log", "--format=%s%n%(trailers:key=Ouro-Lineage)"),
            "checkout": git(self.host.root, "status", "--porcelain"),
            "trees": len(git(self.host.root, "worktree", "list").splitlines()),
        }

    def take_back(self, where: str) -> None:
        """As the refusal says of a landing that was killed between git's merge and its commit."""
        done = self.host.ouro(*self.words)
        assert done.code == 1, (where, done)
        way = "git merge --abort" if "middle of a merge" in done.err else "git reset --merge"
        assert way in done.err or "finish or abort it" in done.err, (where, done)
        git(self.host.root, *way.split()[1:])

    def check(self) -> None:
        self.host.sound()
        for name in ("index.lock", "HEAD.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD"):
            assert not (self.host.root / ".git" / name).exists(), name
        done = self.host.ouro("verify", "--all")
        assert done.code == 0, done


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 31])
@pytest.mark.parametrize("deed", sample(DEEDS, "pull", "land"))
def test_who_was_killed_anywhere_does_the_same_again(deed: str, every: int, tmp_path: Path) -> None:
    stage = Stage(tmp_path, DEEDS[deed])
    assert stage.run() == 0
    wanted, calls = stage.outcome(), stage.shim.calls()
    points = stage.shim.points()
    assert len(points) > 10
    stage.check()
    for at, how in points[::every]:
        where = f"{how} of call {at}: {calls[at - 1]}"
        stage.spare.put_back()
        assert stage.run(at, how) == -9, where
        if deed.startswith("land") and git(stage.host.root, "status", "--porcelain"):
            stage.take_back(where)
        assert stage.run() == 0, where
        assert stage.outcome() == wanted, where
        stage.check()
