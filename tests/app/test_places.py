"""Where a step can run, what is in its way, and all that is the user's and stays as it was."""

import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Done, Project, finish, git, start

PASSES: dict[str, Any] = {"write": {"ok": "1"}}
ONCE = ("--stop-on-pass", "--no-qa")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.agent.on("execute", PASSES)
    return made


def passes(project: Project, **how: Any) -> Done:
    done = project.step(*ONCE, **how)
    assert (done.code, done.action) == (0, "converged"), done
    assert "ok" in project.files()
    return done


def with_unfinished_work(project: Project) -> None:
    """A stash entry, staged, changed, untracked and ignored files in the user's checkout."""
    (project.root / "README").write_text("Stashed.\n")
    project.git("stash", "-q")
    (project.root / "README").write_text("Changed.\n")
    (project.root / "staged").write_text("1")
    project.git("add", "staged")
    (project.root / "untracked").write_text("1")
    (project.root / ".git" / "info" / "exclude").write_text("ignored\n")
    (project.root / "ignored").write_text("1")


# --- what is the user's


def test_a_whole_lineage_touches_nothing_of_the_users(project: Project) -> None:
    with_unfinished_work(project)
    before = project.untouched()
    first = project.step()
    assert first.code == 3
    assert "3 uncommitted changes in" in first.err
    assert project.step().code == 0
    assert project.untouched() == before
    assert project.files() == {"README", "ok"}
    assert project.show("README") == "A project."


@pytest.mark.parametrize("phase", ["execute", "qa"])
def test_nor_does_one_that_fails(project: Project, phase: str) -> None:
    with_unfinished_work(project)
    before = project.untouched()
    project.agent.on(phase, {"exit": 1, "run": "rm README; git commit -qam no"})
    assert project.step("--max-failures", "1").code == 12
    assert project.untouched() == before


# --- where one stands


def test_from_a_subdirectory(project: Project) -> None:
    folder = project.root / "a b" / "c"
    folder.mkdir(parents=True)
    shutil.copy(project.seed, folder / "my seed.yaml")
    words = ["step", "--lineage-id", "greet", "--seed-file", "my seed.yaml", *ONCE]
    shutil.copy(project.agent.program, folder / "agent")
    done = project.ouro(*words, "--agent", "./agent", cwd=folder)
    assert (done.code, done.action) == (0, "converged"), done
    assert project.workspace.is_dir()


def test_from_another_working_tree(project: Project) -> None:
    """Its HEAD is where the lineage starts; the workspace lies beside the main tree."""
    tree = project.folder / "tree"
    project.git("worktree", "add", "-q", "-b", "side", str(tree))
    (tree / "side").write_text("1")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "side")
    passes(project, cwd=tree)
    assert project.files() == {"README", "side", "ok"}
    assert project.workspace.is_dir()
    assert project.data("lineage.created")[0]["base"] == git(tree, "rev-parse", "HEAD")


def test_on_a_detached_head(project: Project) -> None:
    project.git("commit", "-q", "--allow-empty", "-m", "second")
    project.git("checkout", "-q", "HEAD~1")
    passes(project)
    assert project.data("lineage.created")[0]["base"] == project.git("rev-parse", "HEAD")


def test_from_another_commit(project: Project) -> None:
    (project.root / "later").write_text("1")
    project.git("add", ".")
    project.git("commit", "-qm", "later")
    before = project.everything()
    project.step("--base", "no-such").refused(1, "'no-such' names no commit here")
    assert project.everything() == before
    assert project.step(*ONCE, "--base", "main~1").code == 0
    assert project.files() == {"README", "ok"}


def test_before_the_first_commit(tmp_path: Path) -> None:
    project = Project(tmp_path, first_commit=False)
    project.agent.on("execute", PASSES)
    (project.root / "untracked").write_text("1")
    before = project.untouched()
    done = passes(project)
    assert "no commit yet" in done.err
    assert project.files() == {"ok"}
    assert project.untouched() == before
    assert project.git("rev-list", "--max-parents=0", project.branch).count("\n") == 0


def test_in_a_bare_repository(project: Project) -> None:
    bare = project.folder / "bare.git"
    git(project.folder, "clone", "-q", "--bare", str(project.root), str(bare))
    passes_in = project.step(*ONCE, cwd=bare)
    assert (passes_in.code, passes_in.action) == (0, "converged"), passes_in
    assert git(bare, "show", "refs/heads/ooo/greet:ok") == "1"
    assert (project.folder / "bare.git.ouro" / "greet" / "ok").is_file()


def test_called_by_a_hook(project: Project) -> None:
    """What git exports there points elsewhere; the step works where it stands."""
    other = project.folder / "other"
    git(project.folder, "init", "-q", str(other))
    index = project.folder / "index"
    env = {"GIT_DIR": str(other / ".git"), "GIT_INDEX_FILE": str(index), "GIT_PREFIX": "a/"}
    passes(project, env={**env, "GIT_WORK_TREE": str(other)})
    assert not index.exists()
    assert git(other, "for-each-ref") == ""
    assert not (other / ".git" / "ouro").exists()


