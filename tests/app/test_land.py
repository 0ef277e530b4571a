"""Landing: the generation's code, the user's branch, git's own ways on and back."""

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Done, Project, added, git, mutations, put_back
from tests.samples import every

LINES = "".join(f"line {number}\n" for number in range(1, 21))
ODD = "printf x >\"$(printf 'b\\377d')\"; printf y >' a \"b'; printf z >\"$(printf 'new\\nline')\""
CODE: dict[int, dict[str, Any]] = {
    1: {
        "write": {"text": LINES.replace("line 3\n", "line three\n"), "ok": "1"},
        "run": f"chmod +x tool; ln -s text link; git mv old moved; git rm -q gone; {ODD}",
    },
    2: {
        "write": {"text": LINES.replace("line 3\n", "line 3, again\n"), "deep/er/new": "2"},
        "run": "printf '\\0\\1\\2' >binary; : >empty",
    },
}


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two generations whose code changes in every way that git knows, in a repository with a
    prompt of the user's."""
    project = Project(tmp_path_factory.mktemp("grown"))
    files = {"text": LINES, "tool": "#!/bin/sh\n", "old": LINES.upper(), "gone": "1\n"}
    for name, text in {**files, "binary": "\0\1", ".ouro/prompts/qa.md": "Be strict.\n"}.items():
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text(text)
    project.git("add", ".")
    project.git("commit", "-q", "-m", "before")
    for number, act in CODE.items():
        project.agent.on("execute", act, gen=number)
        project.agent.on("reflect", mutations(added(f"field{number}")), gen=number)
    project.steps(2, "--no-qa")
    return project


@pytest.fixture
def project(grown: Project, tmp_path: Path) -> Iterator[Project]:
    """The same again and again."""
    with put_back(grown.folder, tmp_path / "spare"):
        yield grown


def land(project: Project, *more: str, code: int = 0, cwd: Path | None = None) -> Any:
    done = project.ouro("land", project.lineage, "--json", *more, cwd=cwd)
    assert done.code == code, done
    return done.json if done.out else done


def code_of(project: Project, revision: str) -> str:
    """Modes, ids and names of a commit's code."""
    listed = project.git("ls-tree", "-r", "-z", revision)
    return "\0".join(line for line in listed.split("\0") if "\t.ouro/" not in line)


def own_of(project: Project, revision: str) -> str:
    return project.git("ls-tree", "-r", revision, ".ouro/")


def parents(project: Project, revision: str = "HEAD") -> list[str]:
    return project.git("log", "-1", "--format=%P", revision).split()


def trailers(project: Project, revision: str = "HEAD") -> list[str]:
    said = project.git("log", "-1", "--format=%(trailers:only)", revision)
    return [line for line in said.splitlines() if line.startswith("Ouro-")]


def commit(project: Project, message: str, **files: str) -> str:
    for name, text in files.items():
        (project.root / name).write_text(text)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", message)
    return project.git("rev-parse", "HEAD")


def source(project: Project, generation: int) -> str:
    return project.git("rev-parse", f"ooo/greet/gen_{generation}^{{commit}}")


def undo(project: Project, done: Any) -> None:
    project.git(*shlex.split(done["undo"])[1:])


# --- exact


@pytest.mark.parametrize("mode", ["--squash", "--merge"])
def test_what_lands_is_the_generation_and_nothing_of_ouros(project: Project, mode: str) -> None:
    before, tip = project.untouched(), project.tip()
    old = project.git("rev-parse", "HEAD")
    planned = land(project, mode, "--dry-run")
    assert project.untouched() == before
    done = land(project, mode)
    assert {**planned, "state": "landed", "commit": done["commit"], "undo": done["undo"]} == done
    assert code_of(project, "HEAD") == code_of(project, "ooo/greet/gen_2")
    assert own_of(project, "HEAD") == own_of(project, old)
    assert project.git("status", "--porcelain", "--untracked-files=all") == ""
    assert (project.root / os.fsdecode(b"b\xffd")).read_text() == "x"
    assert (project.root / "link").is_symlink()
    assert parents(project) == ([old, source(project, 2)] if mode == "--merge" else [old])
    assert project.git("log", "-1", "--format=%an %cn %s") == "Ada Ada Greet people"
    assert "- ac1: It works" in project.git("log", "-1", "--format=%b")
    landed = [f"Ouro-Commit: {source(project, 2)}"]
    assert trailers(project) == ["Ouro-Lineage: greet", "Ouro-Generation: 2", *landed]
    assert project.tip() == tip
    assert land(project, mode)["state"] == "nothing"
    undo(project, done)
    now = project.untouched()
    assert {k: v for k, v in now.items() if k not in ("index", "logs/HEAD")} == {
        k: v for k, v in before.items() if k not in ("index", "logs/HEAD")
    }


