"""Protected files: what an agent does to them never counts, and it is told so."""

import json
from pathlib import Path

import pytest

from tests.app.scripted import Project

EDITS_THE_TEST = {"write": {"tests/check.sh": "true\n"}}
FAST = ("--no-qa", "--freeze-ontology")


def _with(project: Project, **files: str) -> None:
    for name, text in files.items():
        path = project.root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    project.git("add", "-A")
    project.git("commit", "-qm", "files")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    (made.root / "tests").mkdir()
    (made.root / "tests" / "check.sh").write_text("test -e ok\n")
    made.git("add", "-A")
    made.git("commit", "-qm", "a test")
    made.write_seed({"description": "It works", "verify_command": "sh tests/check.sh"})
    made.agent.on("execute", EDITS_THE_TEST, {"write": {"ok": "1"}})
    return made


def test_an_edited_test_does_not_count_and_the_next_agent_hears_of_it(project: Project) -> None:
    (project.root / "ouro.yaml").write_text('protect: ["tests/**"]\n')
    done = project.step("--no-qa", "--stop-on-pass")
    assert done.action == "continue", done
    assert "left out of the generation: tests/check.sh (protected)" in done.err
    assert project.data("execute.completed")[0]["left_out"] == [
        {"path": "tests/check.sh", "reason": "protected"}
    ]
    assert project.data("execute.completed")[0]["files"] == []
    assert project.show("tests/check.sh") == "test -e ok"
    saved = project.rescued()
    assert f"git show {saved[0]}" in done.err
    assert project.git("show", f"{saved[0]}:tests/check.sh") == "true"
    assert "## Protected\n" in project.agent.prompts("1-execute")[0]
    assert "- tests/**\n" in project.agent.prompts("1-execute")[0]
    project.agent.on("execute", {"write": {"ok": "1"}}, gen=2)
    assert project.step("--no-qa", "--stop-on-pass").action == "converged"
    for phase in ("wonder", "reflect", "execute"):
        told = "`tests/check.sh`: protected"
        assert told in project.agent.prompts(f"2-{phase}")[0], phase


def test_without_protection_the_edited_test_passes(project: Project) -> None:
    """Else the test above would prove nothing."""
    assert project.step(*FAST, "--stop-on-pass").action == "converged"


def test_the_seed_and_the_environment_protect_too(project: Project) -> None:
    project.write_seed(
        {"description": "It works", "verify_command": "sh tests/check.sh"}, protect=["tests/**"]
    )
    project.agent.on("execute", {"write": {"tests/check.sh": "true\n", "a/uv.lock": "1"}})
    done = project.step(*FAST, env={"OURO_PROTECT": '["*.lock"]'})
    assert done.json["criteria"]["passed"] == 0
    assert project.files() == {"README", "tests/check.sh"}
    assert project.events()[0]["data"]["seed"]["protect"] == ["tests/**"]
    assert not (project.workspace / "a").exists()
    prompt = project.agent.prompts("1-execute")[0]
    assert "- tests/**\n- *.lock\n" in prompt


