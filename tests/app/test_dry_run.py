"""`ouro step --dry-run`: what would be asked first, and not a byte is changed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import ROOT, Project, as_json, questions

TOKEN = "a-token-of-the-environment"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def dry(project: Project, *options: str, **how: Any) -> dict[str, Any]:
    """The dry run as JSON; everything is as it was before."""
    before = project.everything()
    done = project.step("--dry-run", "--json", *options, **how)
    assert done.code == 0, done
    assert project.everything() == before
    assert done.json["lineage_id"] == "greet"
    return done.json


def asked(project: Project, start: str) -> str:
    return project.agent.prompts(start)[-1]


def test_every_first_prompt_is_the_one_that_is_then_asked(project: Project) -> None:
    project.write_seed(
        {"description": "It works", "verify_command": "test -e ok", "timeout": 7},
        {"description": "Secret", "verify_command": "test -e hidden-thing", "hidden": True},
        {"description": "It is nice"},
        protect=["tests/**"],
    )
    found = dry(project)
    assert (found["next"], found["generation"]) == ("execute", 1)
    assert found["remarks"] == ["the lineage is created", "the workspace is made"]
    execute, evaluate, qa = found["phases"]
    assert execute["call"] == {
        "agent": "scripted",
        "command": [project.agent.line],
        "idle_limit": 600.0,
        "wall_limit": 3600.0,
    }
    assert evaluate["checks"] == [
        {"criterion": "ac1", "command": "test -e ok", "limit": 7.0},
        {"criterion": "ac2", "command": None, "limit": 300.0},
    ]
    assert "hidden-thing" not in json.dumps(found)
    assert (evaluate["prompt"], qa["prompt"]) == (None, None)
    project.agent.on("evaluate", {"exit": 1, "stderr": "no"})
    assert project.step().code == 75
    assert execute["prompt"] == asked(project, "1-execute")
    paused = dry(project)
    assert "nothing, it is paused: not before" in paused["next"]
    assert paused["phases"] == []
    assert project.ouro("retry", "greet").code == 0
    assert project.ouro("note", "greet", "Mind the gap").code == 0
    found = dry(project)
    assert [phase["phase"] for phase in found["phases"]] == ["evaluate", "qa"]
    given = {"id": "ac3", "passed": True, "score": 1, "evidence": "seen"}
    project.agent.on("evaluate", as_json({"criteria": [given]}))
    assert project.step().action == "continue"
    assert found["phases"][0]["prompt"] == asked(project, "1-evaluate")
    found = dry(project, "--max-retries", "5")
    assert [p["phase"] for p in found["phases"]] == [
        "wonder",
        "reflect",
        "execute",
        "evaluate",
        "qa",
    ]
    project.agent.on("wonder", questions("it", criteria=("ac1",)))
    project.step("--max-retries", "5")
    assert "Mind the gap" in found["phases"][0]["prompt"]
    assert found["phases"][0]["prompt"] == asked(project, "2-wonder")


def test_what_has_ended(project: Project) -> None:
    project.agent.on("execute", {"write": {"ok": "1"}})
    assert project.step("--no-qa", "--freeze-ontology").code == 0
    assert dry(project)["next"].startswith("nothing, it has ended: ")


def test_lateral_thinking_and_a_dead_step_are_told(project: Project) -> None:
    fast = ("--no-qa", "--freeze-ontology", "--stagnation-window", "2")
    codes = [project.step(*fast).code for _ in range(3)]
    assert codes[-1] == 4, codes
    (project.state / "run.json").write_text(
        json.dumps(
            {"run": "x", "pid": 1, "phase": "execute", "worktree": "/", "tip": "", "host": ""}
        )
    )
    found = dry(project, *fast)
    assert found["remarks"][0] == "what an earlier step left in the middle of execute is put right"
    assert found["remarks"][1].startswith("lateral thinking: ")
    assert "## Another way" in found["phases"][0]["prompt"]


def test_a_client_is_shown_with_its_flags_and_without_secrets(project: Project) -> None:
    configured = {"agents": {"qa": "offline"}, "setup": ["npm ci"], "copy": [".env"]}
    (project.root / "ouro.yaml").write_text(json.dumps(configured))
    project.write_seed("It is nice", goal=f"Greet with {TOKEN}")
    words = ("step", "--lineage-id", "greet", "--seed-file", str(project.seed), "--dry-run")
    before = project.everything()
    done = project.ouro(
        *words, "--agent", "claude", "--model", "opus", "--", f"--key={TOKEN}",
        env={"MY_API_TOKEN": TOKEN},
    )  # fmt: skip
    assert done.code == 0, done
    assert project.everything() == before
    assert "greet, generation 1: next is execute\n  first: the lineage is created\n" in done.out
    assert "  first: setup: npm ci (at most 3600 s)\n" in done.out
    assert "execute\n  claude: claude -p " in done.out
    assert "--model opus '--key=[masked]'\n" in done.out
    assert "--- prompt ---\n" in done.out
    assert "qa\n  offline: built in, starts no program\n" in done.out
    assert TOKEN not in done.out + done.err


def test_what_the_step_would_refuse_is_refused(project: Project) -> None:
    before = project.everything()
    project.step("--dry-run", "--agent", "no-such", "--model", "x").refused(2, "no known flag")
    project.bare_step("--dry-run", "--seed-file", "/nowhere").refused(2, "cannot read the seed")
    assert project.everything() == before


def test_a_lineage_of_a_remote_in_a_read_only_clone(project: Project, tmp_path: Path) -> None:
    project.step("--no-qa", "--min-generations", "3")
    project.git("clone", "-q", str(project.root), str(tmp_path / "clone"))
    words = project.words("--dry-run", "--json", "--agent", project.agent.line)
    locked = ["sh", "-c", 'chmod -R a-w . && exec "$@"', "sh", sys.executable, "-m", "ouro", *words]
    done = subprocess.run(
        locked,
        cwd=tmp_path / "clone",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    subprocess.run(["chmod", "-R", "u+w", str(tmp_path / "clone")], check=True)
    assert done.returncode == 0, done
    found = json.loads(done.stdout)
    assert found["remarks"][0] == "it is taken up from refs/remotes/origin/ooo/greet"
    assert found["generation"] == 2
    assert not (tmp_path / "clone" / ".git" / "ouro").exists()
