"""A secret of the environment gets into no ref, no log and no kept output, whatever the agent does
with it, and the user is told what was left out."""

import subprocess
from pathlib import Path

import pytest

from tests.app.scripted import Project

KEY = "sk-ant-api03-" + "Zq9x" * 12
TOKEN = "plain-words-that-are-secret"
ENV = {"ANTHROPIC_API_KEY": KEY, "DEPLOY_TOKEN": TOKEN}


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("secrets"))


def found_anywhere(project: Project, text: str) -> list[str]:
    """Where `text` stands: in any commit of any ref, a message, or ouro's own folder."""
    places = []
    commits = project.git("rev-list", "--all").split()
    for commit in commits:
        done = subprocess.run(
            ["git", "grep", "-l", "-F", text, commit], cwd=project.root, capture_output=True
        )
        places += done.stdout.decode().splitlines()
    if text in project.git("log", "--all", "--format=%B"):
        places.append("a commit message")
    if text in project.git("for-each-ref", "--format=%(contents)"):
        places.append("a tag")
    files = (p for p in (project.root / ".git" / "ouro").rglob("*") if p.is_file())
    return places + [str(p) for p in files if text.encode() in p.read_bytes()]


def uncommitted(project: Project) -> str:
    return project.git("status", "--porcelain", cwd=project.workspace)


def test_an_agent_that_prints_writes_and_commits_a_key_leaves_it_nowhere(project: Project) -> None:
    commands = "git add -A; git commit -qm 'with the key'"
    act = {
        "write": {"config.py": f"KEY = '{KEY}'\n", "good.py": "x = 1\n"},
        "run": commands,
        "reply": f"I used {KEY} and {TOKEN}.",
        "stderr": f"debug: {TOKEN}\n",
    }
    project.agent.on("execute", act, gen=1)
    done = project.step(env=ENV)
    assert done.code == 3
    assert "config.py (holds what looks like a secret)" in done.err
    assert "holds a secret or a left out file: not kept" in done.err
    assert project.files() >= {"good.py"}
    assert "config.py" not in project.files()
    assert found_anywhere(project, KEY) == []
    assert found_anywhere(project, TOKEN) == []
    assert [left["path"] for left in project.data("execute.completed")[0]["left_out"]] == [
        "config.py"
    ]
    assert (project.workspace / "config.py").read_text() == f"KEY = '{KEY}'\n"
    assert "[masked]" in project.data("execute.completed")[0]["summary"]


def test_what_was_left_out_stays_and_is_left_out_again(project: Project) -> None:
    project.agent.on("execute", {"write": {"secret.txt": TOKEN}}, gen=1)
    project.agent.on("execute", {"write": {"other.txt": "1"}}, gen=2)
    assert [one.code for one in (project.step(env=ENV), project.step(env=ENV))] == [3, 3]
    assert (project.workspace / "secret.txt").read_text() == TOKEN
    assert project.files() >= {"other.txt"}
    assert "secret.txt" not in project.files()
    assert uncommitted(project) == "?? secret.txt"


def test_a_secret_in_a_tracked_file_is_put_aside_and_the_file_is_the_committed_one(
    project: Project,
) -> None:
    project.agent.on("execute", {"write": {"app.py": "x = 1\n"}}, gen=1)
    project.agent.on("execute", {"write": {"app.py": f"x = '{TOKEN}'\n"}}, gen=2)
    project.step(env=ENV)
    done = project.step(env=ENV)
    assert "app.py (holds what looks like a secret)" in done.err
    assert project.show("app.py") == "x = 1"
    assert (project.workspace / "app.py").read_text() == "x = 1\n"
    assert (project.workspace / "app.py.left-out").read_text() == f"x = '{TOKEN}'\n"
    assert found_anywhere(project, TOKEN) == []
    assert uncommitted(project) == "?? app.py.left-out"


@pytest.mark.parametrize("name", [".env", "id_rsa", "certs/server.pem"])
def test_files_that_are_secret_by_name_are_not_committed(project: Project, name: str) -> None:
    project.agent.on("execute", {"write": {name: "x", ".env.example": "y"}})
    done = project.step()
    assert f"{name} (holds secrets by its name)" in done.err
    assert name not in project.files()
    assert ".env.example" in project.files()


def test_work_with_a_secret_is_saved_without_it_when_a_step_fails(project: Project) -> None:
    act = {
        "write": {"key.txt": KEY, "work.txt": "hours of it"},
        "exit": 1,
        "stderr": f"bad {KEY}\n",
    }
    project.agent.on("execute", act)
    assert project.step(env=ENV).code == 75
    (rescued,) = project.rescued()
    assert project.files(rescued) >= {"work.txt"}
    assert "key.txt" not in project.files(rescued)
    assert found_anywhere(project, KEY) == []


def test_a_check_that_prints_a_secret_is_masked(project: Project) -> None:
    project.write_seed({"description": "x", "verify_command": "echo $DEPLOY_TOKEN; false"})
    project.step(env=ENV)
    assert found_anywhere(project, TOKEN) == []
    assert "[masked]" in project.data("evaluate.completed")[0]["verdicts"][0]["evidence"]


def test_a_file_above_the_cap_is_named_and_stays(project: Project) -> None:
    big = "python3 -c \"open('big.bin','wb').truncate(60_000_000)\""
    project.agent.on("execute", {"write": {"small": "1"}, "run": big})
    done = project.step()
    assert "big.bin (too large: 60000000 bytes)" in done.err
    assert project.files() >= {"small"}
    assert "big.bin" not in project.files()
    assert Path(project.workspace / "big.bin").stat().st_size == 60_000_000
    assert uncommitted(project) == "?? big.bin"


def test_the_caps_are_the_users(project: Project) -> None:
    (project.root / "ouro.yaml").write_text("snapshot: {file: 3kB, total: 5kB}\n")
    files = {"a": "x" * 2000, "b": "x" * 2000, "c": "x" * 2000, "d": "x" * 3001, "e": "x" * 1000}
    project.agent.on("execute", {"write": files})
    project.step()
    left = [(o["path"], o["reason"]) for o in project.data("execute.completed")[0]["left_out"]]
    assert left == [("c", "too large: 2000 bytes"), ("d", "too large: 3001 bytes")]
    assert project.files() == {"README", "a", "b", "e"}