def test_whatever_is_done_to_a_protected_file_is_undone_before_it_is_judged(
    project: Project,
) -> None:
    names = ["edited", "gone", "mode", "folder", "link", "marked", "committed", "dir/deep", "a\nb"]
    _with(project, **{f"p/{name}": f"{name}\n" for name in names}, **{"p/.gitignore": "junk\n"})
    (project.root / "p" / "run").write_text("#!/bin/sh\n")
    (project.root / "p" / "run").chmod(0o755)
    (project.root / "p" / "to").symlink_to("edited")
    project.git("add", "-A")
    project.git("commit", "-qm", "more")
    before = project.git("ls-tree", "-r", "HEAD", "p")
    criteria = [
        {
            "id": f"c{number}",
            "description": f"{name!r} is as it was",
            "verify_command": f"test \"$(cat 'p/{name}')\" = '{name}' && test -f 'p/{name}'"
            f" && test ! -L 'p/{name}' && test ! -x 'p/{name}'",
        }
        for number, name in enumerate(names)
    ]
    more = ["test -x p/run", 'test "$(readlink p/to)" = edited', "test ! -e p/new"]
    more += ["test ! -e p/sneaky", "test ! -L p/dir", "test -e work", "test ! -e p/uncommitted"]
    criteria += [{"description": text, "verify_command": text} for text in more]
    project.write_seed(*criteria, protect=["p/**"])
    project.agent.on(
        "execute",
        {
            "run": "echo 1 >p/committed; echo 1 >p/new; git add -A; git commit -qm mine;"
            "echo 1 >p/edited; rm p/gone; chmod +x p/mode; chmod -x p/run; ln -sf gone p/to;"
            "rm p/folder; mkdir p/folder; echo 1 >p/folder/inside; rm p/link; ln -s edited p/link;"
            "git update-index --assume-unchanged p/marked; echo 1 >p/marked;"
            "mkdir away; echo 1 >away/deep; rm -r p/dir; ln -s ../away p/dir; echo 1 >p/'a\nb';"
            "echo sneaky >>p/.gitignore; echo 1 >p/sneaky; echo 1 >work; mkdir p/empty;"
            "echo 1 >p/uncommitted"
        },
    )
    done = project.step(*FAST, "--stop-on-pass")
    failing = [v for v in project.data("evaluate.completed")[0]["verdicts"] if not v["passed"]]
    assert not failing, (failing, done.err)
    assert project.git("ls-tree", "-r", project.branch, "p") == before
    assert {"work", "away/deep"} <= project.files()
    left = {left["path"] for left in project.data("execute.completed")[0]["left_out"]}
    assert left >= {f"p/{name}" for name in (*names, "run", "to", "new", "sneaky", ".gitignore")}
    project.clean()


def test_a_protected_file_in_the_place_of_a_folder_comes_back(project: Project) -> None:
    """A whole folder replaced by a link to a doctored copy of it."""
    project.agent.on(
        "execute", {"run": "cp -r tests t; echo true >t/check.sh; rm -r tests;ln -s t tests"}
    )
    (project.root / "ouro.yaml").write_text("protect: [tests]\n")
    done = project.step(*FAST, "--stop-on-pass")
    assert done.json["criteria"]["passed"] == 0, done
    assert project.files() == {"README", "tests/check.sh", "t/check.sh"}


def test_what_a_sparse_checkout_leaves_out_is_not_taken_for_deleted(project: Project) -> None:
    _with(project, **{"more/tests/a": "1\n"})
    project.git("sparse-checkout", "set", "tests")
    project.write_seed("It works", protect=["more/**", "tests/**"])
    project.state.mkdir(parents=True)
    (project.state / "protected.index.lock").touch()  # of a git that was killed
    project.agent.on("execute", {"run": "rm tests/check.sh; echo 1 >work"})
    project.step(*FAST)
    assert project.data("execute.completed")[0]["left_out"] == [
        {"path": "tests/check.sh", "reason": "protected"}
    ]
    assert project.files() == {"README", "tests/check.sh", "more/tests/a", "work"}
    assert not (project.workspace / "more").exists()


def test_a_new_file_that_may_not_be_kept_is_removed_where_it_is_protected(
    project: Project,
) -> None:
    """Left where it is, it could still change what a check finds."""
    (project.root / "ouro.yaml").write_text("protect: ['tests/**']\n")
    project.agent.on("execute", {"write": {"tests/.env": "A=1\n"}})
    project.step(*FAST)
    assert project.data("execute.completed")[0]["left_out"] == [
        {"path": "tests/.env", "reason": "protected"}
    ]
    assert not (project.workspace / "tests" / ".env").exists()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("tests/**", "protect cannot be"),
        ('["/tests"]', "must lie inside the repository"),
        ('["../x"]', "must lie inside the repository"),
        ('[":!x"]', "begins with ':'"),
        ('[""]', "is empty"),
        ("[1]", "protect cannot be [1]"),
    ],
)
def test_bad_globs_are_refused(project: Project, value: str, said: str) -> None:
    before = project.everything()
    done = project.step(env={"OURO_PROTECT": value})
    assert done.code == 2
    assert "environment: protect" in done.err
    assert said in done.err
    if value not in {"tests/**", "[1]"}:
        path = project.root / "ouro.yaml"
        path.write_text(json.dumps({"protect": json.loads(value)}))
        assert f"{path}: protect" in project.step().err
        path.unlink()
    assert project.everything() == before
