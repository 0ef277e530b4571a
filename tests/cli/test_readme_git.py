"""The git commands in the README, run as they stand there on a real lineage."""

import re
import subprocess

import pytest

from tests.app.scripted import ROOT, Project, git

SECTION = (ROOT / "README.md").read_text().partition("## Looking in")[2].partition("\n## ")[0]
COMMANDS = [line.strip() for line in SECTION.splitlines() if line.startswith("    git ")]


@pytest.fixture(scope="module")
def said(evolution: Project) -> dict[str, str]:
    """Command -> what it printed. The README's `x` is the lineage `greet` here."""
    found = {}
    for command in COMMANDS:
        words = re.sub(r"\bx\b", "greet", command)
        done = subprocess.run(["sh", "-c", words], cwd=evolution.root, capture_output=True)
        found[command] = done.stdout.decode()
        assert done.returncode == 0, done
        assert found[command], done
    assert git(evolution.root, "rev-parse", "refs/bisect/bad")
    git(evolution.root, "bisect", "reset")
    git(evolution.root, "worktree", "remove", "../second")
    return found


def one(said: dict[str, str], start: str) -> str:
    [found] = [text for command, text in said.items() if command.startswith(start)]
    return found


def test_there_are_ten() -> None:
    assert len(COMMANDS) == len(set(COMMANDS)) == 10


def test_they_say_what_the_readme_promises(evolution: Project, said: dict[str, str]) -> None:
    evolved = one(said, "git log --first-parent --oneline").splitlines()
    assert "gen 4: qa pass (90); converged (similarity 1)" in evolved[0]
    assert "lineage greet created" in evolved[-2]
    assert "+print(2)" in one(said, "git log --first-parent -p")
    assert ".ouro" not in one(said, "git log --first-parent -p").replace("ouro ls-tree", "")
    assert one(said, "git log --first-parent --grep").count("\ncommit ") == 4 - 1
    actions = [
        line.split()[1]
        for line in one(said, "git log --first-parent --format").splitlines()
        if " " in line.strip()
    ]
    assert actions == ["converged", "continue", "continue", "continue"]
    assert "+print(2)" in one(said, "git diff")
    assert one(said, "git tag").count('{"action":') == 4
    assert one(said, "git show") == evolution.ouro("log", "greet", "--raw").out
    assert "print(2)" in one(said, "git blame")


def test_bisecting_finds_the_phase(said: dict[str, str]) -> None:
    assert re.search(r"is the first bad commit\n(.*\n)*? +gen 3: execute,", one(said, "git bisect"))
