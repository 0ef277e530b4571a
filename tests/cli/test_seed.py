"""`ouro seed`: a template that reads, a check that says what it saw, and nothing overwritten."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def ouro(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ouro", *map(str, words)], capture_output=True, text=True
    )


def test_the_template_is_a_seed_and_is_never_written_over_a_file(tmp_path: Path) -> None:
    path = tmp_path / "seed.yaml"
    assert ouro("seed", "new", path).returncode == 0
    first = path.read_text()
    assert ouro("seed", "check", path).returncode == 0
    path.write_text(first + "# mine\n")
    again = ouro("seed", "new", path)
    assert (again.returncode, again.stdout) == (2, "")
    assert "is there already" in again.stderr
    assert path.read_text() == first + "# mine\n"


@pytest.mark.parametrize(
    ("name", "uncovered", "hidden"),
    [("dummy_seed", 0, 0), ("partly_api_seed", 5, 0), ("checks_seed", 4, 1)],
)
def test_the_examples_are_checked(name: str, uncovered: int, hidden: int) -> None:
    found = ouro("seed", "check", ROOT / f"examples/{name}.yaml", "--json")
    said = json.loads(found.stdout)
    assert (found.returncode, found.stderr) == (0, "")
    assert (len(said["uncovered"]), said["hidden"], said["warnings"]) == (uncovered, hidden, [])
    people = ouro("seed", "check", ROOT / f"examples/{name}.yaml")
    assert "the offline agent can meet and verify" in people.stdout


def test_a_seed_that_cannot_be_read_exits_2_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("goal: yes\nacceptance_criteria: [x]\n")
    found = ouro("seed", "check", path)
    assert (found.returncode, found.stdout) == (2, "")
    assert f"{path}:1: goal" in found.stderr
    assert "Traceback" not in found.stderr