def test_a_branch_that_moved_gets_what_the_lineage_changed(project: Project) -> None:
    """The same in the checkout and beside it, hooks or none: renames are followed."""
    text = LINES.replace("line 18\n", "line eighteen\n")
    commit(project, "mine", text=text, old=LINES.upper() + "MORE\n", mine="mine\n")
    project.git("branch", "beside")
    # Settings of the user's with which git answers differently.
    project.git("config", "grep.patternType", "fixed")
    project.git("config", "log.showSignature", "true")
    (project.root / ".git" / "SQUASH_MSG").write_text("of something long ago\n")
    head = project.git("rev-parse", "HEAD")
    there = land(project, "--into", "beside")
    assert project.git("rev-parse", "HEAD") == head
    assert project.git("status", "--porcelain") == ""
    assert there["old"] == parents(project, "beside")[0] == head
    here = land(project)
    assert project.git("rev-parse", "HEAD^{tree}") == project.git("rev-parse", "beside^{tree}")
    said = project.git("log", "-1", "--no-show-signature", "--format=%B", "beside")
    assert project.git("log", "-1", "--no-show-signature", "--format=%B") == said
    assert land(project)["reason"].startswith("main has it, since")
    assert here["files"] == there["files"]
    assert project.git("show", "HEAD:text") == text.replace("line 3\n", "line 3, again\n").strip()
    assert project.git("show", "HEAD:moved").endswith("MORE")
    assert project.git("show", "HEAD:mine") == "mine"
    undo(project, there)
    assert project.git("rev-parse", "beside") == head


@pytest.mark.parametrize(
    ("mode", "abort"),
    [("--squash", ["cherry-pick", "--abort"]), ("--merge", ["merge", "--abort"])],
)
def test_conflicts_are_gits_own(project: Project, mode: str, abort: list[str]) -> None:
    text = LINES.replace("line 3\n", "mine\n")
    old = commit(project, "mine", text=text, binary="\0mine")
    (project.root / "untracked").write_text("mine\n")
    before = project.untouched()
    assert land(project, mode, "--dry-run")["conflicts"] == ["binary", "text"]
    assert project.untouched() == before
    done = land(project, mode, code=1)
    assert (done["state"], sorted(done["conflicts"])) == ("conflicts", ["binary", "text"])
    assert done["undo"] == shlex.join(["git", *abort])
    assert shlex.join(["git", *abort]) in project.git("status")
    assert "<<<<<<< HEAD" in (project.root / "text").read_text()
    land(project, mode, code=1).refused(1, "is in the middle of")
    undo(project, done)
    names = {"index", "logs/HEAD"}
    now = project.untouched()
    assert {k: now.get(k) for k in before if k not in names} == {
        k: before[k] for k in before if k not in names
    }
    assert project.git("status", "--porcelain") == "?? untracked"
    land(project, mode, code=1)
    (project.root / "text").write_text("resolved\n")
    project.git("checkout", "-q", "--theirs", "binary")
    project.git("add", "text", "binary")
    project.git("commit", "-q", "--no-edit")
    assert parents(project) == ([old, source(project, 2)] if mode == "--merge" else [old])
    assert trailers(project)[-1] == f"Ouro-Commit: {source(project, 2)}"
    assert project.git("log", "-1", "--format=%s%an") == "Greet peopleAda"
    assert project.git("status", "--porcelain") == "?? untracked"
    assert "deep/er/new" in project.files("HEAD")


