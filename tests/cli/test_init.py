"""`ouro init` and `ouro agents`: what is here, and a configuration that ouro itself reads."""

import json
import os
from pathlib import Path

import pytest

from tests.app.scripted import Project


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("init"))


@pytest.fixture
def with_codex(tmp_path: Path) -> dict[str, str]:
    """A PATH with git and a program that is called like a client."""
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\necho codex-cli 9.9.9\n")
    program.chmod(0o755)
    return {"PATH": f"{tmp_path}:/usr/bin:/bin"}


def test_the_configuration_names_the_agent_that_is_here_and_is_read(
    project: Project, with_codex: dict[str, str]
) -> None:
    done = project.ouro("init", env=with_codex)
    assert (done.code, done.out) == (0, "")
    assert "agents here: codex" in done.err
    text = (project.root / "ouro.yaml").read_text()
    assert "\nagent: codex\n" in text
    refused = project.bare_step("--max-turns", "3", env=with_codex)
    refused.refused(2, "codex has no known flag for max_turns")


def test_without_an_agent_the_configuration_is_all_comments(project: Project) -> None:
    done = project.ouro("init", env={"PATH": "/usr/bin:/bin"})
    assert "no agent that ouro knows is here" in done.err
    assert project.step(env={"PATH": os.environ["PATH"]}).code == 3


def test_a_configuration_that_is_there_is_never_overwritten(project: Project) -> None:
    path = project.root / "ouro.yaml"
    path.write_text("qa: false\n")
    project.ouro("init").refused(2, "is there already")
    assert path.read_text() == "qa: false\n"


def test_agents_shows_what_is_installed(project: Project, with_codex: dict[str, str]) -> None:
    found = json.loads(project.ouro("agents", "--json", env=with_codex).out)
    by_name = {client["name"]: client for client in found}
    assert by_name["codex"]["version"] == "codex-cli 9.9.9"
    assert by_name["claude"]["path"] is None
    people = project.ouro("agents", env=with_codex).out
    assert "claude     not installed" in people