def test_in_a_real_hook(project: Project) -> None:
    words = [sys.executable, "-m", "ouro", *project.words("--agent", project.agent.line, *ONCE)]
    hook = project.root / ".git" / "hooks" / "post-commit"
    hook.write_text(f"#!/bin/sh\nexec {shlex.join(words)} >'{project.folder}/out' 2>&1\n")
    hook.chmod(0o755)
    (project.root / "new").write_text("1")
    project.git("add", ".")
    done = finish(start(["git", "commit", "-qam", "second"], project.root, {}))
    assert done.code == 0, done
    assert '"action":"converged"' in (project.folder / "out").read_text()
    assert project.files() == {"README", "new", "ok"}
    assert project.git("status", "--porcelain") == ""


def test_without_a_name(tmp_path: Path) -> None:
    project = Project(tmp_path, first_commit=False, identity=False)
    project.git("config", "user.useConfigOnly", "true")
    project.agent.on("execute", PASSES)
    done = passes(project)
    assert "git knows no user.name here: commits are by ouro <ouro@localhost>" in done.err
    assert project.git("log", "-1", "--format=%an <%ae>", project.branch) == (
        "ouro <ouro@localhost>"
    )
    assert project.step().err.count("git knows no user.name") == 0


# --- what a tree can hold


def test_names_modes_and_links_are_kept(project: Project) -> None:
    strange = r"""
mkdir -p 'a dir' empty
printf x >'a dir/with spaces'
printf x >"$(printf 'new\nline')"
printf x >"$(printf 'latin-\351')"
printf x >-dash
printf x >:colon
printf x >'*'
printf x >umläut
: >nothing
printf '#!/bin/sh\n' >tool; chmod +x tool
ln -s ok link
ln -s ../.. 'a dir/up'
ln -s nowhere dangling
printf 'a\r\nb\r\n' >crlf
"""
    project.agent.on("execute", {**PASSES, "run": strange})
    done = passes(project)
    assert done.code == 0
    listed = project.git("ls-tree", "-r", "-z", project.branch).split("\0")
    modes = {line.split("\t", 1)[1]: line.split(" ")[0] for line in listed if line}
    assert {name: modes[name] for name in ("tool", "link", "a dir/up", "dangling", "ok")} == {
        "tool": "100755",
        "link": "120000",
        "a dir/up": "120000",
        "dangling": "120000",
        "ok": "100644",
    }
    names = ("new\nline", "a dir/with spaces", "-dash", ":colon", "*", "umläut", "nothing")
    assert set(names) <= set(modes)
    assert any(name.startswith("latin-") for name in modes)
    assert len([name for name in modes if not name.startswith(".ouro/")]) == 15
    files = project.data("execute.completed")[0]["files"]
    assert "latin-\\xe9" in files
    project.clean()


def test_settings_of_the_users_that_would_change_content(project: Project) -> None:
    project.git("config", "core.autocrlf", "true")
    project.git("config", "commit.gpgsign", "true")
    project.git("config", "gpg.program", "false")
    (project.root / ".gitattributes").write_text("* text=auto eol=crlf\n")
    (project.root / ".gitignore").write_text(".ouro/\n*.jsonl\n")
    hook = project.root / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    project.git("add", ".gitattributes", ".gitignore")
    project.git("-c", "commit.gpgsign=false", "commit", "-qnm", "settings")
    passes(project)
    log = ".ouro/lineages/greet/events/000001.jsonl"
    assert "\r" not in project.show(log)
    assert (project.workspace / log).read_bytes() == project.show(log).encode() + b"\n"
    project.clean()


# --- names and things in the way


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("branch", "ooo"), "refs/heads/ooo is in the way"),
        (("tag", "ooo"), "refs/tags/ooo is in the way"),
        (("tag", "ooo/greet"), "refs/tags/ooo/greet is in the way"),
        (("tag", "ooo/greet/mine"), "refs/tags/ooo/greet/mine is in the way"),
        (("branch", "ooo/greet/mine"), "refs/heads/ooo/greet/mine is in the way"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_names_in_the_way(project: Project, words: tuple[str, ...], named: str) -> None:
    project.git(*words)
    before = project.everything()
    project.step().refused(1, named, "choose another --lineage-id")
    assert project.everything() == before
    assert project.agent.calls() == []


def test_a_branch_of_that_name_that_is_no_lineage(project: Project) -> None:
    project.git("branch", "ooo/greet")
    before = project.untouched()
    project.step().refused(1, "refs/heads/ooo/greet holds no log", "is it a branch of yours?")
    assert project.untouched() == before
