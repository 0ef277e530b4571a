"""`ouro doctor`: what it sees, what `--fix` mends, and what it leaves alone."""

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.app.scripted import Done, Project, added, git, mutations, until

PASSES: dict[str, Any] = {"write": {"ok": "1"}}
SECRET = "test -e ok"


class Seen(NamedTuple):
    code: int
    fixed: list[str]
    findings: list[dict[str, Any]]

    def about(self, about: str) -> list[dict[str, Any]]:
        return [one for one in self.findings if one["about"] == about]

    def the(self, text: str, level: str) -> dict[str, Any]:
        """The one finding that says `text`."""
        [found] = [one for one in self.findings if text in one["text"]]
        assert found["level"] == level, found
        return found

    def problems(self) -> list[str]:
        return [one["text"] for one in self.findings if one["level"] == "problem"]


def doctor(project: Project, *options: str, **how: Any) -> Seen:
    done = project.ouro("doctor", "--json", *options, **how)
    said = json.loads(done.out)
    return Seen(done.code, said["fixed"], said["findings"])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.agent.on("execute", PASSES)
    return made


def evolved(project: Project) -> None:
    """Three generations, with a hidden check."""
    project.write_seed({"description": "It works", "verify_command": SECRET, "hidden": True})
    for number in (2, 3):
        project.agent.on("reflect", mutations(added(f"field{number}")), gen=number)
    assert [done.action for done in project.steps(3, "--no-qa")] == ["continue"] * 3


def test_a_repository_that_is_well(project: Project) -> None:
    evolved(project)
    before = project.everything()
    seen = doctor(project)
    assert (seen.code, seen.fixed, seen.problems()) == (0, [], [])
    assert project.everything() == before
    assert seen.the("3 generations, ", "ok")["about"] == "greet"
    seen.the(f"the workspace is {project.workspace}", "ok")
    seen.the("Ada <ada@example.org>", "ok")
    assert seen.the("pre-push: pushes are not guarded", "note")["advice"] == "ouro hooks install"
    text = project.ouro("doctor").out
    assert "ok       git: 2." in text
    assert "note     hooks: pre-push" in text


def test_what_derives_from_the_log_is_made_again(project: Project) -> None:
    evolved(project)
    tags = project.git("for-each-ref", "refs/tags/ooo/")
    moved = project.git("rev-parse", "ooo/greet/gen_2")
    project.git("tag", "-d", "ooo/greet/gen_1")
    project.git("tag", "-f", "ooo/greet/gen_2", "main")
    hidden = project.git("rev-parse", "refs/ouro/hidden/greet")
    project.git("update-ref", "-d", "refs/ouro/hidden/greet")
    shutil.rmtree(project.workspace)
    (project.root / "README").write_text("mine")
    project.git("stash")
    project.git("update-ref", "refs/ouro/pins/greet/0", "stash@{0}")
    project.git("update-ref", "refs/ouro/pins/greet/1", "main")
    project.git("update-ref", "refs/ouro/rescue/greet/1", "main")
    lock = project.root / ".git" / f"{project.branch}.lock"
    lock.touch()

    seen = doctor(project)
    assert seen.code == 1
    seen.the("tags are gone: gen_1", "problem")
    seen.the("tags are moved: gen_2", "problem")
    seen.the("no ref keeps its hidden checks", "problem")
    seen.the(f"the workspace {project.workspace} is gone", "note")
    seen.the(str(lock), "problem")
    seen.the("pins/greet/0 is left of a step", "note")
    assert "update-ref -d" in seen.the("pins/greet/1 keeps a stash entry", "note")["advice"]
    rescued = seen.the("refs/ouro/rescue/greet/1, ", "note")
    assert rescued["advice"].startswith("look: git show refs/ouro/rescue/greet/1; drop it: ")
    assert rescued["fix"] is None

    mine = project.untouched()
    seen = doctor(project, "--fix")
    assert (seen.code, seen.problems()) == (0, [])
    assert len(seen.fixed) == 6
    assert project.git("for-each-ref", "refs/tags/ooo/greet/gen_3") in tags
    assert project.tags() == ["gen_1", "gen_2", "gen_3"]
    assert project.git("rev-parse", "ooo/greet/gen_2^{commit}") == project.git(
        "rev-parse", f"{moved}^{{commit}}"
    )
    assert project.git("rev-parse", "refs/ouro/hidden/greet") == hidden
    project.clean()
    assert not lock.exists()
    pins = project.git("for-each-ref", "--format=%(refname)", "refs/ouro/pins", "refs/ouro/rescue")
    assert pins.split() == ["refs/ouro/pins/greet/1", "refs/ouro/rescue/greet/1"]
    assert project.untouched() == mine
    assert doctor(project, "--fix").fixed == []