def test_in_a_linked_worktree(project: Project) -> None:
    side = project.folder / "side"
    project.git("worktree", "add", "-q", "-b", "side", str(side))
    done = land(project, "--merge", cwd=side)
    assert parents(project, "side") == [done["old"], source(project, 2)]
    assert git(side, "status", "--porcelain") == ""
    git(side, "reset", "-q", "--hard", "HEAD~1")
    (side / "text").write_text("mine\n")
    git(side, "commit", "-q", "-a", "-m", "mine")
    assert land(project, "--merge", code=1, cwd=side)["conflicts"] == ["text"]
    git(side, "merge", "--abort")
    assert git(side, "status", "--porcelain") == ""
    assert project.git("status", "--porcelain") == ""


# --- again


@pytest.mark.parametrize("modes", every(3, product(("--squash", "--merge"), repeat=2)))
def test_landing_again_brings_only_what_came_since(
    project: Project, modes: tuple[str, str]
) -> None:
    first = land(project, "--at", "gen_1", modes[0])
    assert code_of(project, "HEAD") == code_of(project, "ooo/greet/gen_1")
    # Where generation 1 left this, and 2 did not touch it: merged anew, it would be in conflict.
    commit(project, "mine", ok="mine")
    done = land(project, modes[1])
    assert done["base"] == first["source"] == source(project, 1)
    assert project.git("show", "HEAD:ok") == "mine"
    assert project.git("show", "HEAD:deep/er/new") == "2"
    older = land(project, "--at", "gen_1")
    assert older["state"] == "nothing"
    assert project.ouro("land", "greet").out.startswith("greet gen_2: nothing to land: main h")


def test_a_landing_that_was_squashed_with_others_is_known(project: Project) -> None:
    land(project, "--at", "gen_1")
    said = project.git("log", "-1", "--format=%B")
    indented = f"A pull request\n\n* {said}\n\n* something else\n"
    project.git("commit", "-q", "--amend", "-m", indented)
    assert land(project)["base"] == source(project, 1)


@pytest.mark.slow
def test_a_rewind_lands_too(project: Project) -> None:
    land(project)
    assert project.ouro("rewind", "greet", "--to", "1").code == 0
    done = land(project)
    assert (done["generation"], done["source"]) == (1, project.tip())
    assert code_of(project, "HEAD") == code_of(project, "ooo/greet/gen_1")
    assert project.ouro("undo", "greet").code == 0
    land(project)
    assert code_of(project, "HEAD") == code_of(project, "ooo/greet/gen_2")


@pytest.mark.slow
def test_a_lineage_off_another_branch_brings_only_its_own(project: Project) -> None:
    """But a merge brings that branch's history, and so its code."""
    project.git("branch", "release", "HEAD~1")
    land(project, "--into", "release", code=1).refused(
        1, "release and ooo/greet/gen_2 both", "git switch release"
    )
    project.git("switch", "-q", "--detach", "main~1")
    commit(
        project,
        "text and tool",
        text=LINES,
        tool="#!/bin/sh\n",
        old=LINES.upper(),
        gone="1\n",
        binary="\0\1",
    )
    project.git("branch", "-f", "release")
    assert land(project, "--into", "release")["base"] == project.git("rev-parse", "main")
    assert own_of(project, "release") == ""
    project.git("branch", "-f", "release", "main~1")
    land(project, "--into", "release", "--merge")
    assert code_of(project, "release") == code_of(project, "ooo/greet/gen_2")
    assert project.git("merge-base", "release", "main") == project.git("rev-parse", "main")


# --- hooks and signing


def hook(project: Project, name: str, text: str) -> None:
    path = project.root / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("mode", ["--squash", "--merge"])
