"""Everything at once: steps, jumps, looks, gc, packing and pushes, on four lineages.

OURO_STORM_SECONDS=600 pytest -m slow tests/app/test_storm.py
"""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from tests.app.scripted import Done, Project, finish, git, start

SEED = 20
PROCESSES = 8
LINEAGES = ("one", "two", "three", "four")
BUSY = 75
OPTIONS = ("--no-qa", "--freeze-ontology", "--max-generations", "9999", "--max-retries", "9999")

AGENT = r"""#!/bin/sh
cat >/dev/null
mkdir -p d
for n in 1 2 3 4 5 6 7 8; do echo "$OURO_LINEAGE_ID $OURO_GENERATION $$ $n" >d/$n; done
rm -f "d/$((OURO_GENERATION % 8 + 1))"
echo Done.
"""


class Storm:
    """A project, a remote, and what was said to be done: lineage -> commits."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder)
        self.root = self.project.root
        self.project.write_seed({"description": "Never", "verify_command": "false"})
        program = folder / "sh agent"
        program.write_text(AGENT)
        program.chmod(0o755)
        self.agent = shlex.quote(str(program))
        git(folder, "init", "-q", "--bare", "remote.git")
        git(self.root, "remote", "add", "origin", str(folder / "remote.git"))
        self.done: dict[str, list[str]] = {name: [] for name in LINEAGES}
        self.counts: dict[str, int] = {}

    # --- what is done at random

    def rage(self, worker: int, until: float) -> None:
        chance = random.Random(SEED * 100 + worker)
        deeds: list[Callable[[str, random.Random], None]] = [
            self.step, self.step, self.step, self.step, self.rewind, self.undo,
            self.look, self.gc, self.pack, self.push,
        ]  # fmt: skip
        while time.monotonic() < until:
            deed = chance.choice(deeds)
            deed(chance.choice(LINEAGES), chance)
            self.counts[deed.__name__] = self.counts.get(deed.__name__, 0) + 1

    def ouro(self, *words: str) -> Done:
        return self.project.ouro(*words)

    def step(self, lineage: str, _chance: random.Random) -> None:
        words = ("--exit-code", "--seed-file", str(self.project.seed), "--agent", self.agent)
        done = self.ouro("step", "--lineage-id", lineage, *words, *OPTIONS)
        assert done.code in (3, 4, BUSY), done
        if done.code != BUSY:
            self.done[lineage].append(done.json["commit"])

    def rewind(self, lineage: str, chance: random.Random) -> None:
        done = self.ouro("rewind", lineage, "--to", str(chance.randrange(4)), "--json")
        allowed(done, "there is no lineage", "was not completed in")

    def undo(self, lineage: str, _chance: random.Random) -> None:
        done = self.ouro("undo", lineage, "--json")
        allowed(done, "there is no lineage", "there is nothing to undo")

    def look(self, lineage: str, chance: random.Random) -> None:
        words = chance.choice([["status", lineage], ["log", lineage], ["status"], ["list"]])
        done = self.ouro(*words, "--json")
        allowed(done, "there is no lineage")

    def gc(self, _lineage: str, _chance: random.Random) -> None:
        self.git(["gc", "--prune=now", "--quiet"], "gc is already running", ".lock")

    def pack(self, _lineage: str, _chance: random.Random) -> None:
        self.git(["pack-refs", "--all"], ".lock")

    def push(self, lineage: str, _chance: random.Random) -> None:
        refs = f"refs/heads/ooo/{lineage}"
        words = ["push", "--quiet", "origin", f"{refs}:{refs}"]
        self.git(words, "does not match any", "failed to update ref", "cannot lock ref")

    def git(self, words: list[str], *excuses: str) -> None:
        """Plain git; it may say that it, or a ref, is busy, or what it finds is newer."""
        allowed(finish(start(["git", *words], self.root, {})), *excuses)

    # --- what must be true afterwards

    def is_whole(self, lineage: str) -> None:
        git(self.root, "push", "-q", "origin", f"refs/heads/ooo/{lineage}")
        branch = f"refs/heads/ooo/{lineage}"
        commits = git(self.root, "rev-list", "--first-parent", branch).splitlines()
        assert set(self.done[lineage]) <= set(commits)
        logs = {commit: self.log(lineage, commit) for commit in commits}
        ends = set()
        for commit, parent in pairwise(commits):
            line = json.loads(logs[commit].splitlines()[-1])
            if line["type"] in ("lineage.rewound", "lineage.restored"):
                before, _, _ = logs[commit].rstrip(b"\n").rpartition(b"\n")
                assert before + b"\n" == logs[line["data"]["commit"]]
                assert line["data"]["left"] == parent
            else:
                assert logs[commit].startswith(logs[parent])
            if line["type"] == "evolve_step.completed":
                ends.add(commit)
        tags = git(
            self.root, "for-each-ref", "--format=%(*objectname)", f"refs/tags/ooo/{lineage}/"
        )
        assert ends == set(tags.splitlines()), lineage
        workspace = self.project.folder / "repo.ouro" / lineage
        assert git(workspace, "status", "--porcelain") == ""

    def log(self, lineage: str, commit: str) -> bytes:
        folder = f"{commit}:.ouro/lineages/{lineage}/events"
        names = subprocess.run(
            ["git", "ls-tree", "--name-only", folder], cwd=self.root, capture_output=True
        ).stdout.split()
        words = [f"{folder}/{name.decode()}" for name in names]
        shown = [["git", "cat-file", "blob", word] for word in words]
        return b"".join(
            subprocess.run(word, cwd=self.root, capture_output=True, check=True).stdout
            for word in shown
        )


def allowed(done: Done, *excuses: str) -> None:
    """Done, or busy, or refused for one of the reasons that it may have."""
    assert done.code in (0, BUSY) or any(excuse in done.err for excuse in excuses), done


def rages(storm: Storm, seconds: float) -> None:
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(PROCESSES) as pool:
        for worker in [pool.submit(storm.rage, number, until) for number in range(PROCESSES)]:
            worker.result()
    for lineage in LINEAGES:
        storm.step(lineage, random.Random())
        storm.is_whole(lineage)
    said = git(storm.root, "fsck", "--strict", "--no-dangling", "--no-progress")
    assert said == ""
    assert git(storm.root, "status", "--porcelain") == ""
    assert all(storm.done.values()), storm.counts


def test_a_storm(tmp_path: Path) -> None:
    rages(Storm(tmp_path), 10)


@pytest.mark.slow
def test_a_long_storm(tmp_path: Path) -> None:
    rages(Storm(tmp_path), float(os.environ.get("OURO_STORM_SECONDS", "600")))
