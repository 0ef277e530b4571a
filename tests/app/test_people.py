"""People in the loop: notes reach the log once and every later prompt, a loop can be asked to stop,
a pause can be ended."""

import json
import os
import signal

import pytest

from tests.app.scripted import Project, finish, until


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("people"))


def notes(project: Project) -> list[str]:
    return [data["text"] for data in project.data("note.added")]


def test_a_note_is_in_the_log_once_and_in_every_later_prompt(project: Project) -> None:
    assert project.step().code == 3
    said = project.ouro("note", "greet", "mind the $gap, `please`\n")
    assert (said.code, said.out) == (0, "")
    assert notes(project) == []
    assert [one.code for one in project.steps(2)] == [3, 4]
    assert notes(project) == ["mind the $gap, `please`"]
    assert not list((project.state / "notes").glob("*"))
    with_note = [p for p in project.agent.prompts() if "mind the $gap, `please`" in p]
    assert len(with_note) == len(project.agent.prompts()) - 2


@pytest.mark.slow
def test_a_note_that_was_committed_by_a_step_that_died_is_not_committed_again(
    project: Project,
) -> None:
    project.step()
    project.ouro("note", "greet", "once")
    (queued,) = (project.state / "notes").glob("*.txt")
    content = queued.read_bytes()
    project.step()
    queued.write_bytes(content)
    project.step()
    assert notes(project) == ["once"]
    assert not queued.exists()


def test_a_note_for_nobody_is_refused(project: Project) -> None:
    project.step()
    project.ouro("note", "other", "x").refused(1, "no lineage other", "greet")
    project.ouro("note", "greet", " ").refused(2, "empty")


def test_stop_ends_a_loop_after_its_generation_with_15(project: Project) -> None:
    project.agent.on("execute", {"sleep": 1.5, "write": {"x": "1"}})
    loop = project.start_ralph()
    project.agent.wait_for(1)
    said = project.ouro("stop", "greet")
    assert said.code == 0
    assert f"of the loop {loop.pid}" in said.out
    done = finish(loop)
    assert done.code == 15
    assert len(project.tags()) == 1
    assert not (project.state / "stop").exists()
    assert "nothing of greet runs here" in project.ouro("stop", "greet").out
    assert project.step().code in (0, 3)


def test_stop_ends_a_step_that_waits_out_a_pause(project: Project) -> None:
    project.agent.on("execute", {"exit": 1})
    assert project.step().code == 75
    assert project.step("--wait").code == 75
    waiting = project.start_step("--wait")
    until(lambda: json.loads((project.state / "holder.json").read_bytes())["pid"] == waiting.pid)
    project.ouro("stop", "greet")
    done = finish(waiting)
    assert done.code == 15
    assert done.json["action"] == "failed"


def test_a_request_for_a_step_that_is_gone_stops_nobody(project: Project) -> None:
    project.agent.on("execute", {"sleep": 30}, gen=1)
    step = project.start_step()
    project.agent.wait_for(1)
    project.ouro("stop", "greet")
    os.kill(step.pid, signal.SIGKILL)
    step.communicate()
    project.agent.on("execute", {"write": {"x": "1"}}, gen=1)
    assert project.step().code == 3


def test_retry_ends_a_pause_and_the_log_says_so(project: Project) -> None:
    project.agent.on("execute", {"exit": 1})
    assert project.step().code == 75
    assert project.step("--wait").code == 75  # the pause after the second failure is 8 s
    assert project.step().code == 75
    assert len(project.agent.calls()) == 2
    assert "ended the pause" in project.ouro("retry", "greet").out
    assert project.types()[-1] == "pause.cleared"
    project.agent.on("execute", {"write": {"x": "1"}})
    assert project.step().code == 3
    assert "not paused" in project.ouro("retry", "greet").out


def test_a_note_to_a_lineage_that_has_ended_waits_and_adds_no_event(project: Project) -> None:
    project.agent.on("execute", {"write": {"ok": "1"}})
    assert project.step("--stop-on-pass").code == 0
    before = project.events()
    project.ouro("note", "greet", "later")
    assert project.step().code == 0
    assert project.events() == before
    assert project.step("--no-stop-on-pass").code == 0
    assert notes(project) == ["later"]
