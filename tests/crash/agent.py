"""The agent of the crash tests: a program that counts its calls and outlives the step.

Nothing it does depends on anything but generation and phase. Where it is told to, it kills the
step that started it, and lives on with a child of its own, both writing into the workspace, until
somebody ends them.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

STAND = Path(os.environ["STAND"])
GIT = os.environ["STAND_GIT"]
GENERATION, PHASE = int(os.environ["OURO_GENERATION"]), os.environ["OURO_PHASE"]
KIND, _, POINT = os.environ.get("STAND_POINT", "").partition(":")

APPROVED_FROM = 4
"""The generation whose work meets the check; the two before leave the ontology alone."""
COMMITS_ITSELF = 3
LIFE = 60.0
"""Seconds that it lives on at most: whoever lets it, waits in vain."""


def main() -> None:
    append("calls", f"{GENERATION} {PHASE} {os.environ['OURO_RUN']}")
    guard = alone_here()
    refuse_what_is_committed()
    sys.stdin.read()
    reached("before")
    reply = WORK[PHASE]()
    sys.stdout.write(reply if isinstance(reply, str) else json.dumps(reply))
    sys.stdout.flush()
    reached("after")
    os.close(guard)


def append(name: str, line: str) -> None:
    descriptor = os.open(STAND / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


def fault(text: str) -> None:
    append("faults", f"generation {GENERATION}, {PHASE}: {text}")
    raise SystemExit(99)


def alone_here() -> int:
    """Hold this workspace's guard, as every agent and its children do as long as they live."""
    guard = os.open(STAND / f"guard.{Path.cwd().name}", os.O_RDWR | os.O_CREAT)
    # A process that is going away shows no environment any more a moment before its files close.
    deadline = time.monotonic() + 0.2
    while True:
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return guard
        except BlockingIOError:
            if time.monotonic() > deadline:
                fault("another agent is alive in this workspace")
        time.sleep(0.01)


def refuse_what_is_committed() -> None:
    log = os.environ["STAND_LOG"]
    said = subprocess.run([GIT, "cat-file", "blob", log], cwd=STAND, capture_output=True)
    events = [json.loads(line) for line in said.stdout.splitlines()]
    if (GENERATION, f"{PHASE}.completed") in [(e["generation"], e["type"]) for e in events]:
        fault("called although the result is committed")


# --- outliving the step ------------------------------------------------------------------------


def reached(moment: str) -> None:
    if KIND == "agent" and POINT.removesuffix(" deaf") == f"{PHASE}/{moment}":
        os.kill(os.getppid(), signal.SIGKILL)
        live_on(deaf=POINT.endswith(" deaf"))


def live_on(*, deaf: bool) -> None:
    if deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        os.setsid()
    end = time.monotonic() + LIFE
    while time.monotonic() < end:
        with Path(f"late_{'parent' if child else 'child'}.txt").open("a") as file:
            file.write("still here\n")
        time.sleep(0.02)
    fault("nobody ended it")


# --- its work ----------------------------------------------------------------------------------


def stray() -> None:
    """What an agent that is only to think should leave alone."""
    Path(f"stray_{PHASE}.txt").write_text("not asked for\n")
    reached("middle")


def wonder() -> Any:
    stray()
    question = {"question": f"What does part {GENERATION} rest on?", "criteria": ["ac1"]}
    return {"questions": [question | {"subject": f"part {GENERATION}"}], "tensions": []}


def reflect() -> Any:
    stray()
    field = {"name": "origin", "field_type": "string", "description": "Where the answer is from"}
    added = [field | {"action": "add"}] if GENERATION == APPROVED_FROM else []
    learnings = [f"part {GENERATION} stands by itself"]
    return {"ontology_mutations": added, "learnings": learnings, "reasoning": "step by step"}


def execute() -> Any:
    Path(f"gen_{GENERATION}.txt").write_text(f"part {GENERATION}\n")
    Path("src").mkdir(exist_ok=True)
    with Path("src/history.txt").open("a") as file:
        file.write(f"generation {GENERATION}\n")
    if GENERATION == COMMITS_ITSELF:
        commit()
    reached("middle")
    answer = 42 if GENERATION >= APPROVED_FROM else GENERATION
    Path("answer.txt").write_text(f"{answer}\n")
    return f"wrote part {GENERATION}"


def commit() -> None:
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2030-01-01T00:00:00Z")
    who = ("-c", "user.name=agent", "-c", "user.email=agent@localhost")
    for words in (["add", "-A"], [*who, "commit", "-q", "-m", "the agent's own"]):
        subprocess.run([GIT, *words], env={**os.environ, **dates}, check=True)


def evaluate() -> Any:
    stray()
    return {"criteria": [{"id": "ac2", "passed": True, "score": 0.9, "evidence": "read it"}]}


def qa() -> Any:
    stray()
    return {"score": 95 if GENERATION >= APPROVED_FROM else 50, "differences": []}


WORK = {
    "wonder": wonder,
    "reflect": reflect,
    "execute": execute,
    "evaluate": evaluate,
    "qa": qa,
}

if __name__ == "__main__":
    main()