def test_the_users_hooks_run_and_may_refuse(project: Project, mode: str) -> None:
    hook(project, "pre-commit", "echo heard; env >../hook; exit 1")
    old = project.git("rev-parse", "HEAD")
    done = project.ouro("land", "greet", mode, "--json", env={"GIT_INDEX_FILE": "nowhere"})
    assert done.code == 1
    assert "heard" in done.err
    assert (done.json["state"], done.json["commit"]) == ("staged", None)
    assert project.git("rev-parse", "HEAD") == old
    assert "deep/er/new" in project.git("diff", "--cached", "--name-only")
    undo(project, done.json)
    assert project.git("status", "--porcelain") == ""
    assert "GIT_DIR" not in (project.folder / "hook").read_text()
    land(project, mode, code=1)
    hook(project, "pre-commit", "")
    project.git("commit", "-q", "--no-edit")
    assert trailers(project)[-1] == f"Ouro-Commit: {source(project, 2)}"
    assert parents(project) == ([old, source(project, 2)] if mode == "--merge" else [old])


def test_who_signs_signs_landings(project: Project) -> None:
    gpg = project.folder / "gpg"
    said = "-----BEGIN PGP SIGNATURE-----\\nZmFrZQ==\\n-----END PGP SIGNATURE-----\\n"
    status = "\\n[GNUPG:] SIG_CREATED D\\n"
    gpg.write_text(f'#!/bin/sh\ncat >/dev/null\nprintf "{status}" >&2\nprintf -- "{said}"\n')
    gpg.chmod(0o755)
    project.git("config", "gpg.program", str(gpg))
    project.git("config", "commit.gpgsign", "true")
    project.git("branch", "beside")
    land(project)
    land(project, "--into", "beside")
    for branch in ("HEAD", "beside"):
        assert "BEGIN PGP SIGNATURE" in project.git("cat-file", "commit", branch)


# --- refused


def refused(project: Project, code: int, *said: str, words: tuple[str, ...] = ()) -> None:
    before = project.everything()
    land(project, *words, code=code).refused(code, *said)
    assert project.everything() == before


def test_what_is_no_place_to_land(project: Project) -> None:
    refused(project, 2, "there is no branch 'nowhere' here", words=("--into", "nowhere"))
    refused(project, 2, "there is no branch", words=("--into", "no..good"))
    refused(project, 2, "ooo/greet is the branch of a lineage", words=("--into", "ooo/greet"))
    refused(project, 1, "has no generation 9", "gen_1 to gen_2", words=("--at", "gen_9"))
    refused(project, 2, "'HEAD' names no generation", words=("--at", "HEAD"))
    land(project, code=2, cwd=project.workspace).refused(2, "is the branch of a lineage", "--into")
    other = project.folder / "other"
    project.git("worktree", "add", "-q", "-b", "side", str(other))
    refused(project, 1, f"side is checked out in {other}", words=("--into", "side"))
    project.git("switch", "-q", "--detach")
    refused(project, 2, "no branch is checked out here", "--into BRANCH")


def test_changes_and_files_in_the_way_are_named(project: Project) -> None:
    (project.root / "README").write_text("mine\n")
    refused(project, 1, "changes that are not committed: README")
    project.git("checkout", "-q", "README")
    (project.root / "deep").write_text("mine\n")
    refused(project, 1, "in no commit: deep")
    (project.root / "deep").unlink()
    (project.root / ".git" / "info" / "exclude").write_text("empty\n")
    (project.root / "empty").write_text("precious\n")
    refused(project, 1, "in no commit: empty")
    (project.root / "empty").unlink()
    commit(project, "mine", text="mine\n")
    project.git("branch", "beside")
    refused(project, 1, "both changed text", "git switch beside", words=("--into", "beside"))
    merge = subprocess.run(
        ["git", "merge", "-q", "ooo/greet"], cwd=project.root, capture_output=True
    )
    assert merge.returncode == 1
    refused(project, 1, "is in the middle of a merge")


