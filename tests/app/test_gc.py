"""gc: found before it is removed, and a reason for all that stays."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Project, finish, git, put_back, until


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A lineage that has ended after two generations."""
    project = Project(tmp_path_factory.mktemp("grown"))
    project.agent.on("execute", {"write": {"a": "1"}}, gen=1)
    project.agent.on("execute", {"write": {"ok": "1"}}, gen=2)
    project.write_seed(
        {"description": "It works", "verify_command": "test -e ok && touch made.pyc"}
    )
    project.steps(2, "--no-qa", "--stop-on-pass")
    return project


@pytest.fixture
def project(grown: Project, tmp_path: Path) -> Iterator[Project]:
    """The same again and again."""
    script, grown.lineage = dict(grown.agent._script), "greet"
    with put_back(grown.folder, tmp_path / "spare"):
        yield grown
    grown.agent._script = script


def gc(project: Project, *words: str, code: int = 0) -> Any:
    done = project.ouro("gc", "--json", *words)
    assert done.code == code, done
    return done.json if done.out else done


def of(said: Any, kind: str, which: str = "items") -> list[Any]:
    return [one for one in said[which] if one["kind"] == kind]


def why(project: Project, kind: str = "workspace") -> str:
    """Why the one thing of that kind is kept, both when asked and when told to remove."""
    (kept,) = of(gc(project), kind, "kept")
    assert of(gc(project, "--yes"), kind, "kept") == [kept]
    said: str = kept["why"]
    return said


def land(project: Project) -> None:
    assert project.ouro("land", project.lineage).code == 0


# --- workspaces


def test_a_workspace_goes_once_the_result_is_safe_elsewhere(project: Project) -> None:
    (project.workspace / "__pycache__").mkdir()
    (project.workspace / "__pycache__" / "x.pyc").write_text("x" * 100)
    assert why(project).startswith("not pushed, and not landed: git push REMOTE ooo/greet")
    land(project)
    before = project.everything()
    said = gc(project)
    (item,) = of(said, "workspace")
    landing = project.git("rev-parse", "HEAD")[:12]
    assert item["why"] == f"the lineage has ended, and its code landed with {landing}"
    assert item["note"].endswith("in __pycache__, made.pyc")
    assert item["bytes"] > 100
    assert project.everything() == before
    assert "nothing was removed; with --yes it is" in project.ouro("gc").out
    done = gc(project, "--yes")
    assert of(done, "workspace") == [item]
    assert not project.workspace.parent.exists()
    assert len(project.git("worktree", "list").splitlines()) == 1
    assert project.events()
    project.git(*item["undo"].split()[1:])
    project.clean()
    assert project.step("--no-qa", "--stop-on-pass").action == "converged"


def test_pushed_or_merged_is_safe_too(project: Project) -> None:
    project.git("init", "-q", "--bare", str(project.folder / "remote.git"))
    project.git("remote", "add", "origin", str(project.folder / "remote.git"))
    project.git("push", "-q", "origin", "ooo/greet")
    assert of(gc(project), "workspace")[0]["why"].endswith("and its tip is in origin/ooo/greet")
    project.git("update-ref", "-d", "refs/remotes/origin/ooo/greet")
    project.git("branch", "copy", "ooo/greet")
    assert of(gc(project), "workspace")[0]["why"].endswith("and its tip is in copy")
    project.git("branch", "-D", "-q", "copy")
    assert project.ouro("land", "greet", "--at", "gen_1").code == 0
    assert why(project).startswith("not pushed, and not landed")


def test_what_only_the_workspace_holds_keeps_it(project: Project) -> None:
    land(project)
    workspace = project.workspace
    (workspace / "mine").write_text("mine\n")
    assert why(project) == "it has changes that are not committed: mine"
    (workspace / "mine").unlink()
    git(workspace, "init", "-q", "nested")
    assert why(project) == "it holds what is in no commit: nested/"
    shutil.rmtree(workspace / "nested")
    (project.state / "left_out").write_bytes(b".env\0")
    (workspace / ".env").write_text("TOKEN=1\n")
    assert why(project) == "it holds what is in no commit: .env"
    (project.root / ".env").write_text("TOKEN=2\n")
    assert why(project) == "it holds what is in no commit: .env"
    (project.root / ".env").write_text("TOKEN=1\n")
    assert of(gc(project), "workspace")
    (workspace / ".env").unlink()
    (project.root / ".git" / "worktrees" / "greet" / "BISECT_LOG").touch()
    assert why(project) == "it is in the middle of a bisect"
    (project.root / ".git" / "worktrees" / "greet" / "BISECT_LOG").unlink()
    (project.state / "run.json").write_text("{}")
    assert why(project).startswith("a step died in it")
    (project.state / "run.json").unlink()
    project.git("worktree", "lock", str(workspace))
    assert of(gc(project, "--yes"), "workspace", "kept")[0]["why"].startswith("it could not be")
    assert workspace.is_dir()


def test_checkouts_of_yours_and_lineages_that_go_on_stay(project: Project) -> None:
    project.write_seed({"description": "It flies", "verify_command": "test -e wings"})
    project.lineage = "other"
    project.step("--no-qa")
    assert of(gc(project, "other"), "workspace", "kept")[0]["why"] == "the lineage goes on"
    project.lineage = "greet"
    land(project)
    project.git("worktree", "remove", "--force", str(project.workspace))
    project.git("switch", "-q", "ooo/greet")
    kept = of(gc(project, "greet", "--yes"), "workspace", "kept")
    assert [k["why"] for k in kept] == ["it is a checkout of yours"]
    assert (project.root / "ok").is_file()


