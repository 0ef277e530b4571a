"""Checks: they alone decide, see the committed tree, and leave nothing behind."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Project, as_json, questions

PASSES: dict[str, Any] = {"write": {"ok": "1"}}
ONCE = ("--stop-on-pass", "--no-qa")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def check(name: str, command: str | None = None, **more: Any) -> dict[str, Any]:
    given = {"verify_command": command} if command else {}
    return {"description": f"It is {name}", "id": name, **given, **more}


def test_what_checks_say_and_what_they_leave(project: Project) -> None:
    junk = "mkdir -p __pycache__ left; echo 1 | tee __pycache__/a.pyc left/b c.log; git add ."
    project.write_seed(
        check("ignored", expected_artifacts=["built/program", "ok"]),
        check("there", "echo found it", expected_artifacts="ok", output_assertion="found"),
        check("silent", "echo something", output_assertion="something else"),
        check("on-stderr", "echo to stderr >&2", output_assertion="to stderr"),
        check("slow", "echo began; sleep 60", timeout=0.3),
        check("wrong", "echo out; echo err >&2; exit 3"),
        check("littering", junk),
        check("destructive", "echo broken >ok; rm README; git commit -qam no"),
        check("numb", 'cat; test -z "$GIT_DIR" && pwd', output_assertion="repo.ouro/greet"),
    )
    (project.root / ".gitignore").write_text("built/\n")
    project.git("add", ".")
    project.git("commit", "-qm", "ignore what is built")
    project.agent.on("execute", {"write": {"ok": "1", "built/program": "1"}}, gen=1)
    began = time.monotonic()
    done = project.step("--no-qa")
    assert time.monotonic() - began < 30
    assert done.code == 3
    found = {v["id"]: v for v in project.data("evaluate.completed")[0]["verdicts"]}
    assert {v["method"] for v in found.values()} == {"check"}
    passed = [name for name, verdict in found.items() if verdict["passed"]]
    assert passed == ["there", "on-stderr", "littering", "destructive", "numb"]
    assert [verdict["score"] for verdict in found.values() if verdict["passed"]] == [1.0] * 5
    assert found["ignored"]["evidence"] == "not in the committed tree: built/program"
    assert "the output does not hold 'something else'" in found["silent"]["evidence"]
    assert "the time limit" in found["slow"]["evidence"]
    assert "began" in found["slow"]["evidence"]
    assert found["wrong"]["evidence"] == ("$ echo out; echo err >&2; exit 3\nout\nerr\nexit code 3")
    # Neither now nor by way of the next generation.
    files = {".gitignore", "README", "ok"}
    assert project.files() == files
    project.clean()
    assert project.step().code == 3
    assert project.files() == files
    assert [one["files"] for one in project.data("execute.completed")] == [["ok"], []]
    assert project.agent.calls() == ["1/execute", "2/wonder", "2/reflect", "2/execute"]
    # Agents get to read what was wrong.
    assert "the output does not hold" in project.agent.prompts("2-wonder")[0]


def test_checks_of_python_code_leave_no_trace_and_read_no_stale_file(project: Project) -> None:
    """Two generations of one length within one second: a compiled file would pass for the old."""
    code = "import sys; sys.path.insert(0, '.'); import code_; sys.exit(code_.x != 2)"
    project.write_seed(check("right", f'python3 -c "{code}"'))
    project.agent.on("execute", {"write": {"code_.py": "x = 1\n"}}, gen=1)
    project.agent.on("execute", {"write": {"code_.py": "x = 2\n"}}, gen=2)
    done = project.steps(2, "--freeze-ontology", "--no-qa")
    assert [one.code for one in done] == [3, 0]
    assert project.files() == {"README", "code_.py"}


SECRET = "grep -q tiramisu ok"


def test_a_hidden_check_is_in_no_prompt_and_in_no_tree(project: Project) -> None:
    """It decides, and nobody but the mechanical evaluation reads it: two whole generations."""
    hidden = check("tasty", f"{SECRET}; code=$?; echo panna cotta; exit $code", hidden=True)
    project.write_seed(check("there", "test -e ok"), hidden, "It is good")
    judged = {"id": "ac3", "passed": True, "score": 1.0, "evidence": "I tried it."}
    project.agent.on("evaluate", as_json({"criteria": [judged]}))
    project.agent.on("wonder", questions("taste", criteria=["tasty"]))
    project.agent.on("execute", {"write": {"ok": "soup"}}, {})
    project.agent.on("execute", {"write": {"ok": "tiramisu"}}, gen=2)
    first = project.step()
    assert first.json["criteria"] == {"passed": 2, "total": 3}
    assert project.step().code == 0
    evidence = [one["verdicts"][1]["evidence"] for one in project.data("evaluate.completed")]
    assert evidence == ["not met", "met"]
    prompts = project.agent.prompts()
    assert len(prompts) == 8
    assert not [prompt for prompt in prompts if "tiramisu" in prompt or "panna" in prompt]
    # A hidden criterion looks like one without checks.
    assert "hidden" not in "".join(project.agent.prompts("1-execute"))
    # Nothing in the history names the check; the work, of course, may.
    log = project.git("log", "--format=%B", "-p", project.branch, "--", ".ouro", "README")
    assert "tiramisu" not in log
    assert "panna" not in log
    blob = project.git("rev-parse", "refs/ouro/hidden/greet")
    assert project.data("lineage.created")[0]["hidden"] == blob
    assert "tiramisu" in project.git("cat-file", "blob", blob)
    assert (
        not list(project.workspace.rglob("*.yaml"))
        or "tiramisu" not in (project.workspace / ".ouro/lineages/greet/seed.yaml").read_text()
    )


def test_a_clone_without_the_hidden_checks_needs_a_person(project: Project) -> None:
    project.write_seed(check("tasty", SECRET, hidden=True))
    project.step(*ONCE)
    project.git("update-ref", "-d", "refs/ouro/hidden/greet")
    project.git("prune", "--expire=now")
    done = project.step()
    assert (done.code, done.action) == (12, "failed")
    assert "the hidden checks of greet are not in this clone" in done.json["error"]


def test_a_committed_seed_file_hides_nothing(project: Project) -> None:
    project.seed = project.root / "seed.yaml"
    project.write_seed(check("tasty", SECRET, hidden=True))
    project.git("add", ".")
    project.git("commit", "-qm", "seed")
    done = project.step(*ONCE)
    assert "seed.yaml is in the base commit: the agent can read hidden checks" in done.err
