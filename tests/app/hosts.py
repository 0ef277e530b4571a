"""Several machines on one remote: clones, each with a home of its own, and one bare repository."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.app.scripted import Agent, Done, Project, finish, git

FOREVER = ("--no-qa", "--freeze-ontology", "--max-retries", "99")
"""A lineage whose check never passes goes on until it is exhausted; an agent call a generation."""


@dataclass
class Host(Project):
    """One machine: a clone of the remote `bare` in `folder`/repo."""

    bare: Path = Path()
    shared: Agent | None = None
    depth: int = 0

    def __post_init__(self) -> None:
        assert self.shared is not None
        self.root, self.agent = self.folder / "repo", self.shared
        self.seed = self.shared.folder.parent / "seed.yaml"
        self.folder.mkdir(exist_ok=True)
        (self.folder / "home").mkdir()
        depth = [f"--depth={self.depth}"] if self.depth else []
        git(self.folder, "clone", "-q", *depth, f"file://{self.bare}", "repo")
        self.git("config", "user.name", self.folder.name)
        self.git("config", "user.email", f"{self.folder.name}@example.org")

    def start(self, *words: str, **how: Any) -> subprocess.Popen[str]:
        return super().start(*words, **{**how, "env": self._environment(how.get("env"))})

    def start_ralph(
        self, *options: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        return super().start_ralph(*options, env=self._environment(env))

    def _environment(self, env: Mapping[str, str] | None) -> dict[str, str]:
        return {"HOME": str(self.folder / "home"), **(env or {})}

    def shared_step(self, *options: str, **how: Any) -> Done:
        """`ouro step --remote origin`."""
        return self.step("--remote", "origin", *options, **how)

    def pull(self, *words: str, code: int = 0) -> list[dict[str, Any]]:
        return self._synced(self.ouro("pull", "--json", *words), code)

    def push(self, *words: str, code: int = 0) -> list[dict[str, Any]]:
        return self._synced(self.ouro("push", "--json", *words), code)

    def _synced(self, done: Done, code: int) -> list[dict[str, Any]]:
        assert done.code == code, done
        found: list[dict[str, Any]] = json.loads(done.out)
        return found

    def sound(self) -> None:
        sound(self.root)


@dataclass
class Net:
    """The remote, and what all machines are given alike."""

    folder: Path

    def __post_init__(self) -> None:
        self.home = Project(self.folder / "home")
        self.seed = self.home.seed
        self.bare = self.folder / "bare.git"
        git(self.folder, "clone", "-q", "--bare", str(self.home.root), str(self.bare))
        self.agent = self.home.agent

    def host(self, name: str, depth: int = 0, lineage: str = "greet") -> Host:
        return Host(
            self.folder / name, bare=self.bare, shared=self.agent, depth=depth, lineage=lineage
        )

    def hook(self, name: str, script: str) -> Path:
        """A hook of the remote, in sh."""
        path = self.bare / "hooks" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def refs(self) -> dict[str, str]:
        """Name without `refs/` -> object id, of all refs of the remote."""
        listed = git(self.bare, "for-each-ref", "--format=%(refname:lstrip=1) %(objectname)")
        return dict(line.split(" ") for line in listed.splitlines())

    def types(self, lineage: str = "greet") -> list[str]:
        """The event types of the remote's log."""
        return [event["type"] for event in self.events(lineage)]

    def events(self, lineage: str = "greet") -> list[dict[str, Any]]:
        folder = f"refs/heads/ooo/{lineage}:.ouro/lineages/{lineage}/events"
        names = git(self.bare, "ls-tree", "--name-only", folder).splitlines()
        texts = [git(self.bare, "show", f"{folder}/{name}") for name in names]
        return [json.loads(line) for text in texts for line in text.splitlines()]

    def completed(self, lineage: str = "greet") -> list[int]:
        """The generations that the remote's log completed, in its order."""
        events = self.events(lineage)
        return [e["generation"] for e in events if e["type"] == "evolve_step.completed"]


def sound(repository: Path) -> None:
    """Nothing is missing or broken; what dangles are leases that were given back."""
    done = subprocess.run(
        ["git", "fsck", "--no-dangling"], cwd=repository, capture_output=True, text=True
    )
    assert done.returncode == 0, done
    assert not [line for line in done.stderr.splitlines() if "Checking" not in line], done


def all_of(*processes: subprocess.Popen[str]) -> list[Done]:
    return [finish(process) for process in processes]
