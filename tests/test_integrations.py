"""What other tools start: the CI job that lies in examples/, and the pre-commit framework."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.app.scripted import ROOT, Project, git

BRANCH = "refs/heads/ooo/greet"
LOG = ".ouro/lineages/greet/events/000001.jsonl"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One generation of each of two lineages, pushed to `origin`, a bare repository."""
    made = Project(tmp_path)
    made.agent.on("execute", {"write": {"ok": "1"}})
    for made.lineage in ("other", "greet"):
        made.step("--no-qa")
    git(tmp_path, "init", "-q", "--bare", "origin.git")
    made.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    made.git("push", "-q", "origin", "main", "refs/heads/ooo/*", "refs/tags/ooo/*")
    return made


# --- CI


def own_steps() -> str:
    """The job's own commands, without those that set the machine up."""
    read: Any = yaml.safe_load((ROOT / "examples" / "ci" / "verify.yml").read_text())
    steps = [step for step in read["jobs"]["verify"]["steps"] if "run" in step]
    assert [step["name"] for step in steps] == ["install ouro", "fetch the lineages", "verify"]
    return "\n".join(step["run"] for step in steps[1:])


def run_job(project: Project, checkout: Path) -> subprocess.CompletedProcess[str]:
    """As the job does: a checkout of the branch that was pushed, then the commands."""
    bin_folder = project.folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    (bin_folder / "ouro").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ouro "$@"\n')
    (bin_folder / "ouro").chmod(0o755)
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    git(project.folder, "clone", "-q", "-b", "ooo/greet", "origin.git", checkout.name)
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", own_steps()],
        cwd=checkout,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def test_the_ci_job_passes_what_is_whole_and_fails_what_is_not(project: Project) -> None:
    done = run_job(project, project.folder / "checkout")
    assert done.returncode == 0, done
    for name in ("greet", "other"):
        assert name in done.stdout
    mallory = project.folder / "mallory"
    git(project.folder, "clone", "-q", "-b", "ooo/other", "origin.git", "mallory")
    log = mallory / LOG.replace("greet", "other")
    log.write_text(log.read_text().replace("Greet people", "Rob people"))
    git(mallory, "-c", "user.name=m", "-c", "user.email=m@m", "commit", "-qam", "x")
    git(mallory, "push", "-q")
    done = run_job(project, project.folder / "again")
    assert done.returncode == 1, done
    assert "other" in done.stdout


# --- the pre-commit framework


def pre_commit(folder: Path) -> Path:
    """The framework, installed into an environment of its own; skips where that cannot be."""
    if found := shutil.which("pre-commit"):
        return Path(found)
    venv.create(folder, with_pip=True)
    done = subprocess.run(
        [folder / "bin" / "pip", "install", "-q", "pre-commit>=4"], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"pre-commit cannot be installed here: {done.stderr[-300:]}")
    return folder / "bin" / "pre-commit"


@pytest.mark.slow
def test_the_pre_commit_framework_runs_the_hook(project: Project) -> None:
    program = pre_commit(project.folder / "venv")
    source = project.folder / "ouro"
    (source / "hooks").mkdir(parents=True)
    for name in (".pre-commit-hooks.yaml", "hooks/pre-push"):
        shutil.copy(ROOT / name, source / name)
    git(source, "init", "-q")
    git(source, "add", ".")
    git(source, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x")
    config = {
        "repo": str(source),
        "rev": git(source, "rev-parse", "HEAD"),
        "hooks": [{"id": "ouro-pre-push"}],
    }
    clone = project.folder / "clone"
    git(project.folder, "clone", "-q", "-b", "ooo/greet", "origin.git", "clone")
    (clone / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [config]}))
    subprocess.run([program, "install", "-t", "pre-push"], cwd=clone, check=True)

    def push(*refspecs: str) -> str | None:
        """What was said where it was refused."""
        words = ["git", "push", "origin", *refspecs]
        done = subprocess.run(words, cwd=clone, capture_output=True, text=True)
        said = done.stdout + done.stderr
        assert "keep lineages whole" in said
        return said if done.returncode else None

    identity = ("-c", "user.name=m", "-c", "user.email=m@m")
    git(clone, *identity, "commit", "-q", "--allow-empty", "-m", "an honest one")
    said = push(f"{BRANCH}:refs/heads/ooo/new")
    assert said is not None
    assert "holds no log of a lineage new" in said
    assert push(f"{BRANCH}:refs/heads/elsewhere") is None
    assert push(BRANCH) is None
    log = clone / LOG
    log.write_text(log.read_text().replace("Greet people", "Rob people"))
    git(clone, *identity, "commit", "-qam", "x")
    said = push(BRANCH)
    assert said is not None
    assert f"ouro: {BRANCH}: not pushed to origin: lines of the log" in said
    git(clone, "reset", "-q", "--hard", "HEAD~2")
    said = push(f"+{BRANCH}")
    assert said is not None
    assert "would drop" in said
