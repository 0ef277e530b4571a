"""`on_end`: the user's command runs once when a loop ends, and only then."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Project

FAST = ("--no-qa", "--freeze-ontology")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    told = (
        f'(cat; pwd; echo "$OURO_LINEAGE_ID $OURO_EXIT_CODE $MINE") >>{tmp_path}/told; echo heard'
    )
    (made.root / "ouro.yaml").write_text(json.dumps({"on_end": told}))
    return made


def told(project: Project) -> list[tuple[dict[str, Any], str, str]]:
    """JSON line, folder and variables of every run of the command."""
    path = project.folder / "told"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(json.loads(lines[n]), *lines[n + 1 : n + 3]) for n in range(0, len(lines), 3)]  # type: ignore[misc]


def test_it_hears_of_a_convergence_once(project: Project) -> None:
    project.agent.on("execute", {"write": {"ouro.yaml": "on_end: 'false'\n"}}, gen=1)
    assert project.step(*FAST).code == 3
    assert told(project) == []
    project.agent.on("execute", {"write": {"ok": "1"}}, gen=2)
    done = project.step(*FAST, env={"MINE": "mine"})
    assert done.code == 0
    assert told(project) == [(done.json, str(project.root), "greet 0 mine")]
    assert "ouro: on_end: heard\n" in done.err
    assert project.step(*FAST).code == 0
    assert len(told(project)) == 1


@pytest.mark.slow
def test_the_other_ways_to_end(project: Project) -> None:
    done = project.step(*FAST, "--max-generations", "1")
    assert (done.code, told(project)[-1][0]) == (11, done.json)
    fails = {"stderr": "no", "exit": 1}
    project.agent.on("execute", fails)
    done = project.step(*FAST, "--max-generations", "9", "--max-failures", "3")
    assert done.code == 75
    assert len(told(project)) == 1
    assert project.step(*FAST).code == 75  # paused
    assert len(told(project)) == 1
    assert project.ouro("retry", "greet").code == 0
    project.agent.on("execute", {"stderr": "401 unauthorized", "exit": 1})
    done = project.step(*FAST)
    assert done.code == 12, done
    assert (told(project)[-1][0], told(project)[-1][2]) == (done.json, "greet 12 ")
    assert len(told(project)) == 2


def test_a_loop_that_ends_with_its_last_cycle(project: Project) -> None:
    project.agent.on("execute", {"run": "date +%N >work"})
    done = project.ralph(*FAST, "--max-cycles", "2", env={"OURO_LAST_CYCLE": "1"})
    assert done.code == 14
    lines = done.out.splitlines()
    ((last, _, names),) = told(project)
    assert last == json.loads(lines[1])
    assert last["action"] == "continue"
    assert names == "greet 14 "


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("exit 7", "on_end exited with 7"),
        ("sleep 60", "on_end was ended after"),
        ("cat >/dev/null; exec no-such-program", "on_end exited with 127"),
    ],
)
def test_its_failure_changes_nothing(project: Project, command: str, said: str) -> None:
    env = {"OURO_ON_END": command, "OURO_CHECK_LIMIT": "1"}
    done = project.step(*FAST, "--max-generations", "1", env=env)
    assert done.code == 11
    assert done.json["action"] == "exhausted"
    assert f"warning: {said}" in done.err
