"""Ctrl-C and its kin: the work is saved, nothing goes on, and the next step does."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.app.scripted import Project, alive, finish, until

CHILD = "echo $$ >>pids; exec sleep 600\n"
STUBBORN = "trap '' TERM INT; echo $$ >>pids; while :; do sleep 0.2; done\n"
"""Programs of an agent, run in the test's folder; `pids` tells of them."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def start_something(
    project: Project, program: str, how: str
) -> tuple[subprocess.Popen[str], list[int]]:
    """A step whose agent has begun to write and runs `program` as in `how`; all ids of it."""
    (project.folder / "program").write_text(program)
    run = how.replace("program", f"sh {project.folder}/program")
    act = {"write": {"half": "done"}, "run": f"cd {project.folder}; {run}"}
    project.agent.on("execute", act, gen=1)
    step = project.start_step("--stop-on-pass", "--no-qa")
    pids = project.folder / "pids"
    until(lambda: pids.exists() and len(pids.read_text().split()) == how.count("program"))
    return step, [int(line) for line in pids.read_text().split()]


def test_the_first_ends_everything_in_order(project: Project) -> None:
    step, pids = start_something(project, CHILD, "setsid program & program")
    began = time.monotonic()
    step.send_signal(signal.SIGINT)
    done = finish(step)
    assert time.monotonic() - began < 10
    assert (done.code, done.out) == (130, "")
    assert not any(map(alive, [*pids, *project.agent.pids()]))
    (interrupted,) = project.data("evolve_step.interrupted")
    assert interrupted["phase"] == "execute"
    assert interrupted["rescue"] == "refs/ouro/rescue/greet/1"
    assert project.rescued() == [interrupted["rescue"]]
    assert f"the unfinished work was saved: git show {interrupted['rescue']}" in done.err
    assert project.git("show", "refs/ouro/rescue/greet/1:half") == "done"
    assert project.tags() == []
    assert "evolve_step.failed" not in project.types()
    project.clean()
    assert project.ouro("status", "greet", "--json").json["next"] == "generation 1: execute"
    project.agent.on("execute", {"write": {"ok": "1"}}, gen=1)
    after = project.step("--stop-on-pass", "--no-qa")
    assert (after.code, after.json["generation"]) == (0, 1)
    assert project.files() == {"README", "ok"}


def test_the_second_ends_it_at_once(project: Project) -> None:
    step, pids = start_something(project, STUBBORN, "setsid program & program")
    step.send_signal(signal.SIGINT)
    time.sleep(0.7)  # sooner it would count as the same keystroke
    assert step.poll() is None
    began = time.monotonic()
    step.send_signal(signal.SIGINT)
    assert finish(step).code == 130
    assert time.monotonic() - began < 2
    assert "evolve_step.interrupted" not in project.types()
    # It had no time for its duties; the next step does them.
    project.agent.on("execute", {"write": {"ok": "1"}}, gen=1)
    after = project.step("--stop-on-pass", "--no-qa")
    assert after.code == 0
    assert not any(map(alive, pids))
    assert project.data("evolve_step.interrupted")[0]["rescue"] in project.rescued()
    project.clean()


def test_an_agent_that_will_not_end(project: Project) -> None:
    """TERM, then KILL; and one keystroke that arrives twice is one."""
    step, (pid,) = start_something(project, STUBBORN, "program")
    step.send_signal(signal.SIGINT)
    time.sleep(0.1)
    step.send_signal(signal.SIGTERM)
    done = finish(step)
    assert done.code == 130
    assert not alive(pid)
    assert project.types()[-1] == "evolve_step.interrupted"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGHUP])
def test_the_loops_whole_group(project: Project, sent: signal.Signals) -> None:
    """As a terminal sends it: to the loop and the step at the same time."""
    project.agent.on("execute", {"write": {"half": "done"}, "sleep": 60})
    loop = project.start_ralph("--no-qa")
    project.agent.wait_for(1)
    until((project.workspace / "half").exists)
    began = time.monotonic()
    os.killpg(loop.pid, sent)
    done = finish(loop)
    assert time.monotonic() - began < 10
    assert (done.code, done.out) == (128 + sent, "")
    assert project.types() == ["lineage.created", "evolve_step.interrupted"]
    assert project.git("show", f"{project.rescued()[0]}:half") == "done"
    assert not alive(project.agent.pids()[0])


def test_while_a_check_runs(project: Project) -> None:
    """What is in the log already is not done again."""
    stop = project.folder / "stop"
    check = f"touch {project.folder}/began; while test -e {stop}; do sleep 0.05; done"
    project.write_seed({"description": "It works", "verify_command": check})
    stop.touch()
    step = project.start_step("--stop-on-pass", "--no-qa")
    until((project.folder / "began").exists)
    step.send_signal(signal.SIGTERM)
    assert finish(step).code == 143
    assert project.types() == [
        "lineage.created",
        "execute.completed",
        "evolve_step.interrupted",
    ]
    assert project.data("evolve_step.interrupted")[0] == {"phase": "evaluate", "rescue": None}
    stop.unlink()
    assert project.step("--stop-on-pass", "--no-qa").code == 0
    assert project.agent.calls() == ["1/execute"]


def test_while_it_waits(project: Project) -> None:
    """For the lock or for the end of a pause: it ends at once, and nothing has happened."""
    project.agent.on("execute", {"exit": 1}, {"sleep": 60})
    assert project.step("--no-qa").code == 75
    working = project.start_step("--wait")
    project.agent.wait_for(2)
    tip = project.tip()
    waiting = project.start_step("--wait")
    time.sleep(1.5)
    waiting.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert finish(waiting).code == 130
    assert time.monotonic() - began < 2
    assert project.tip() == tip
    working.send_signal(signal.SIGINT)
    assert finish(working).code == 130


def test_under_nohup_a_hangup_is_nothing(project: Project) -> None:
    hook = f"until test -e {project.folder}/go; do sleep 0.05; done"
    project.agent.on("execute", {"write": {"ok": "1"}, "run": hook})
    step = project.start_step("--stop-on-pass", "--no-qa", before=("nohup",))
    project.agent.wait_for(1)
    step.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    (project.folder / "go").touch()
    assert finish(step).code == 0
