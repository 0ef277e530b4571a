"""A real agent program that does as a script says, and the replies that it gives."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds after which what does not end fails its test."""

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

    def reset(self) -> None:
        """Forget what was said with `on`."""
        self._script = dict(DEFAULTS)
        self._write()

    @property
    def line(self) -> str:
        """The command line for `--agent`."""
        return shlex.quote(str(self.program))

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


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
