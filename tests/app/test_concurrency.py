"""Two steps at once: of one lineage one works and the other is told; of two lineages both."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Project, finish, until


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def held(project: Project) -> dict[str, Any]:
    """An act that lasts until `release`."""
    return {"write": {"ok": "1"}, "run": f"until test -e {project.folder}/go; do sleep 0.05; done"}


def release(project: Project) -> None:
    (project.folder / "go").touch()


def test_one_lineage(project: Project) -> None:
    project.agent.on("execute", held(project), gen=1)
    options = ("--no-qa", "--min-generations", "2")
    first = project.start_step(*options)
    project.agent.wait_for(1)
    second = project.step(*options)
    assert (second.code, second.action) == (75, "failed")
    assert f"ooo/greet is busy: process {first.pid} has held its lock for " in second.json["error"]
    assert "--wait" in second.json["reason"]
    assert second.json["next_generation"] == 1
    assert project.ouro("status", "greet", "--json").json["state"] == "running"
    waiting = project.start_step(*options, "--wait")
    release(project)
    done, after = finish(first), finish(waiting)
    assert (done.code, done.json["generation"]) == (3, 1)
    assert (after.code, after.json["generation"]) == (0, 2)
    assert project.agent.calls() == ["1/execute", "2/wonder", "2/reflect"]
    assert project.types().count("evolve_step.completed") == 2


def test_the_loop_waits_for_a_step(project: Project) -> None:
    project.agent.on("execute", held(project), gen=1)
    step = project.start_step("--no-qa")
    project.agent.wait_for(1)
    loop = project.start_ralph("--no-qa", "-n", "1")
    release(project)
    assert finish(step).code == 3
    done = finish(loop)
    assert done.code == 0
    assert done.err.count("cycle ") == 1


def test_both_at_birth(project: Project) -> None:
    """Only one of them creates the lineage, and whoever it is runs its agent alone."""
    project.agent.on("execute", held(project), gen=1)
    both = [project.start_step("--no-qa") for _ in range(2)]
    until(lambda: any(process.poll() is not None for process in both))
    release(project)
    done = sorted((finish(process) for process in both), key=lambda one: one.code)
    assert [one.code for one in done] == [3, 75]
    assert "is busy" in done[1].err
    assert project.types().count("lineage.created") == 1
    assert project.agent.calls() == ["1/execute"]


def test_two_lineages(project: Project) -> None:
    project.agent.on("execute", held(project))
    names = ("one", "two")
    words = ["--seed-file", str(project.seed), "--agent", project.agent.line, "--no-qa"]
    both = [project.start("step", "--lineage-id", name, *words) for name in names]
    project.agent.wait_for(2)
    release(project)
    for name, process in zip(names, both, strict=True):
        done = finish(process)
        assert (done.code, done.json["lineage_id"], done.action) == (0, name, "continue")
        assert project.agent.calls(name) == ["1/execute"]
        project.lineage = name
        assert project.types()[-1] == "evolve_step.completed"
        assert json.loads(project.git("cat-file", "tag", f"ooo/{name}/gen_1").split("\n\n", 1)[1])
        project.clean()