def test_nothing_of_a_lineage_that_a_step_holds(project: Project) -> None:
    gate, workspaces = project.folder / "gate", project.folder / "repo.ouro"
    project.lineage = "other"
    project.agent.on("execute", {"run": f"while [ ! -e {gate} ]; do sleep 0.05; done"}, gen=1)
    before = len(project.agent.calls())
    step = project.start_step("--no-qa")
    until(lambda: len(project.agent.calls()) > before)
    for words in ([], ["--yes"]):
        (kept,) = gc(project, "other", *words)["kept"]
        assert kept["kind"] == "lineage"
    assert (workspaces / "other").is_dir()
    gate.touch()
    assert finish(step).code == 3


# --- outputs, rescue refs, and what belongs to nobody


def test_output_of_older_generations_then_of_the_ended(project: Project) -> None:
    output = project.state / "output"
    assert {path.name.split("-")[0] for path in output.iterdir()} == {"gen_1", "gen_2"}
    (item,) = of(gc(project), "output")
    assert item["why"].endswith("the lineage has ended")
    gc(project, "--yes")
    assert list(output.iterdir()) == []


@pytest.mark.slow
def test_output_of_the_generation_that_goes_on_stays(project: Project) -> None:
    project.lineage = "other"
    project.write_seed({"description": "It flies", "verify_command": "test -e wings"})
    project.steps(2, "--no-qa")
    said = gc(project, "other", "--yes")
    assert of(said, "output")[0]["why"].endswith("older than generation 2")
    assert of(said, "output", "kept")[0]["why"].endswith("of the newest generation")
    assert {p.name.split("-")[0] for p in (project.state / "output").iterdir()} == {"gen_2"}


def save(project: Project, ref: str, days: int) -> str:
    """A commit of that age under a ref of ouro's."""
    at = f"{int(subprocess.check_output(['date', '+%s'])) - days * 86400} +0000"
    made = subprocess.run(
        ["git", "commit-tree", "HEAD^{tree}", "-m", "rescue: execute interrupted"],
        cwd=project.root, env={"GIT_COMMITTER_DATE": at, "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    project.git("update-ref", ref, made)
    return made


def test_old_rescue_refs_go_and_can_come_back(project: Project) -> None:
    old = save(project, "refs/ouro/rescue/greet/1", 31)
    save(project, "refs/ouro/rescue/greet/2", 29)
    save(project, "refs/ouro/rescue/greet/3", 400)
    save(project, "refs/ouro/rescue/gone/1", 400)
    said = gc(project, "greet")
    (item,) = of(said, "rescue")
    assert (item["name"], item["look"]) == ("refs/ouro/rescue/greet/1", f"git show {old[:12]}")
    assert item["why"] == "31 days old: rescue: execute interrupted"
    young, newest = of(said, "rescue", "kept")
    assert young["why"].startswith("29 days old, kept for 30")
    assert newest["why"] == "the newest, after which the next is numbered"
    gc(project, "greet", "--yes")
    assert project.rescued() == [f"refs/ouro/rescue/greet/{number}" for number in (2, 3)]
    project.git(*item["undo"].split()[1:])
    assert project.git("rev-parse", "refs/ouro/rescue/greet/1") == old
    assert [i["lineage_id"] for i in of(gc(project, "--yes"), "rescue")] == ["gone", "greet"]
    assert project.git("for-each-ref", "refs/ouro/rescue/gone") == ""


def test_what_is_left_of_a_lineage_that_is_gone(project: Project) -> None:
    save(project, "refs/ouro/pins/gone/0", 0)
    save(project, "refs/ouro/pins/greet/0", 0)
    project.git("branch", "copy", "ooo/greet")
    git(project.workspace, "switch", "-q", "--detach")
    project.git("update-ref", "-d", project.branch)
    git(project.workspace, "symbolic-ref", "HEAD", project.branch)
    (project.state / "notes").mkdir()
    (project.state / "notes" / "1.txt").write_text("at\nnote")
    foreign = project.root / ".git" / "ouro" / "Foreign"
    foreign.mkdir()
    (foreign / "lock").touch()
    said = gc(project)
    assert [(i["kind"], i["lineage_id"]) for i in said["items"]] == [
        ("pins", "gone"), ("pins", "greet"), ("state", "greet"),
    ]  # fmt: skip
    assert of(said, "state")[0]["note"] == "1 note that no step has read"
    assert of(said, "workspace", "kept")[0]["why"].startswith("its branch is gone")
    (project.state / "run.json").write_text("{}")
    assert why(project, "state").startswith("a step died there")
    (project.state / "run.json").unlink()
    assert gc(project, "--yes")["removed"] is True
    assert not project.state.exists()
    assert project.git("for-each-ref", "refs/ouro/pins") == ""
    assert project.workspace.is_dir()
    assert foreign.is_dir()


def test_a_lineage_that_nobody_knows_and_one_that_cannot_be_read(project: Project) -> None:
    gc(project, "nobody", code=2).refused(2, "there is no lineage nobody here", "greet")
    gc(project, "No!", code=2).refused(2, "cannot name a lineage")
    project.git("branch", "ooo/mine", "main")
    land(project)
    said = gc(project)
    (kept,) = of(said, "lineage", "kept")
    assert (kept["lineage_id"], kept["why"].split(" (")[0]) == (
        "mine",
        "refs/heads/ooo/mine holds no log",
    )
    assert of(said, "workspace")


def test_where_nothing_is_left_over(tmp_path: Path) -> None:
    done = Project(tmp_path).ouro("gc")
    assert (done.code, done.out) == (0, "nothing to remove\n")