def test_a_step_that_died_is_recovered(project: Project) -> None:
    project.agent.on("execute", {"write": {"half": "1"}, "sleep": 600})
    step = project.start_step()
    until((project.workspace / "half").exists)
    assert "works on it now" in doctor(project).about("greet")[0]["text"]
    step.send_signal(signal.SIGKILL)
    step.communicate()
    found = doctor(project).the("died in the middle of execute", "problem")
    assert found["advice"] == "the next step does so by itself"
    seen = doctor(project, "--fix")
    assert (seen.code, seen.problems()) == (0, [])
    assert seen.fixed == [f"greet: {found['fix']}"]
    [saved] = project.rescued()
    seen.the(f"{saved}, ", "note")
    assert project.git("show", f"{saved}:half") == "1"
    project.clean()


def test_what_is_the_users_is_named_and_left(project: Project) -> None:
    evolved(project)
    (project.workspace / "mine").write_text("1")
    project.ouro("note", "greet", "use tabs")
    project.git("worktree", "add", "-q", "../side")
    shutil.rmtree(project.folder / "side")
    project.git("branch", "ooo/Mine")
    project.git("branch", "ooo/empty")
    (project.root / ".git" / "ouro" / "old").mkdir()
    stale = project.root / ".git" / "packed-refs.lock"
    stale.touch()
    os.utime(stale, (1, 1))
    before = project.everything()
    seen = doctor(project, "--fix")
    assert seen.code == 1
    seen.the("has changes that no agent made: mine", "problem")
    seen.the("1 note for the next step", "note")
    assert "git worktree prune" in seen.the("side is registered and gone", "note")["advice"]
    seen.the("ooo/Mine cannot be a lineage", "note")
    seen.the("ooo/empty holds no log", "problem")
    seen.the("left of a lineage that is not here", "note")
    seen.the("packed-refs.lock has been held for", "problem")
    assert project.everything() == before


def test_a_workspace_that_is_something_else(project: Project) -> None:
    evolved(project)
    project.git("switch", "-q", "--detach", cwd=project.workspace)
    seen = doctor(project)
    assert "switch ooo/greet" in seen.the("something else is checked out", "problem")["advice"]
    project.git("worktree", "remove", str(project.workspace))
    doctor(project).the("checked out nowhere", "ok")
    project.workspace.mkdir()
    (project.workspace / "x").touch()
    doctor(project).the("is in the way of the workspace", "problem")


def test_a_repository_that_was_moved_finds_its_workspace_again(project: Project) -> None:
    evolved(project)
    moved = project.folder / "moved"
    moved.mkdir()
    for name in ("repo", "repo.ouro"):
        shutil.move(project.folder / name, moved / name)
    project.root = moved / "repo"
    doctor(project).the("was moved, or the repository was", "problem")
    seen = doctor(project, "--fix")
    assert (seen.code, len(seen.fixed)) == (0, 1), seen
    seen.the(f"the workspace is {moved / 'repo.ouro' / 'greet'}", "ok")


def test_a_damaged_log_is_nothing_to_fix(project: Project) -> None:
    evolved(project)
    log = project.workspace / ".ouro/lineages/greet/events/000001.jsonl"
    log.write_text(log.read_text().replace('"seq":2', '"seq":3'))
    project.git("add", "-A", cwd=project.workspace)
    project.git("commit", "-qm", "x", cwd=project.workspace)
    before = project.everything()
    seen = doctor(project, "--fix")
    assert (seen.code, seen.fixed) == (1, [])
    assert "000001.jsonl" in seen.about("greet")[0]["text"]
    assert project.everything() == before


@pytest.mark.slow
def test_what_kind_of_repository_it_is(project: Project) -> None:
    evolved(project)
    git(project.folder, "clone", "-q", "--bare", f"file://{project.root}", "bare.git")
    seen = doctor(project, cwd=project.folder / "bare.git")
    seen.the("bare.git: bare, sha1", "ok")
    seen.the("its hidden checks are not in this clone", "problem")
    assert "--server" in seen.the("pre-receive: pushes are not guarded", "note")["advice"]
    git(project.folder, "clone", "-q", "--depth=1", f"file://{project.root}", "shallow")
    git(project.folder / "shallow", "sparse-checkout", "set", "x")
    seen = doctor(project, cwd=project.folder / "shallow")
    seen.the("shallow/.git: shallow, sparse, sha1", "ok")
    assert "--unshallow" in seen.the("a shallow clone cannot be verified", "note")["advice"]


def refused(done: Done, text: str) -> None:
    assert done.code == 1, done
    assert text in done.out


def test_where_there_is_no_repository_or_no_git(project: Project) -> None:
    refused(project.ouro("doctor", cwd=project.folder), "problem  repository: ")
    refused(
        project.ouro("doctor", env={"PATH": "/nowhere"}), "problem  git: the program git was not"
    )
    (project.root / "ouro.yaml").write_text("agnet: x\n")
    refused(project.ouro("doctor"), "problem  configuration: ")


def test_hooks_that_cannot_do_their_work(project: Project) -> None:
    assert project.ouro("hooks", "install").code == 0
    doctor(project).the("pre-push guards what is pushed", "ok")
    path = project.root / ".git" / "hooks" / "pre-push"
    path.write_text(path.read_text() + "date\n")
    doctor(project).the("was changed since ouro installed it", "note")
    project.git("config", "core.hooksPath", str(project.folder))
    doctor(project).the("outside of this repository", "note")
