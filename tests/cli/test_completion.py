"""What the Tab key offers, asked as bash, zsh and fish ask."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.scripted import ROOT, Done, finish, git, start

SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Refs are all that is read: there need be no log behind them."""
    git(tmp_path, "init", "-q", "repo")
    folder = tmp_path / "repo"
    git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x", "--allow-empty")
    for name in ("greet", "count"):
        git(folder, "branch", f"ooo/{name}")
    for name in ("greet/gen_2", "greet/gen_10", "greet/rewound_1/gen_3", "count/gen_1"):
        git(folder, "tag", f"ooo/{name}")
    return folder


def ask(root: Path, line: str, shell: str = "bash") -> Done:
    """What the shell's script does when Tab is hit at the end of `line`."""
    words = line.split(" ")
    # fish tells the word that is being typed; the others tell its number.
    number = words[-1] if shell == "fish" else str(len(words) - 1)
    env = {"COMP_WORDS": line, "COMP_CWORD": number, "_OURO_COMPLETE": f"{shell}_complete"}
    return finish(start([sys.executable, "-m", "ouro"], root, env))


def offered(root: Path, line: str) -> list[str]:
    done = ask(root, line)
    assert (done.code, done.err) == (0, ""), done
    return [text.removeprefix("plain,") for text in done.out.splitlines() if text]


@pytest.mark.parametrize(
    "line",
    [
        *(f"ouro {c} " for c in ("log", "note", "path", "status", "undo", "blame")),
        "ouro step --lineage-id ",
        "ouro ralph --max-cycles 3 --lineage-id ",
    ],
)
def test_lineages_are_offered(root: Path, line: str) -> None:
    assert offered(root, line) == ["count", "greet"]


def test_what_was_begun_is_completed(root: Path) -> None:
    assert offered(root, "ouro log g") == ["greet"]
    assert offered(root, "ouro und") == ["undo"]
    assert offered(root, "ouro ralph --max-c") == ["--max-cycles", "--max-cost"]
    assert offered(root, "ouro ralph --seed-file ") == ["file,"]
    assert offered(root, "ouro ralph greet ") == []


def test_generations_are_those_of_the_lineage(root: Path) -> None:
    assert offered(root, "ouro rewind greet --to ") == ["2", "10"]
    assert offered(root, "ouro fork greet new --at 1") == ["10"]
    assert offered(root, "ouro show greet ") == ["gen_2", "gen_10"]
    assert offered(root, "ouro diff count gen_1 g") == ["gen_1"]
    assert offered(root, "ouro state greet --at gen_1") == ["gen_10"]


def test_another_repository_is_asked_where_one_is_named(root: Path, tmp_path: Path) -> None:
    assert offered(tmp_path, f"ouro log --project-dir {root} ") == ["count", "greet"]


def test_outside_of_a_repository_nothing_is_offered_and_nothing_said(tmp_path: Path) -> None:
    assert offered(tmp_path, "ouro log ") == []
    assert offered(tmp_path, "ouro log --project-dir gone ") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_get_the_same(root: Path, shell: str) -> None:
    done = ask(root, "ouro log g", shell)
    assert (done.code, done.err) == (0, "")
    assert "greet" in done.out
    assert "count" not in done.out


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "bin" / "ouro"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec "{sys.executable}" -m ouro "$@"\n')
    path.chmod(0o755)
    (path.parent / "ooo").symlink_to("ouro")
    return path


@pytest.mark.parametrize("name", ["ouro", "ooo"])
def test_a_real_bash_completes(root: Path, program: Path, name: str) -> None:
    script = f"""
        eval "$(ouro completion bash)"
        function=$(complete -p {name} | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        COMP_WORDS=({name} log '') COMP_CWORD=2
        $function {name}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = finish(start(["bash", "--norc", "-c", script], root, {"PATH": path}))
    assert done.out.split() == ["count", "greet"], done


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_that_the_shell_reads(root: Path, shell: str) -> None:
    done = finish(start([sys.executable, "-m", "ouro", "completion", shell], root, {}))
    assert (done.code, done.err) == (0, "")
    assert f"_OURO_COMPLETE={shell}_complete" in done.out
    if not (found := shutil.which(shell)):
        pytest.skip(f"no {shell} here")
    subprocess.run([found, "-n"], input=done.out, text=True, check=True)
