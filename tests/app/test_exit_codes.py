"""Exit codes, as scripts see them: each row of the table, from the step and from the loop."""

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Project, finish

PASSES: dict[str, Any] = {"write": {"ok": "1"}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# --- ouro step


def test_decisions(project: Project) -> None:
    """Without `--exit-code` whatever was decided is a success, as with `git diff`."""
    options = ("--freeze-ontology", "--no-qa")
    assert [one.code for one in project.steps(3, *options)] == [3, 3, 4]
    plain = ("step", "--lineage-id", "greet", "--agent", project.agent.line)
    for asked, code, action in (
        (("--max-retries", "0"), 10, "stagnated"),
        (("--max-retries", "2", "--max-generations", "3"), 11, "exhausted"),
    ):
        done = project.step(*asked)
        assert (done.code, done.action) == (code, action)
        assert done.json["next_generation"] is None
        assert project.ouro(*plain).code == 0
    project.agent.on("execute", PASSES)
    done = project.ouro(*plain, "--max-generations", "5")
    assert (done.code, done.action) == (0, "converged")
    assert project.step().code == 0
    assert project.agent.calls() == [f"{n}/execute" for n in (1, 2, 3, 4)]


def test_an_error_of_its_own(project: Project) -> None:
    done = project.step(cwd=project.folder)
    done.refused(1, "not in a git repository", "git init")


@pytest.mark.parametrize(
    "words",
    [
        ["--no-such-option"],
        ["--max-retries", "two"],
        ["--max-generations", "0"],
        ["--threshold", "1.5"],
        ["--seed-file", "/no/where.yaml"],
    ],
    ids=" ".join,
)
def test_wrong_usage(project: Project, words: list[str]) -> None:
    before = project.everything()
    done = project.step(*words)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) <= 4
    assert project.everything() == before


@pytest.mark.parametrize("name", ["", "A", "a.b", "a/b", "con", "x" * 65, "-x"])
def test_a_lineage_id_that_cannot_be_one(project: Project, name: str) -> None:
    before = project.everything()
    done = project.ouro("step", f"--lineage-id={name}", "--seed-file", str(project.seed))
    done.refused(2, "cannot name a lineage", "a-z 0-9 _ -")
    assert project.everything() == before


def test_failures(project: Project) -> None:
    """A failure is no decision: its exit code is there with and without `--exit-code`."""
    project.agent.on("execute", {"exit": 7, "stderr": "no luck\n"})
    plain = ("step", "--lineage-id", "greet", "--agent", project.agent.line)
    done = project.step("--max-failures", "3")
    assert (done.code, done.action) == (75, "failed")
    assert done.json["error"] == "agent_error: scripted failed, exit 7: no luck"
    assert done.json["next_generation"] == 1
    again = project.ouro(*plain, "--wait")
    assert (again.code, again.action) == (75, "failed")
    paused = project.ouro(*plain)
    assert (paused.code, paused.action) == (75, "failed")
    assert "paused until" in paused.json["error"]
    assert project.agent.calls() == ["1/execute", "1/execute"]
    attempts = [(f["attempt"], f["phase"]) for f in project.data("evolve_step.failed")]
    assert attempts == [(1, "execute"), (2, "execute")]


def test_failed_for_good(project: Project) -> None:
    project.agent.on("execute", {"exit": 7})
    done = project.step("--max-failures", "1")
    assert (done.code, done.action) == (12, "failed")
    assert done.json["reason"] == "execute failed 1 time, a person is needed"
    assert project.data("evolve_step.failed")[0]["retry_at"] is None
    # Whoever starts it again has looked at it: there is no pause, and the count starts anew.
    project.agent.on("execute", PASSES)
    assert project.step("--stop-on-pass", "--no-qa").code == 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("loop", [False, True], ids=["step", "ralph"])
def test_signals(project: Project, sent: signal.Signals, loop: bool) -> None:
    project.agent.on("execute", {"sleep": 60})
    process = project.start_ralph() if loop else project.start_step()
    project.agent.wait_for(1)
    process.send_signal(sent)
    done = finish(process)
    assert (done.code, done.out) == (128 + sent, "")
    assert project.types() == ["lineage.created", "evolve_step.interrupted"]


# --- ralph.sh


def test_the_loop_converges(project: Project) -> None:
    project.agent.on("execute", PASSES, gen=2)
    done = project.ralph("--no-qa")
    assert done.code == 0
    assert [line.split(",")[0] for line in done.out.splitlines()] == [
        '{"action":"continue"',
        '{"action":"converged"',
    ]


def test_the_loop_runs_out_of_cycles_and_goes_on(project: Project) -> None:
    done = project.ralph("--no-qa", "-n", "1")
    assert done.code == 14
    assert "1 cycles done, not finished" in done.err
    project.agent.on("execute", PASSES)
    assert project.ralph("--max-cycles", "1").code == 0
    assert project.agent.calls().count("1/execute") == 1


def test_the_loop_stagnates(project: Project) -> None:
    done = project.ralph("--freeze-ontology", "--no-qa", "--max-retries", "0")
    assert done.code == 10
    assert done.out.count("\n") == 3


def test_the_loop_is_exhausted(project: Project) -> None:
    assert project.ralph("--no-qa", "--max-generations", "1").code == 11


def test_the_loop_needs_a_person(project: Project) -> None:
    assert project.ralph("--agent", "no-such-agent-anywhere").code == 12


def test_the_loop_ends_with_wrong_usage_and_with_errors(project: Project) -> None:
    assert project.ralph("--no-such-option").code == 2
    project.git("tag", "ooo")
    assert project.ralph().code == 1


def test_not_now_is_no_cycle(project: Project) -> None:
    project.agent.on("execute", {"exit": 1}, PASSES)
    done = project.ralph("--no-qa", "--stop-on-pass", "-n", "1")
    assert done.code == 0
    assert done.err.count("cycle ") == 1
    assert [line.split(",")[0] for line in done.out.splitlines()] == [
        '{"action":"failed"',
        '{"action":"converged"',
    ]
