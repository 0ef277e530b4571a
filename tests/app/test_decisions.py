"""Every action and every pattern of stagnation, as the whole program comes to it."""

from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import (
    Project,
    added,
    as_json,
    modified,
    mutations,
    questions,
    review,
    verdicts,
)

PASSES: dict[str, Any] = {"write": {"ok": "1"}}
OPEN = "It is good"
"""A criterion without checks: the agent judges it."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def last_decision(project: Project) -> dict[str, Any]:
    """The data of the newest decision in the log."""
    return project.data("evolve_step.completed")[-1]


# --- converged and continue


def test_what_passes_at_once_is_confirmed_by_a_second_generation(project: Project) -> None:
    project.agent.on("execute", PASSES)
    first = project.step()
    assert (first.code, first.action) == (3, "continue")
    assert first.json["next_generation"] == 2
    assert first.json["qa"] == {"verdict": "pass", "score": 90.0, "error": None}
    second = project.step()
    assert (second.code, second.action) == (0, "converged")
    assert second.json["next_generation"] is None
    assert second.json["similarity"] == 1.0
    decided = last_decision(project)
    assert decided["action"] == "converged"
    assert decided["reason"] == second.json["reason"]
    assert "similarity 1.0 ≥ 0.95, 1/1 criteria passed, QA pass (90)" in decided["reason"]
    assert decided["pattern"] is None


def test_unchanged_is_not_converged(project: Project) -> None:
    """A stable ontology over failing criteria, then over a review that asks for more."""
    project.agent.on("execute", {}, PASSES)
    project.agent.on("execute", PASSES, gen=2)
    # What an agent calls its score changes nothing: the number decides.
    lying = as_json({"score": 10, "verdict": "pass", "differences": ["converged <promise>"]})
    project.agent.on("qa", review(90), gen=1).on("qa", lying, gen=2).on("qa", review(80), gen=3)
    done = project.steps(3)
    assert [one.code for one in done] == [3, 3, 0]
    assert [one.json["similarity"] for one in done] == [None, 1.0, 1.0]
    assert done[1].json["qa"]["verdict"] == "fail"
    assert done[1].json["criteria"] == {"passed": 1, "total": 1}


@pytest.mark.slow
def test_min_generations_and_an_end_on_the_last_allowed_one(project: Project) -> None:
    project.agent.on("execute", PASSES)
    options = ("--min-generations", "3", "--max-generations", "3", "--no-qa")
    done = project.steps(3, *options)
    assert [one.action for one in done] == ["continue", "continue", "converged"]
    assert done[2].json["qa"] is None


def test_the_threshold_decides_what_is_settled(project: Project) -> None:
    project.agent.on("execute", PASSES)
    project.agent.on("reflect", mutations(added("tone")), gen=2)
    done = project.steps(2, "--threshold", "0.5", "--no-qa")
    assert [one.action for one in done] == ["continue", "converged"]
    assert done[1].json["similarity"] == 0.5
    assert last_decision(project)["delta"] == {"added": ["tone"], "removed": [], "modified": []}


def test_stop_on_pass_needs_one_generation(project: Project) -> None:
    project.agent.on("execute", PASSES)
    done = project.step("--stop-on-pass")
    assert (done.code, done.action) == (0, "converged")
    assert done.json["reason"] == "1/1 criteria passed, QA pass (90); stop_on_pass"


def test_a_frozen_ontology_is_only_worked_on(project: Project) -> None:
    project.agent.on("execute", PASSES, gen=2)
    done = project.steps(2, "--freeze-ontology", "--no-qa")
    assert [one.code for one in done] == [3, 0]
    assert "the ontology is frozen" in done[1].json["reason"]
    assert project.agent.calls() == ["1/execute", "2/execute"]


def test_frozen_and_not_executed_is_nothing_to_do(project: Project) -> None:
    before = project.everything()
    project.step("--freeze-ontology", "--no-execute").refused(2, "nothing to do")
    assert project.everything() == before


def test_convergence_on_paper(project: Project) -> None:
    project.agent.on("reflect", mutations(added("tone")), gen=2)
    done = project.steps(3, "--no-execute")
    assert [one.action for one in done] == ["continue", "continue", "converged"]
    assert all("ontology only, nothing executed" in one.json["reason"] for one in done)
    assert all(one.json["qa"] is None for one in done)
    assert project.types()[:3] == [
        "lineage.created",
        "evolve_step.completed",
        "wonder.completed",
    ]
    assert project.files() == {"README"}
    assert project.step("--no-execute").json == done[2].json
    # With `--execute` that is carried out: the seed stays, and no thinking comes first.
    project.agent.on("execute", PASSES)
    carried_out = project.step("--execute")
    assert (carried_out.code, carried_out.action) == (0, "converged")
    assert project.agent.calls()[-2:] == ["4/execute", "4/qa"]
    assert carried_out.json["similarity"] == 1.0
    assert "All about tone" in project.agent.prompts("4-execute")[0]
    assert project.step().out == carried_out.out


# --- exhausted


@pytest.mark.slow
def test_exhausted_goes_on_where_more_is_allowed(project: Project) -> None:
    done = project.step("--max-generations", "1", "--no-qa")
    assert (done.code, done.action) == (11, "exhausted")
    assert done.json["reason"] == "generation 1 is the last allowed: max_generations 1"
    assert last_decision(project)["reason"] == done.json["reason"]
    again = project.step()
    assert (again.code, again.json) == (11, done.json)
    project.agent.on("execute", PASSES)
    more = project.step("--max-generations", "2")
    assert (more.code, more.action) == (0, "converged")


def test_the_time_that_work_took_runs_out(project: Project) -> None:
    project.agent.on("execute", {"sleep": 0.3})
    done = project.step("--max-runtime", "0.2", "--no-qa")
    assert (done.code, done.action) == (11, "exhausted")
    assert "max_runtime is 0.2" in done.json["reason"]


# --- stagnated


def test_spinning_to_the_end_and_beyond_it(project: Project) -> None:
    """The same code again and again: hacker, then the end, and with one more retry contrarian."""
    options = ("--freeze-ontology", "--no-qa")
    done = project.steps(6, *options, "--max-retries", "1")
    assert [one.code for one in done] == [3, 3, 4, 3, 3, 10]
    assert [one.json["lateral_think_applied"] for one in done] == [0, 0, 0, 1, 0, 0]
    assert [one.json["next_generation"] for one in done] == [2, 3, 4, 5, 6, None]
    assert done[2].json["reason"] == (
        "spinning: the same code 3 generations running; lateral thinking next (1 of 1)"
    )
    assert "stagnated 2 times without progress, max_retries is 1" in done[5].json["reason"]
    patterns = [one["pattern"] for one in project.data("evolve_step.completed")]
    assert patterns == [None, None, "spinning", None, None, "spinning"]
    (thought,) = project.data("lateral_think.applied")
    assert (thought["persona"], thought["pattern"]) == ("hacker", "spinning")
    # The advice is a text of ours: it costs no call, and the agent gets to read it.
    assert thought["advice"].splitlines()[0] in project.agent.prompts("4-execute")[0]
    assert project.step(*options).json == done[5].json
    more = project.step(*options, "--max-retries", "2")
    assert more.code == 3
    assert [one["persona"] for one in project.data("lateral_think.applied")] == [
        "hacker",
        "contrarian",
    ]


def write_something_else_each_time(project: Project, generations: int) -> None:
    for number in range(1, generations + 1):
        project.agent.on("execute", {"write": {"draft": f"{number}\n"}}, gen=number)


def score(project: Project, *scores: float) -> None:
    """The agent's verdict on the one criterion, generation by generation."""
    for number, value in enumerate(scores, 1):
        project.agent.on("evaluate", verdicts(ac1=value), gen=number)


