"""The lease on a real remote: one holder at a time, and whoever was overtaken pushes nothing."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouro.errors import NotNow, Overtaken
from ouro.git.lease import Lease
from ouro.git.remote import Line, Refused, Remote, Unreachable, Update
from ouro.git.repository import Repo
from tests.app.scripted import git, until

REF = "refs/ouro/lease/greet"


class Machine:
    """A clone, and the leases that it took, which are let go of at the end."""

    def __init__(self, folder: Path, bare: Path) -> None:
        git(folder.parent, "clone", "-q", str(bare), folder.name)
        self.repo = Repo(folder)
        self.leases: list[Lease] = []

    def lease(self, lifetime: float = 30.0) -> Lease:
        self.leases.append(Lease(self.repo, "greet", Remote(self.repo, "origin", Line(lifetime))))
        return self.leases[-1]

    def commit(self) -> str:
        tree = self.repo.empty_tree()
        return git(Path(self.repo.root), "commit-tree", tree, "-p", "HEAD", "-m", "work")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "bare.git")
    git(tmp_path, "clone", "-q", "bare.git", "first")
    first = tmp_path / "first"
    git(
        first, "-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "1"
    )
    git(first, "push", "-q", "origin", "HEAD:main")
    return tmp_path / "bare.git"


@pytest.fixture
def machines(tmp_path: Path, bare: Path, sealed_home: Path) -> Iterator[tuple[Machine, Machine]]:
    (sealed_home / ".gitconfig").write_text("[user]\n name = a\n email = a\n")
    made = Machine(tmp_path / "a", bare), Machine(tmp_path / "b", bare)
    yield made
    for lease in (*made[0].leases, *made[1].leases):
        lease.stop()


def held(bare: Path) -> str:
    return git(bare, "for-each-ref", "--format=%(objectname)", REF)


def test_one_holds_it_and_gives_it_back(bare: Path, machines: tuple[Machine, Machine]) -> None:
    a, b = machines
    mine = a.lease()
    mine.take(None)
    assert "Ouro-Lease-Lifetime: 30" in git(bare, "log", "-1", "--format=%B", REF)
    with pytest.raises(NotNow, match=r"greet is being worked on at origin by .*, process"):
        b.lease().take(None)
    mine.release()
    assert held(bare) == ""
    theirs = b.lease()
    theirs.take(None)
    theirs.release()
    assert held(bare) == ""


def test_every_push_carries_a_new_lease_the_child_of_the_last(
    bare: Path, machines: tuple[Machine, Machine]
) -> None:
    a, _ = machines
    lease = a.lease()
    lease.take(None)
    before = held(bare)
    lease.push([Update("refs/heads/work", a.commit())])
    assert git(bare, "rev-parse", f"{REF}^") == before
    assert "work" in git(bare, "branch")


def test_it_is_renewed_while_it_is_held(bare: Path, machines: tuple[Machine, Machine]) -> None:
    a, _ = machines
    lease = a.lease(3.0)
    lease.take(None)
    before = held(bare)
    until(lambda: held(bare) != before)
    lease.check()
    lease.release()


def test_a_silent_holder_is_overtaken_and_can_push_nothing(
    bare: Path, machines: tuple[Machine, Machine]
) -> None:
    a, b = machines
    silent = a.lease(1.0)
    silent.take(None)
    silent.stop()
    waits: list[str] = []

    def pause(why: str, seconds: float) -> None:
        waits.append(why)
        time.sleep(seconds)

    b.lease(60.0).take(pause)
    assert waits
    theirs = held(bare)
    with pytest.raises(Overtaken, match=r"another machine took over greet at origin: .*, process"):
        silent.push([Update("refs/heads/work", a.commit())])
    assert held(bare) == theirs
    assert "work" not in git(bare, "branch")


def test_a_step_of_this_clone_that_died_is_overtaken_at_once(
    bare: Path, machines: tuple[Machine, Machine]
) -> None:
    a, _ = machines
    a.lease().take(None)
    a.leases[0].stop()
    again = a.lease()
    again.take(None)
    again.release()


def test_a_lease_that_was_deleted_is_lost(bare: Path, machines: tuple[Machine, Machine]) -> None:
    a, _ = machines
    lease = a.lease(2.0)
    lease.take(None)
    git(bare, "update-ref", "-d", REF)
    until(lambda: lease.lost is not None)
    with pytest.raises(Overtaken, match="it has ended since"):
        lease.check()


def test_a_network_that_comes_back_finds_it_held(
    bare: Path, machines: tuple[Machine, Machine]
) -> None:
    a, _ = machines
    lease = a.lease(3.0)
    lease.take(None)
    bare.rename(bare.with_name("away"))
    with pytest.raises(Unreachable):
        lease.push([Update("refs/heads/work", a.commit())])
    bare.with_name("away").rename(bare)
    lease.check()
    before = held(bare)
    until(lambda: held(bare) != before)
    lease.push([Update("refs/heads/work", a.commit())])
    lease.release()


def test_a_reply_that_is_lost_does_not_lose_the_lease(
    bare: Path, machines: tuple[Machine, Machine]
) -> None:
    a, _ = machines
    lease = a.lease(1.0)
    hook = bare / "hooks" / "post-receive"
    hook.write_text("#!/bin/sh\nexec sleep 20\n")
    hook.chmod(0o755)
    lease.take(None)
    hook.unlink()
    lease.push([Update("refs/heads/work", a.commit())])
    lease.release()


def test_a_remote_that_takes_no_such_ref_says_so(
    bare: Path, machines: tuple[Machine, Machine]
) -> None:
    a, _ = machines
    hook = bare / "hooks" / "update"
    hook.write_text("#!/bin/sh\necho only branches >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(Refused, match="only branches"):
        a.lease().take(None)


def test_a_lease_of_a_stranger_is_waited_for(bare: Path, machines: tuple[Machine, Machine]) -> None:
    a, b = machines
    git(bare, "update-ref", REF, "refs/heads/main")
    with pytest.raises(NotNow, match="by somebody"):
        b.lease().take(None)
    mine = a.lease(1.0)
    mine.take(lambda _why, seconds: time.sleep(seconds))
    mine.release()
