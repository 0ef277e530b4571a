"""The workflow in examples/ci: its commands, run as a CI machine runs them, a fresh one a cycle."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.app.hosts import sound
from tests.app.scripted import Project, git

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / "examples" / "ci" / "github-ralph.yml"


def machine(folder: Path, bare: Path) -> Path:
    """A checkout as `actions/checkout` makes it, on a machine that knows nobody."""
    (folder / "home").mkdir(parents=True)
    git(folder, "clone", "-q", "--depth=1", f"file://{bare}", "checkout")
    program = folder / "bin" / "ouro"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexport OURO="$0"\nexec "{sys.executable}" -m ouro "$@"\n')
    program.chmod(0o755)
    return folder


def run_job(folder: Path, workflow: dict[str, Any]) -> str:
    """Run the job's commands, but for the installation, as the runner does; the summary."""
    env = {key: str(value) for key, value in workflow["env"].items()}
    summary = folder / "summary"
    env |= {
        "CYCLES": "1",
        "GITHUB_STEP_SUMMARY": str(summary),
        "HOME": str(folder / "home"),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    steps = [s for s in workflow["jobs"]["ralph"]["steps"] if "run" in s and s["name"] != "Install"]
    assert [step["name"] for step in steps] == ["Cycles", "Summary"]
    for step in steps:
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=folder / "checkout",
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done
    return summary.read_text()


def test_a_fresh_machine_for_every_cycle_comes_to_the_end(tmp_path: Path) -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text())
    project = Project(tmp_path / "project")
    for number in range(3):  # an older history, which no machine needs
        project.git("commit", "-q", "--allow-empty", "-m", f"{number}")
    seed = (ROOT / "examples" / "dummy_seed.yaml").read_text()
    (project.root / "seed.yaml").write_text(seed)
    project.git("add", ".")
    project.git("commit", "-q", "-m", "seed")
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(project.root), str(bare))
    for number in range(1, 9):
        folder = machine(tmp_path / f"machine{number}", bare)
        assert git(folder / "checkout", "rev-list", "--count", "HEAD") == "1"
        summary = run_job(folder, workflow)
        assert f"gen {number}:" in summary
        sound(folder / "checkout")
        if "converged" in summary:
            break
    message = git(
        bare, "for-each-ref", "--format=%(contents)", f"refs/tags/ooo/nightly/gen_{number}"
    )
    assert json.loads(message)["action"] == "converged"
    tags = git(bare, "for-each-ref", "--format=%(refname:lstrip=4)", "refs/tags/ooo/").split()
    assert sorted(tags) == [f"gen_{n}" for n in range(1, number + 1)]
    assert git(bare, "for-each-ref", "refs/ouro/") == ""
    sound(bare)