def test_only_a_landing_that_was_cut_off_is_told_to_be_thrown_away(project: Project) -> None:
    """What git merged, and had not committed, is exactly what lands; the user's changes are not."""
    done = land(project)
    project.git("reset", "-q", "--soft", done["old"])
    land(project, code=1).refused(1, "not committed", "a landing that was cut off left them")
    (project.root / "text").write_text("mine\n")
    refused = land(project, code=1)
    refused.refused(1, "not committed", "commit or stash them")
    assert "reset" not in refused.err
    project.git("add", "text")
    refused = land(project, code=1)
    refused.refused(1, "not committed", "commit or stash them")
    assert "reset" not in refused.err


def test_a_branch_that_moves_meanwhile_is_not_moved(project: Project) -> None:
    project.git("branch", "beside")
    lock = project.root / ".git" / "refs" / "heads" / "beside.lock"
    lock.touch()
    refused(project, 1, "refs/heads/beside was not moved", "land again", words=("--into", "beside"))


# --- other repositories


def test_a_bare_repository(project: Project) -> None:
    bare = project.folder / "bare.git"
    project.git("clone", "-q", "--bare", str(project.root), str(bare))
    land(project, code=2, cwd=bare).refused(2, "this repository is bare", "--into BRANCH")
    done = land(project, "--into", "main", cwd=bare)
    assert git(bare, "rev-parse", "main") == done["commit"]
    assert git(bare, "log", "-1", "--format=%an", "main") == "ouro"
    mine = git(bare, "ls-tree", "-r", "-z", "main")
    assert mine == git(project.root, "ls-tree", "-r", "-z", land(project)["commit"])


def test_nothing_in_common_and_nothing_yet(tmp_path: Path) -> None:
    project = Project(tmp_path, first_commit=False, identity=False)
    project.write_seed("It works", {"description": "It flies", "verify_command": "test -e wings"})
    project.agent.on("execute", {"exit": 1})
    project.step("--no-qa")
    land(project, code=1).refused(1, "greet has completed no generation yet", "ouro status greet")
    project.agent.on("execute", {"write": {"ok": "1"}})
    assert project.ouro("retry", "greet").code == 0
    project.step("--no-qa")
    land(project, "--merge", code=2).refused(2, "main has no commit yet", "--squash")
    (project.root / "ok").write_text("in the way\n")
    land(project, code=1).refused(1, "in no commit: ok")
    (project.root / "ok").unlink()
    done = project.ouro("land", "greet", "--json")
    subprocess.run(["sh", "-ec", done.json["undo"]], cwd=project.root, check=True)
    assert project.git("status", "--porcelain") == ""
    done = project.ouro("land", "greet")
    assert "warning: ooo/greet/gen_1 is not approved: ac2: It flies (open)" in done.err
    assert done.out.startswith("greet gen_1 landed on main: 1 file changed\n")
    assert project.git("ls-tree", "--name-only", "HEAD") == "ok"
    assert parents(project) == []
    assert project.git("log", "-1", "--format=%an") == "ouro"
    project.git("update-ref", "-d", "HEAD")
    project.git("rm", "-q", "--cached", "ok")
    name = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    (project.root / "ok").rename(project.root / "mine")
    project.git("add", ".")
    project.git(*name, "commit", "-q", "-m", "mine")
    for mode in ("--squash", "--merge"):
        assert land(project, mode, "--dry-run")["base"] is None
    land(project, "--merge")
    assert project.git("ls-tree", "--name-only", "HEAD").splitlines() == ["mine", "ok"]


# --- for a pull request


def test_a_text_for_a_pull_request_changes_nothing(project: Project) -> None:
    before = project.everything()
    done: Done = project.ouro("land", "greet", "--pr-body", "--at", "gen_1")
    assert done.code == 0
    for line in (
        "Greet people",
        "- [x] **ac1** It works",
        "No reviewer looked at it.",
        "| 1 | continue |  | 1/1 criteria passed |",
        "    git show ooo/greet/gen_1",
    ):
        assert any(said.startswith(line) for said in done.out.splitlines()), line
    assert "| 2 |" not in done.out
    whole = json.loads(project.ouro("land", "greet", "--pr-body", "--json").out)
    assert whole["title"] == "Greet people"
    assert "| 2 | continue |" in whole["body"]
    assert project.everything() == before
