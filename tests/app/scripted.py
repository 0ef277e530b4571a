"""A real agent program that does as a script says, and a real repository to run it in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RALPH = ROOT / "ralph.sh"
PATIENCE = 60.0
"""Seconds after which a step that does not end fails its test."""

# It says that it was called before it does anything else: what is not in `calls` did not run.
AGENT = r"""#!{python} -IS
import os, signal, sys, time
folder = {folder!r}
generation, phase = os.environ["OURO_GENERATION"], os.environ["OURO_PHASE"]
line = " ".join((generation, phase, os.environ["OURO_LINEAGE_ID"], str(os.getpid())))
calls = os.open(folder + "/calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(calls, (line + "\n").encode())
import json, subprocess
prompt = sys.stdin.buffer.read()
with open(f"{{folder}}/prompts/{{generation}}-{{phase}}-{{os.getpid()}}", "wb") as file:
    file.write(prompt)
with open(folder + "/environment", "w") as file:
    json.dump(dict(os.environ), file)
with open(folder + "/script.json") as file:
    script = json.load(file)
with open(folder + "/calls") as file:
    before = sum(earlier.split()[:2] == [generation, phase] for earlier in file) - 1
acts = script.get(f"{{generation}}/{{phase}}") or script.get(phase) or [{{}}]
act = acts[min(before, len(acts) - 1)]
for name, text in act.get("write", {{}}).items():
    os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
    with open(name, "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
for name in act.get("delete", []):
    os.unlink(name)
if "run" in act:
    subprocess.run(["sh", "-ec", act["run"]], check=True, stdout=sys.stderr)
reply = act.get("reply", "Done.")
sys.stdout.buffer.write(reply.encode("utf-8", "surrogateescape"))
sys.stdout.flush()
if "flood" in act:
    for _ in range(act["flood"]):
        sys.stdout.buffer.write(b"y" * 1048575 + b"\n")
    sys.stdout.buffer.write(reply.encode())
    sys.stdout.flush()
time.sleep(act.get("sleep", 0))
if "signal" in act:
    os.kill(os.getpid(), act["signal"])
sys.stderr.write(act.get("stderr", ""))
sys.exit(act.get("exit", 0))
"""


def as_json(value: object) -> str:
    """A reply as agents give it: some prose, and the JSON in a fence."""
    return f"Here it is.\n\n```json\n{json.dumps(value)}\n```\n"


def questions(*subjects: str, criteria: Iterable[str] = ("ac1",)) -> str:
    asked = [{"question": f"What of {s}?", "criteria": [*criteria], "subject": s} for s in subjects]
    return as_json({"questions": asked, "tensions": []})


def mutations(*changes: Mapping[str, str], **more: object) -> str:
    return as_json({"ontology_mutations": [*changes], **more})


def added(name: str, description: str = "") -> dict[str, str]:
    return {"action": "add", "name": name, "description": description or f"All about {name}"}


def modified(name: str, description: str) -> dict[str, str]:
    return {"action": "modify", "name": name, "description": description}


def verdicts(**scores: float | bool) -> str:
    """A verdict on each criterion: True and False, or a score that passes from 0.8 on."""
    given = [
        {"id": name, "passed": score >= 0.8, "score": float(score), "evidence": f"seen: {name}"}
        for name, score in scores.items()
    ]
    return as_json({"criteria": given})


def review(score: float) -> str:
    return as_json({"score": score, "differences": ["one"], "suggestions": ["mend it"]})


DEFAULTS: dict[str, list[dict[str, Any]]] = {
    "wonder": [{"reply": as_json({"questions": []})}],
    "reflect": [{"reply": mutations()}],
    "execute": [{"reply": "Done."}],
    "evaluate": [{"reply": verdicts(ac1=True)}],
    "qa": [{"reply": review(90)}],
}


class Agent:
    """The program's script. What `on` does not mention is a call that succeeds and does nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "scripted"
        self._script: dict[str, list[dict[str, Any]]] = dict(DEFAULTS)
        (folder / "prompts").mkdir(parents=True)
        self.program.write_text(AGENT.format(python=sys.executable, folder=str(folder)))
        self.program.chmod(0o755)
        self._write()

    def on(self, phase: str, *acts: str | dict[str, Any], gen: int | None = None) -> Agent:
        """What the calls of `phase` (in generation `gen` only, where given) do, one after the
        other, the last again and again. A text is a reply; keys of an act: reply, write, delete,
        run (by the shell), flood (MiB), sleep, signal, stderr, exit."""
        key = phase if gen is None else f"{gen}/{phase}"
        self._script[key] = [{"reply": act} if isinstance(act, str) else act for act in acts]
        self._write()
        return self

    def _write(self) -> None:
        new = self.folder / "script.new"
        new.write_text(json.dumps(self._script))
        new.replace(self.folder / "script.json")

    def calls(self, lineage: str | None = None) -> list[str]:
        """`<generation>/<phase>` of every call so far, in order."""
        lines = [line.split() for line in self._lines()]
        return [f"{line[0]}/{line[1]}" for line in lines if lineage in (None, line[2])]

    def pids(self) -> list[int]:
        return [int(line.split()[3]) for line in self._lines()]

    def _lines(self) -> list[str]:
        calls = self.folder / "calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def prompts(self, start: str = "") -> list[str]:
        """The prompts of all calls whose `<generation>-<phase>` begins with `start`."""
        found = sorted((self.folder / "prompts").glob(f"{start}*"), key=lambda p: p.stat().st_mtime)
        return [path.read_bytes().decode() for path in found]

    def environment(self) -> dict[str, str]:
        """The environment of the newest call."""
        found: dict[str, str] = json.loads((self.folder / "environment").read_text())
        return found

    def wait_for(self, count: int) -> None:
        """Until so many calls were made and the last of them has read its prompt."""
        until(lambda: len(list((self.folder / "prompts").iterdir())) >= count)


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
        return self.bare_step("--agent", str(self.agent.program), *options, **how)

    def bare_step(self, *options: str, **how: Any) -> Done:
        """`ouro step --exit-code` with the seed, without an agent."""
        return self.ouro(*self._words("--exit-code", *options), **how)

    def start_step(self, *options: str, **how: Any) -> subprocess.Popen[str]:
        words = self._words("--exit-code", "--agent", str(self.agent.program), *options)
        return self.start(*words, **how)

    def _words(self, *options: str) -> list[str]:
        return ["step", "--lineage-id", self.lineage, "--seed-file", str(self.seed), *options]

    def steps(self, count: int, *options: str) -> list[Done]:
        return [self.step(*options) for _ in range(count)]

    def ouro(self, *words: str, **how: Any) -> Done:
        return finish(self.start(*words, **how))

    def start(
        self, *words: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        return start([sys.executable, "-m", "ouro", *words], cwd or self.root, env or {})

    def ralph(self, *options: str, env: Mapping[str, str] | None = None) -> Done:
        return finish(self.start_ralph(*options, env=env))

    def start_ralph(
        self, *options: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        program = self.folder / "ouro"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ouro "$@"\n')
        program.chmod(0o755)
        words = ["sh", str(RALPH), *self._words("--agent", str(self.agent.program), *options)[1:]]
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
    done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
    return done.stdout.rstrip("\n")


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


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    """Whether a process lives; one that is dead but not yet reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def lines_of(path: Path) -> Iterator[str]:
    yield from path.read_text().splitlines() if path.exists() else ()
