"""A real repository, a real agent that does as a script says, and the program run on both."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.app.scripted_agent import (
    PATIENCE,
    Agent,
    added,
    as_json,
    modified,
    mutations,
    questions,
    review,
    until,
    verdicts,
)

__all__ = [
    "Agent",
    "Done",
    "Project",
    "added",
    "alive",
    "as_json",
    "finish",
    "git",
    "modified",
    "mutations",
    "put_back",
    "questions",
    "review",
    "start",
    "until",
    "verdicts",
]

ROOT = Path(__file__).parents[2]
RALPH = ROOT / "ralph.sh"


@dataclass(frozen=True)
class Done:
    """How a run of the program ended."""

    code: int
    out: str
    err: str

    @cached_property
    def json(self) -> dict[str, Any]:
        """The one line on stdout; nothing else may stand there."""
        line, newline, rest = self.out.partition("\n")
        assert newline, self
        assert not rest, self
        found: dict[str, Any] = json.loads(line)
        return found

    @property
    def action(self) -> str:
        action: str = self.json["action"]
        return action

    def refused(self, code: int, *said: str) -> None:
        """Refused as people need it: one line and a hint, nothing on stdout, no traceback."""
        assert self.code == code, self
        assert self.out == "", self
        lines = self.err.splitlines()
        assert lines, self
        assert all(line.startswith(("ouro: ", "  hint: ")) for line in lines), self
        assert lines[-1].startswith("  hint: "), self
        for text in said:
            assert text in self.err, self


@dataclass
class Project:
    """A user's repository in `folder`/repo, an agent, and the program."""

    folder: Path
    first_commit: bool = True
    identity: bool = True
    seed: Path = field(init=False)
    root: Path = field(init=False)
    agent: Agent = field(init=False)
    lineage: str = "greet"

    def __post_init__(self) -> None:
        self.root = self.folder / "repo"
        self.seed = self.folder / "seed.yaml"
        self.agent = Agent(self.folder / "agent")
        self.write_seed()
        self.folder.mkdir(exist_ok=True)
        git(self.folder, "init", "-q", "-b", "main", str(self.root))
        if self.identity:
            self.git("config", "user.name", "Ada")
            self.git("config", "user.email", "ada@example.org")
        if self.first_commit:
            (self.root / "README").write_text("A project.\n")
            self.git("add", ".")
            self.git("commit", "-q", "-m", "first")

    # --- the seed

    def write_seed(self, *criteria: str | dict[str, Any], **keys: Any) -> None:
        """A seed whose criteria are `criteria`; by default one that `ok` in the tree passes."""
        named = criteria or ({"description": "It works", "verify_command": "test -e ok"},)
        fields = [{"name": n, "description": f"The {n}"} for n in keys.pop("fields", ("name",))]
        seed = {
            "goal": "Greet people",
            "acceptance_criteria": named,
            "ontology_schema": {"name": "Greeting", "fields": fields},
            **keys,
        }
        self.seed.write_text(json.dumps(seed))  # JSON is YAML, too

    # --- running

    def step(self, *options: str, **how: Any) -> Done:
        """`ouro step --exit-code` with seed and agent."""
        return self.bare_step("--agent", self.agent.line, *options, **how)

    def bare_step(self, *options: str, **how: Any) -> Done:
        """`ouro step --exit-code` with the seed, without an agent."""
        return self.ouro(*self.words("--exit-code", *options), **how)

    def start_step(self, *options: str, **how: Any) -> subprocess.Popen[str]:
        words = self.words("--exit-code", "--agent", self.agent.line, *options)
        return self.start(*words, **how)

    def words(self, *options: str) -> list[str]:
        return ["step", "--lineage-id", self.lineage, "--seed-file", str(self.seed), *options]

    def steps(self, count: int, *options: str) -> list[Done]:
        return [self.step(*options) for _ in range(count)]

    def ouro(self, *words: str, **how: Any) -> Done:
        return finish(self.start(*words, **how))

    def start(
        self,
        *words: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        before: tuple[str, ...] = (),
    ) -> subprocess.Popen[str]:
        return start([*before, sys.executable, "-m", "ouro", *words], cwd or self.root, env or {})

    def ralph(self, *options: str, env: Mapping[str, str] | None = None) -> Done:
        return finish(self.start_ralph(*options, env=env))

    def start_ralph(
        self, *options: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        program = self.folder / "ouro"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ouro "$@"\n')
        program.chmod(0o755)
        words = ["sh", str(RALPH), *self.words("--agent", self.agent.line, *options)[1:]]
        return start(words, self.root, {"OURO": str(program), **(env or {})})

    # --- looking

    def git(self, *words: str, cwd: Path | None = None) -> str:
        return git(cwd or self.root, *words)

    @property
    def branch(self) -> str:
        return f"refs/heads/ooo/{self.lineage}"

    @property
    def workspace(self) -> Path:
        return self.folder / "repo.ouro" / self.lineage

    @property
    def state(self) -> Path:
        return self.root / ".git" / "ouro" / self.lineage

    def tip(self) -> str:
        return self.git("rev-parse", self.branch)

    def events(self) -> list[dict[str, Any]]:
        """The log at the branch's tip."""
        folder = f".ouro/lineages/{self.lineage}/events"
        names = self.git("ls-tree", "--name-only", f"{self.branch}:{folder}").splitlines()
        texts = [self.git("show", f"{self.branch}:{folder}/{name}") for name in names]
        return [json.loads(line) for text in texts for line in text.splitlines()]

    def data(self, kind: str) -> list[dict[str, Any]]:
        """The data of every event of type `kind`, oldest first."""
        return [event["data"] for event in self.events() if event["type"] == kind]

    def types(self) -> list[str]:
        return [event["type"] for event in self.events()]

    def tags(self) -> list[str]:
        prefix = f"refs/tags/ooo/{self.lineage}/"
        listed = self.git("for-each-ref", "--format=%(refname)", "--sort=version:refname", prefix)
        return [name.removeprefix(prefix) for name in listed.splitlines()]

    def rescued(self) -> list[str]:
        prefix = f"refs/ouro/rescue/{self.lineage}/"
        return self.git("for-each-ref", "--format=%(refname)", prefix).splitlines()

    def files(self, revision: str | None = None) -> set[str]:
        """Paths of the code (all but ouro's own) in a commit, by default the tip."""
        names = self.git("ls-tree", "-r", "-z", "--name-only", revision or self.branch).split("\0")
        return {name for name in names if name and not name.startswith(".ouro/")}

    def show(self, path: str) -> str:
        return self.git("show", f"{self.branch}:{path}")

    def clean(self) -> None:
        """The workspace is at the tip, and holds nothing that the tip does not."""
        assert git(self.workspace, "symbolic-ref", "HEAD") == self.branch
        assert git(self.workspace, "status", "--porcelain", "--untracked-files=all") == ""

    def untouched(self) -> dict[str, bytes]:
        """All that is the user's: files, index, stash, HEAD, configuration, branches and tags."""
        common = self.root / ".git"
        files = {str(p): _content(p) for p in self.root.rglob("*") if common not in (p, *p.parents)}
        for name in ("index", "HEAD", "config", "logs/HEAD", "refs/stash", "logs/refs/stash"):
            files[name] = _content(common / name)
        refs = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        ours = ("refs/heads/ooo/", "refs/tags/ooo/", "refs/ouro/")
        files["refs"] = "\n".join(r for r in refs if not r.startswith(ours)).encode()
        return files

    def everything(self) -> dict[str, bytes]:
        """What a refused command must not have changed: refs, worktrees and ouro's folder too."""
        folders = [self.root / ".git" / "ouro", self.folder / "repo.ouro"]
        found = {str(p): b"" for folder in folders for p in folder.rglob("*")}
        worktrees = self.git("worktree", "list", "--porcelain")
        refs = self.git("for-each-ref")
        return self.untouched() | found | {"all": f"{worktrees}\n{refs}".encode()}


def _content(path: Path) -> bytes:
    if path.is_symlink():
        return os.fsencode(path.readlink())
    return path.read_bytes() if path.is_file() else b""


def git(cwd: Path, *words: str) -> str:
    """What git printed, without the last line end; bytes that are no UTF-8 as surrogates."""
    done = subprocess.run(["git", *words], cwd=cwd, capture_output=True)
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr!r}"
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


def start(words: list[str], cwd: Path, env: Mapping[str, str]) -> subprocess.Popen[str]:
    """In a process group of its own, as a terminal starts programs."""
    return subprocess.Popen(
        words,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def finish(process: subprocess.Popen[str]) -> Done:
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert "Traceback" not in err, err
    assert "a bug in ouro" not in err, err
    return Done(process.returncode, out, err)


class Spare:
    """Everything in `folder` as it is now, to be had again in its place: links are absolute."""

    def __init__(self, folder: Path, spare: Path) -> None:
        self._folder, self._spare = folder, spare
        shutil.copytree(folder, spare, symlinks=True)

    def put_back(self) -> None:
        shutil.rmtree(self._folder)
        shutil.copytree(self._spare, self._folder, symlinks=True)


@contextmanager
def put_back(folder: Path, spare: Path) -> Iterator[None]:
    """Whatever is done to `folder` meanwhile is undone."""
    kept = Spare(folder, spare)
    try:
        yield
    finally:
        kept.put_back()


def alive(pid: int) -> bool:
    """Whether a process lives; one that is dead but not yet reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