def test_plateau(project: Project) -> None:
    write_something_else_each_time(project, 3)
    project.write_seed(OPEN)
    score(project, 0.5, 0.505, 0.5)
    done = project.steps(3, "--no-qa")
    assert [one.code for one in done] == [3, 3, 4]
    assert last_decision(project)["pattern"] == "plateau"
    assert "plateau: three generations score between 0.5 and 0.505" in done[2].json["reason"]
    project.step("--no-qa")
    assert project.data("lateral_think.applied")[0]["persona"] == "researcher"


@pytest.fixture
def restless(project: Project) -> Project:
    """Code and scores that are others in every generation, and nothing that passes."""
    write_something_else_each_time(project, 4)
    project.write_seed(OPEN)
    score(project, 0.1, 0.3, 0.2, 0.4)
    return project


def fourth_stagnates(project: Project, pattern: str, persona: str) -> None:
    """The fourth generation ends so, and the next one is to open with `persona`."""
    done = project.steps(4, "--no-qa")
    assert [one.code for one in done] == [3, 3, 3, 4]
    assert done[3].json["reason"].startswith(f"{pattern}: ")
    assert last_decision(project)["pattern"] == pattern
    status = project.ouro("status", project.lineage, "--json").json
    assert status["next"] == f"generation 5, with lateral thinking: {persona} ({pattern})"


@pytest.mark.slow
def test_blocked(restless: Project) -> None:
    fourth_stagnates(restless, "blocked", "hacker")


@pytest.mark.slow
def test_oscillation(restless: Project) -> None:
    removed = {"action": "remove", "name": "tone", "reason": "not needed"}
    for number, change in ((2, added("tone")), (3, removed), (4, added("tone"))):
        restless.agent.on("reflect", mutations(change), gen=number)
    fourth_stagnates(restless, "oscillation", "architect")


@pytest.mark.slow
def test_repetition(restless: Project) -> None:
    for number in (2, 3, 4):
        restless.agent.on("wonder", questions("tone", "Tone of voice"), gen=number)
        restless.agent.on("reflect", mutations(added(f"field {number}")), gen=number)
    fourth_stagnates(restless, "repetition", "contrarian")


@pytest.mark.slow
def test_unchanged(project: Project) -> None:
    done = project.steps(4, "--no-execute", "--max-retries", "1")
    assert [one.code for one in done] == [3, 3, 3, 4]
    assert done[3].json["reason"].startswith("unchanged: the ontology is as it was for 3 gen")
    assert last_decision(project)["pattern"] == "unchanged"
    # A change is progress: the count of stagnations starts anew.
    project.agent.on("reflect", mutations(modified("name", "Whom it greets")), gen=5)
    fifth = project.step("--no-execute")
    assert (fifth.action, fifth.json["lateral_think_applied"]) == ("continue", True)
    assert project.data("lateral_think.applied")[0]["persona"] == "contrarian"
    assert project.step("--no-execute").action == "converged"


@pytest.mark.slow
def test_no_stagnation_while_more_criteria_pass(project: Project) -> None:
    """A new best share within the window is progress, whatever else stands still."""
    project.write_seed(OPEN, "It is quick")
    project.agent.on("evaluate", verdicts(ac1=False, ac2=False))
    for number in (3, 4, 5, 6):
        project.agent.on("evaluate", verdicts(ac1=True, ac2=False), gen=number)
    done = project.steps(6, "--freeze-ontology", "--no-qa")
    assert [one.code for one in done] == [3, 3, 3, 3, 3, 4]
    assert [one.json["criteria"]["passed"] for one in done] == [0, 0, 1, 1, 1, 1]
    assert last_decision(project)["pattern"] == "spinning"
