"""One step after another: the line on stdout, restarts, seeds, policies, carried verdicts."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Project, added, alive, finish, mutations

PASSES: dict[str, Any] = {"write": {"ok": "1"}}
CONTRACT = [
    "action",
    "generation",
    "lineage_id",
    "similarity",
    "next_generation",
    "lateral_think_applied",
    "qa",
    "error",
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# --- what is printed, and what git holds


def test_the_line_the_tag_and_the_story(project: Project) -> None:
    project.agent.on("execute", {"write": {"ok": "1\n"}, "reply": "I wrote ok."})
    done = project.step()
    assert list(done.json)[:8] == CONTRACT
    assert done.json["lineage_id"] == "greet"
    assert done.json["generation"] == 1
    assert done.json["error"] is None
    assert done.json["tag"] == "ooo/greet/gen_1"
    assert done.json["commit"] == project.tip()
    assert "ouro: created ooo/greet" in done.err
    assert all(line.startswith("ouro: ") for line in done.err.splitlines())
    tag = "refs/tags/ooo/greet/gen_1"
    assert project.git("cat-file", "-t", tag) == "tag"
    assert project.git("rev-parse", f"{tag}^{{commit}}") == project.tip()
    assert project.git("for-each-ref", "--format=%(contents)", tag).strip() == done.out.strip()
    subjects = project.git("log", "--first-parent", "--reverse", "--format=%s", project.branch)
    assert subjects.splitlines() == [
        "first",
        "lineage greet created: Greet people",
        "gen 1: execute, 1 file changed (+1 −0)",
        "gen 1: evaluate, 1/1 passed",
        "gen 1: qa pass (90); continue",
    ]
    trailers = project.git("log", "-1", "--format=%(trailers:only)", project.branch)
    assert trailers.splitlines() == [
        "Ouro-Lineage: greet",
        "Ouro-Generation: 1",
        "Ouro-Event: qa.completed",
        "Ouro-Event: evolve_step.completed",
        "Ouro-Action: continue",
    ]
    assert project.data("execute.completed")[0]["summary"] == "I wrote ok."
    project.clean()


def test_a_failure_has_the_same_shape(project: Project) -> None:
    done = project.step("--agent", "no-such-agent-anywhere")
    assert list(done.json)[:8] == CONTRACT
    assert done.action == "failed"
    assert done.json["error"].startswith("not_found: ")


# --- once more


def test_a_finished_lineage_says_so_again(project: Project) -> None:
    project.agent.on("execute", PASSES)
    first = project.step("--stop-on-pass", "--no-qa")
    tip, calls = project.tip(), project.agent.calls()
    again = project.step("--stop-on-pass", "--no-qa")
    assert (again.code, again.out) == (first.code, first.out)
    assert "greet has ended, converged" in again.err
    assert (project.tip(), project.agent.calls()) == (tip, calls)
    # What derives from the log is made again from it.
    project.git("tag", "-d", "ooo/greet/gen_1")
    assert project.step().out == first.out
    assert project.tags() == ["gen_1"]


@pytest.mark.parametrize("phase", ["execute", "qa"])
def test_a_killed_step_goes_on_where_it_was(project: Project, phase: str) -> None:
    project.agent.on("execute", PASSES)
    project.agent.on(phase, {**PASSES, "write": {"half": "done"}, "sleep": 60}, gen=1)
    process = project.start_step("--stop-on-pass")
    project.agent.wait_for(1 if phase == "execute" else 2)
    process.kill()
    assert finish(process).code == -signal.SIGKILL
    left_over = project.agent.pids()[-1]
    assert alive(left_over)
    project.agent.on(phase, *([PASSES] if phase == "execute" else []), gen=1)
    done = project.step("--stop-on-pass")
    assert (done.code, done.action) == (0, "converged")
    assert f"an earlier step ended in the middle of {phase}: recovering" in done.err
    assert not alive(left_over)
    assert project.agent.calls().count("1/execute") == (2 if phase == "execute" else 1)
    (interrupted,) = project.data("evolve_step.interrupted")
    assert interrupted["phase"] == phase
    assert project.git("show", f"{interrupted['rescue']}:half") == "done"
    assert project.files() == {"README", "ok"}
    project.clean()


# --- the seed


def test_the_seed_is_fixed_but_not_its_comments(project: Project) -> None:
    project.step("--no-execute")
    with project.seed.open("a") as file:
        file.write("\n# a remark\n")
    assert project.step("--no-execute").json["generation"] == 2
    project.write_seed("It is something else")
    before = project.everything()
    project.step("--no-execute").refused(2, "is not the seed that greet was created with", "fixed")
    assert project.everything() == before
    project.seed.unlink()
    done = project.step("--no-execute")
    assert done.json["generation"] == 3
    assert "goes on with the seed in its log" in done.err


# --- the policy


def test_who_decides_what_the_policy_is(project: Project) -> None:
    """Flag over environment over file; what was said once stays, what is missing changes
    nothing, and only what is news is an event."""
    file = project.root / "ouro.yaml"
    file.write_text("max_retries: 5\nqa: false\nmin_generations: 7\n")
    env = {"OURO_MAX_RETRIES": "4", "OURO_MIN_GENERATIONS": "6"}
    paper = "--no-execute"
    project.step(paper, "--max-retries", "3", env=env)
    (created,) = project.data("lineage.created")
    policy = created["policy"]
    assert (policy["max_retries"], policy["min_generations"], policy["qa"]) == (3, 6, False)
    assert policy["execute"] is False
    project.step(env=env)
    assert project.data("policy.changed") == []
    file.unlink()
    project.step(env={"OURO_MAX_RETRIES": "8"})
    (changed,) = project.data("policy.changed")
    assert changed["policy"] == {**policy, "max_retries": 8}
    assert project.events()[-1]["generation"] == 3
    project.step("--max-retries", "8")
    assert len(project.data("policy.changed")) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_generation: 3\n", "did you mean max_generations?"),
        ("max_retries: many\n", "max_retries cannot be 'many'"),
        ("qa: [\n", "ouro.yaml"),
    ],
)
def test_a_wrong_file_is_refused(project: Project, text: str, said: str) -> None:
    (project.root / "ouro.yaml").write_text(text)
    before = project.everything()
    done = project.step()
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert project.everything() == before


def test_a_wrong_variable_is_refused(project: Project) -> None:
    done = project.step(env={"OURO_QA": "maybe"})
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ouro: environment: qa cannot be 'maybe'")


# --- carried verdicts


def test_a_generation_that_changes_nothing_costs_two_calls(project: Project) -> None:
    project.agent.on("execute", PASSES)
    project.agent.on("reflect", mutations(added("tone")), gen=2)
    assert [one.code for one in project.steps(3)] == [3, 3, 0]
    assert [call for call in project.agent.calls() if call.startswith("3/")] == [
        "3/wonder",
        "3/reflect",
    ]
    third = [event for event in project.events() if event["generation"] == 3]
    assert [event["type"] for event in third] == [
        "wonder.completed",
        "reflect.completed",
        "evaluate.completed",
        "qa.completed",
        "evolve_step.completed",
    ]
    assert {verdict["method"] for verdict in third[2]["data"]["verdicts"]} == {"carried"}
    assert third[3]["data"]["carried"] is True
    assert third[2]["data"]["usage"] is None
    subject = project.git("log", "-1", "--format=%s", project.branch)
    assert subject.startswith("gen 3: verdicts carried over, 1/1 passed; qa pass (90); converged")


def test_torn_files_of_a_killed_step_are_gone_after_the_next(project: Project) -> None:
    project.step()
    with subprocess.Popen(["true"]) as dead:
        dead.wait()
    torn = project.state / f"intent.json.{dead.pid}.new"
    torn.write_text("{")
    assert project.step().code in (0, 3)
    assert not torn.exists()
