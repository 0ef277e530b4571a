"""`ouro hooks`: put in beside what is there, and taken out again without a trace."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ouro.app import hooks
from ouro.errors import OuroError
from ouro.git.hooks import State
from ouro.git.repository import Repo
from tests.app.scripted import finish, git, start

OWN = b'#!/bin/sh\necho "own: $@"\ncat\nexit 0\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main", "repo")
    folder = tmp_path / "repo"
    git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x", "--allow-empty")
    git(tmp_path, "init", "-q", "--bare", "remote")
    git(folder, "remote", "add", "origin", str(tmp_path / "remote"))
    return folder


def own(path: Path, content: bytes = OWN, mode: int = 0o750) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


def picture(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}


def install(root: Path, *, server: bool = False) -> Path:
    hook, _ = hooks.install(Repo(root), server=server)
    assert hook.state is State.INSTALLED
    return hook.path


def push(root: Path, refspec: str = "main") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "push", "origin", refspec], cwd=root, capture_output=True, text=True
    )


# --- in and out


def test_install_twice_and_uninstall_leave_no_trace(root: Path) -> None:
    before = picture(root / ".git" / "hooks")
    path = install(root)
    assert path == root / ".git" / "hooks" / "pre-push"
    assert os.access(path, os.X_OK)
    after = picture(root / ".git" / "hooks")
    _, changed = hooks.install(Repo(root), server=False)
    assert not changed
    assert picture(root / ".git" / "hooks") == after
    assert [hook.path for hook in hooks.uninstall(Repo(root))] == [path]
    assert picture(root / ".git" / "hooks") == before
    assert hooks.uninstall(Repo(root)) == []


def test_a_hook_that_is_there_comes_back_byte_for_byte(root: Path) -> None:
    path = own(root / ".git" / "hooks" / "pre-push")
    before = picture(root / ".git" / "hooks")
    install(root)
    kept = path.with_name("pre-push.before-ouro")
    assert (kept.read_bytes(), kept.stat().st_mode & 0o777) == (OWN, 0o750)
    install(root)
    hooks.uninstall(Repo(root))
    assert picture(root / ".git" / "hooks") == before


def test_a_link_comes_back_as_a_link(root: Path) -> None:
    own(root / "mine.sh")
    path = root / ".git" / "hooks" / "pre-push"
    path.symlink_to("../../mine.sh")
    install(root)
    assert "own: origin" in push(root).stdout
    hooks.uninstall(Repo(root))
    assert str(path.readlink()) == "../../mine.sh"


def test_a_link_that_leads_nowhere_is_not_written_over(root: Path) -> None:
    path = root / ".git" / "hooks" / "pre-push"
    path.symlink_to("gone")
    with pytest.raises(OSError, match="No such file"):
        install(root)
    assert path.is_symlink()


def test_an_install_that_was_cut_off_goes_on(root: Path) -> None:
    path = own(root / ".git" / "hooks" / "pre-push")
    os.link(path, path.with_name("pre-push.before-ouro"))
    install(root)
    hooks.uninstall(Repo(root))
    assert path.read_bytes() == OWN


def test_what_somebody_edited_is_refused_by_name(root: Path) -> None:
    path = install(root)
    path.write_bytes(path.read_bytes().replace(b"set -uf", b"set -uf; date"))
    edited = picture(root / ".git" / "hooks")
    for change in (install, lambda folder: hooks.uninstall(Repo(folder))):
        with pytest.raises(OuroError, match="changed since") as refusal:
            change(root)
        assert str(path) in refusal.value.message
    assert picture(root / ".git" / "hooks") == edited
    assert hooks.status(Repo(root))[0].state is State.EDITED


def test_a_line_behind_the_seal_is_an_edit_too(root: Path) -> None:
    path = install(root)
    path.write_bytes(path.read_bytes() + b"date\n")
    assert hooks.status(Repo(root))[0].state is State.EDITED


def test_one_of_another_version_is_renewed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = own(root.parent / "it's here" / "ouro")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", [str(elsewhere)])
        path = install(root)
    found = hooks.status(Repo(root))[0]
    assert (found.state, found.ouro, found.runs) == (State.OLDER, str(elsewhere), True)
    elsewhere.unlink()
    assert not hooks.status(Repo(root))[0].runs
    _, changed = hooks.install(Repo(root), server=False)
    assert changed
    assert hooks.status(Repo(root))[0].state is State.INSTALLED
    assert b"it's here" not in path.read_bytes()


def test_another_tool_put_its_hook_over_it(root: Path) -> None:
    path = own(root / ".git" / "hooks" / "pre-push")
    install(root)
    path.write_bytes(b"#!/bin/sh\n")
    with pytest.raises(OuroError, match="is there already"):
        install(root)
    assert hooks.uninstall(Repo(root)) == []
    assert path.with_name("pre-push.before-ouro").read_bytes() == OWN


# --- the hook that was there before


def test_it_runs_first_with_the_same_words_and_lines(root: Path) -> None:
    own(root / ".git" / "hooks" / "pre-push")
    install(root)
    done = push(root)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == f"own: origin {root.parent / 'remote'}"
    tip = git(root, "rev-parse", "main")
    assert lines[1] == f"refs/heads/main {tip} refs/heads/main {'0' * 40}"


def test_its_refusal_refuses_and_one_that_reads_nothing_is_no_harm(root: Path) -> None:
    path = own(root / ".git" / "hooks" / "pre-push", b"#!/bin/sh\nexit 3\n")
    install(root)
    assert push(root).returncode != 0
    path.with_name("pre-push.before-ouro").write_bytes(b"#!/bin/sh\nexit 0\n")
    assert push(root).returncode == 0
    [line] = [
        text for text in push(root, "main:refs/heads/ooo/x").stderr.splitlines() if "x:" in text
    ]
    assert "holds no log" in line


def test_one_that_git_did_not_run_is_not_run(root: Path) -> None:
    own(root / ".git" / "hooks" / "pre-push", b"#!/bin/sh\nexit 3\n", mode=0o644)
    install(root)
    assert push(root).returncode == 0


def test_it_runs_before_the_server_hook_too(root: Path) -> None:
    remote = root.parent / "remote"
    own(remote / "hooks" / "pre-receive")
    assert install(remote, server=True) == remote / "hooks" / "pre-receive"
    done = push(root)
    assert done.returncode == 0
    assert f"{'0' * 40} {git(root, 'rev-parse', 'main')} refs/heads/main" in done.stderr
    (remote / "hooks" / "pre-receive.before-ouro").write_bytes(b"#!/bin/sh\nexit 1\n")
    assert push(root, "main:more").returncode != 0


def test_husky_finds_hooks_by_their_name_and_is_refused(root: Path) -> None:
    stub = b'#!/usr/bin/env sh\n. "$(dirname "$0")/h"'
    (root / ".husky").mkdir()
    own(root / ".husky" / "_" / "pre-push", stub)
    git(root, "config", "core.hooksPath", ".husky/_")
    with pytest.raises(OuroError, match="husky") as refusal:
        install(root)
    assert ".husky/pre-push" in refusal.value.hint
    assert (root / ".husky" / "_" / "pre-push").read_bytes() == stub


# --- where hooks lie


def test_in_a_linked_worktree_the_hook_is_that_of_the_repository(root: Path) -> None:
    git(root, "worktree", "add", "-q", "-b", "side", "../side")
    assert install(root.parent / "side") == root / ".git" / "hooks" / "pre-push"


def test_a_repository_without_a_hooks_folder_gets_one(root: Path) -> None:
    for path in (root / ".git" / "hooks").iterdir():
        path.unlink()
    (root / ".git" / "hooks").rmdir()
    install(root)


@pytest.mark.parametrize("absolute", [True, False])
def test_a_hooks_path_in_the_work_tree_is_told(root: Path, absolute: bool) -> None:
    git(root, "config", "core.hooksPath", str(root / ".githooks") if absolute else ".githooks")
    hook, _ = hooks.install(Repo(root), server=False)
    assert hook.path == root / ".githooks" / "pre-push"
    assert hook.shared
    assert "holds no log" in push(root, "main:refs/heads/ooo/x").stderr


def test_a_relative_hooks_path_means_the_git_folder_to_the_server_hook(root: Path) -> None:
    remote = root.parent / "remote"
    git(remote, "config", "core.hooksPath", "guards")
    path = install(remote, server=True)
    assert path == remote / "guards" / "pre-receive"
    assert "refused here" in push(root, "main:refs/heads/ooo/x").stderr
    git(root, "config", "core.hooksPath", "guards")
    assert install(root, server=True) == root / ".git" / "guards" / "pre-receive"


def test_hooks_outside_of_the_repository_are_left_alone(root: Path, sealed_home: Path) -> None:
    path = own(sealed_home / "hooks" / "pre-push")
    git(root, "config", "--global", "core.hooksPath", "~/hooks")
    for change in (install, lambda folder: hooks.status(Repo(folder))):
        with pytest.raises(OuroError, match=r"core.hooksPath \(global\)") as refusal:
            change(root)
    command = refusal.value.hint.partition(": ")[2]
    subprocess.run(command, shell=True, check=True)
    assert install(root) == root / ".git" / "hooks" / "pre-push"
    assert path.read_bytes() == OWN


# --- the command


def test_the_command_says_what_it_did_and_how_to_undo_it(root: Path) -> None:
    def run(*words: str) -> str:
        done = finish(start([sys.executable, "-m", "ouro", "hooks", *words], root, {}))
        assert done.code == 0, done
        return done.out + done.err

    own(root / ".git" / "hooks" / "pre-push")
    said = run("install")
    assert f"installed {root}/.git/hooks/pre-push\n" in said
    assert "pre-push.before-ouro" in said
    assert "undo: ouro hooks uninstall" in said
    assert run("install").startswith("already installed: ")
    assert "installed" in run("status")
    [client, server] = json.loads(run("status", "--json"))
    assert (client["name"], client["state"], server["state"]) == ("pre-push", "installed", "absent")
    said = run("uninstall")
    assert "the hook before it is back" in said
    assert "undo: ouro hooks install\n" in said
    assert run("uninstall") == "no hook of ouro is installed here\n"
