"""Real coding agents drive whole generations, against a scripted model on 127.0.0.1.

The clients are installed once into a cache (`tests/agents/clients.py`), pinned.
"""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents.clients import claude, client_words, codex
from tests.agents.model_server import (
    Asked,
    BreakOff,
    Call,
    Hang,
    ModelServer,
    Refuse,
    Say,
    Step,
)
from tests.app.scripted import Done, Project, alive, finish, until

__all__ = ["claude", "codex"]

REPLIES = {
    "wonder": '{"questions": [], "tensions": []}',
    "reflect": '{"ontology_mutations": [], "criteria": [], "learnings": [], "reasoning": "-"}',
    "evaluate": '{"criteria": [{"id": "ac1", "passed": true, "score": 1, "evidence": "line 1"}]}',
    "review": '{"score": 91, "differences": [], "suggestions": []}',
}


def phase_of(asked: Asked) -> str:
    found = re.findall(r"## This step: (\w+)", asked.text)
    return str(found[-1]).lower() if found else ""


def good(asked: Asked) -> Step:
    """A model that does its work: in execute by a tool call that writes the file."""
    phase = phase_of(asked)
    if phase != "execute":
        return Say(f"Here it is.\n```json\n{REPLIES.get(phase, '{}')}\n```")
    if "function_call_output" in asked.text or "tool_result" in asked.text:
        return Say("Wrote hello.txt.")
    if "/messages" in asked.path:
        return Call("Bash", {"command": "printf hello > hello.txt", "description": "write"})
    return Call("exec_command", {"cmd": "printf hello > hello.txt"})


class Play:
    """A project whose agent is a real client, and the model that it asks."""

    def __init__(self, name: str, program: Path, folder: Path) -> None:
        self.name = name
        self.model: Callable[[Asked], Step] = good
        self.server = ModelServer(script=self._answer)
        self.project = Project(folder)
        self.project.write_seed("hello.txt says hello")
        self._words, self._env = client_words(name, self.server)
        self._env["PATH"] = f"{program.parent}:{os.environ['PATH']}"

    def _answer(self, asked: Asked) -> Step:
        return self.model(asked)

    def words(self, *options: str) -> tuple[str, ...]:
        # claude refuses that to root; codex's own sandbox is not to be had in every container.
        freely = ("--allow-everything",) if self.name == "codex" else ()
        return ("--agent", self.name, *freely, *options, "--", *self._words)

    def step(self, *options: str) -> Done:
        return self.project.step(*self.words(*options), env=self._env)

    def ralph(self, *options: str) -> Done:
        return self.project.ralph(*self.words(*options), env=self._env)

    def start_step(self, *options: str) -> "subprocess.Popen[str]":
        return self.project.start_step(*self.words(*options), env=self._env)


@pytest.fixture(params=["codex", "claude"])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Play]:
    made = Play(request.param, request.getfixturevalue(request.param), tmp_path)
    with made.server:
        yield made


def test_whole_generations_to_converged(play: Play) -> None:
    done = play.ralph()
    assert done.code == 0, done
    last = json.loads(done.out.splitlines()[-1])
    assert (last["action"], last["generation"]) == ("converged", 2)
    assert play.project.show("hello.txt") == "hello"
    executed = play.project.data("execute.completed")[0]
    assert executed["files"] == ["hello.txt"]
    assert executed["usage"]["agent"] == play.name
    assert executed["usage"]["input_tokens"] > 0
    assert {phase_of(asked) for asked in play.server.asked} >= {*REPLIES, "execute"}
    play.project.clean()


def test_a_limit_is_waited_out_and_is_no_failure(play: Play) -> None:
    play.model = lambda asked: Refuse(429, {}, "rate_limit_error", "too many requests")
    done = play.step("--max-failures", "1")
    assert done.code == 75, done
    failed = play.project.data("evolve_step.failed")[0]
    assert (failed["kind"], failed["attempt"]) == ("rate_limited", 0)
    assert failed["retry_at"] > "2026"
    asked = len(play.server.asked)
    assert play.step().code == 75
    assert len(play.server.asked) == asked, "asked again before the time"
    play.model = good
    assert play.project.ouro("retry", "greet").code == 0
    assert play.step().code == 3


def test_a_bad_login_needs_a_person(play: Play) -> None:
    play.model = lambda asked: Refuse(401, {}, "authentication_error", "invalid key")
    done = play.step()
    assert done.code == 12, done
    assert play.project.data("evolve_step.failed")[0]["kind"] == "auth"
    play.model = good
    assert play.step().code == 3


@pytest.mark.parametrize("play", ["codex"], indirect=True)
def test_a_stream_that_breaks_off_is_tried_again(play: Play) -> None:
    play.model = lambda asked: BreakOff("half a sen")
    assert play.step().code == 75
    play.model = good
    assert play.step("--wait").code == 3


@pytest.mark.parametrize("play", ["codex"], indirect=True)
def test_a_hang_is_ended_by_the_idle_limit_and_leaves_no_process(play: Play) -> None:
    play.model = lambda asked: Hang()
    done = play.step("--idle-limit", "4")
    assert done.code == 75, done
    assert play.project.data("evolve_step.failed")[0]["kind"] == "timeout"
    assert not living_marks(play.project)


@pytest.mark.parametrize("play", ["codex"], indirect=True)
def test_ctrl_c_leaves_no_process_of_the_client(play: Play) -> None:
    play.model = lambda asked: Hang()
    step = play.start_step()
    until(lambda: bool(play.server.asked))
    step.send_signal(signal.SIGINT)
    assert finish(step).code == 130
    assert not living_marks(play.project)


def living_marks(project: Project) -> list[int]:
    """Processes that carry this lineage's name in their environment."""
    wanted = f"={project.workspace.parent}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if b"OURO_RUN=" in (said := path.read_bytes()) and wanted in said:
                found.append(int(path.parent.name))
        except OSError:
            continue
    return [pid for pid in found if alive(pid)]
