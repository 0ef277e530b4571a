"""kill -9 on a rewind, an undo and a fork, before, after and in the middle of every git call."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Project, Spare, git
from tests.crash.shim import Shim

JUMPS = {
    "rewind": ("rewind", "greet", "--to", "1"),
    "undo": ("undo", "greet"),
    "fork": ("fork", "greet", "other", "--at", "2"),
}


class Jumping:
    """A lineage of three generations, one of them rewound, put back before every life."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder / "place")
        for number in (1, 2, 3):
            act = {"write": {f"file{number}": "1", "all": str(number)}}
            self.project.agent.on("execute", act, gen=number)
        self.project.steps(3, "--no-qa")
        assert self.project.ouro("rewind", "greet", "--to", "2").code == 0
        self.spare = Spare(self.project.folder, folder / "spare")
        self.shim = Shim(folder / "shims")

    def run(self, words: tuple[str, ...], at: int, how: str) -> int:
        """The exit code of the jump."""
        return self.project.ouro(*words, env=self.shim.at(at, how)).code

    def outcome(self, lineage: str) -> dict[str, Any]:
        """Everything that the jump leads to, but for ids, times and commits."""
        root = self.project.root
        folder = f"refs/heads/ooo/{lineage}:.ouro/lineages/{lineage}/events/000001.jsonl"
        events = [json.loads(line) for line in git(root, "show", folder).splitlines()]
        said = [(e["seq"], e["type"], e["generation"], e["data"].get("n")) for e in events]
        tags = git(
            root, "for-each-ref", "--format=%(refname) %(*tree)", f"refs/tags/ooo/{lineage}/"
        )
        code = git(root, "ls-tree", "-r", f"refs/heads/ooo/{lineage}").splitlines()
        return {
            "events": said,
            "tags": tags,
            "code": [line for line in code if "\t.ouro/" not in line],
        }

    def check(self) -> None:
        assert git(self.project.root, "fsck", "--strict", "--no-dangling") == ""
        self.project.clean()


@pytest.fixture(scope="module")
def jumping(tmp_path_factory: pytest.TempPathFactory) -> Jumping:
    return Jumping(tmp_path_factory.mktemp("jumping"))


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 21])
@pytest.mark.parametrize("jump", JUMPS)
def test_a_jump_that_was_killed_anywhere_is_done_by_the_next_command(
    jumping: Jumping, jump: str, every: int
) -> None:
    words, lineage = JUMPS[jump], "other" if jump == "fork" else "greet"
    jumping.spare.put_back()
    assert jumping.run(words, 0, "before") == 0
    wanted, calls = jumping.outcome(lineage), jumping.shim.calls()
    points = jumping.shim.points()
    assert len(points) > 10
    for at, how in points[::every]:
        jumping.spare.put_back()
        assert jumping.run(words, at, how) == -9, (at, how)
        where = f"{how} of call {at}: {calls[at - 1]}"
        finish_jump(jumping, jump, words, where)
        assert jumping.outcome(lineage) == wanted, where
        jumping.check()


def finish_jump(jumping: Jumping, jump: str, words: tuple[str, ...], where: str) -> None:
    """What a user does: the same command again, unless its jump is in the log already."""
    project = jumping.project
    if jump == "undo" and project.types()[-1] == "lineage.restored":
        # Another undo would take it back: any command that takes the lock finishes it.
        done = project.ouro("rewind", "greet", "--to", "3")
    elif jump == "fork" and "refs/heads/ooo/other" in project.git("for-each-ref"):
        done = project.ouro("rewind", "other", "--to", "2")
    else:
        done = project.ouro(*words)
    assert done.code == 0, (where, done)


def test_the_shim_sees_every_call(jumping: Jumping) -> None:
    jumping.spare.put_back()
    assert jumping.run(JUMPS["rewind"], 0, "before") == 0
    assert sum("update-ref" in call for call in jumping.shim.calls()) >= 2
