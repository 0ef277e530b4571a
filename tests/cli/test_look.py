"""The commands that only look: what they say, to people and to programs, and that they write
nothing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.scripted import Project, finish, git, start

NAMES = ("greet", "other")
READING = (
    ["status"],
    ["status", "greet"],
    ["status", "--json"],
    ["list"],
    ["list", "--json"],
    ["log", "greet"],
    ["log", "greet", "--json"],
    ["log", "greet", "--generations"],
    ["log", "greet", "--generations", "--json"],
    ["log", "greet", "-p"],
    ["log", "greet", "--raw"],
    ["log", "greet", "--oneline", "--since", "2 hours ago"],
    ["show", "greet"],
    ["show", "greet", "@"],
    ["show", "greet", "1"],
    ["diff", "greet", "@-", "-p"],
    ["blame", "greet"],
    ["state", "greet", "--json"],
    ["path", "greet"],
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two lineages: `greet` has converged in its second generation, `other` waits after a
    failure. Only looked at."""
    made = Project(tmp_path_factory.mktemp("look"))
    made.agent.on("execute", {"write": {"ok": "1"}}, gen=2)
    assert [one.code for one in made.steps(2)] == [3, 0]
    made.lineage = "other"
    made.agent.on("execute", {"exit": 1, "stderr": "out of\tluck \x1b[31m\n"})
    assert made.step("--max-failures", "2").code == 75
    assert made.step("--wait").code == 12
    made.lineage = "greet"
    return made


def said(project: Project, *words: str) -> str:
    done = project.ouro(*words)
    assert (done.code, done.err) == (0, ""), done
    return done.out


def test_status(project: Project) -> None:
    text = said(project, "status", "greet")
    assert text.splitlines()[0] == "greet"
    rows = dict(line.strip().split(maxsplit=1) for line in text.splitlines()[1:])
    assert rows["state"] == "converged"
    assert rows["generation"] == "2"
    assert rows["criteria"] == "1/1 passed, QA pass"
    assert rows["similarity"] == "1"
    assert rows["workspace"] == str(project.workspace)
    assert rows["next"].startswith("nothing: similarity 1.0 ≥ 0.95")
    found = json.loads(said(project, "status", "greet", "--json"))
    assert (found["state"], found["passed"], found["total"]) == ("converged", 1, 1)
    assert (found["action"], found["similarity"], found["generations"]) == ("converged", 1.0, 2)
    assert found["commit"] == project.tip()
    assert found["last_at"] == project.events()[-1]["at"]


def test_what_it_took_and_that_nobody_said_so(project: Project) -> None:
    found = json.loads(said(project, "status", "greet", "--json"))
    unknown = {"input_tokens": None, "output_tokens": None, "cost": None}
    assert {key: found[key] for key in unknown} == unknown
    assert [one["generation"] for one in found["spending"]] == [1, 2]
    usages = [one["usage"] for one in found["spending"]]
    assert all(unknown.items() <= usage.items() for usage in usages)
    assert sum(usage["seconds"] for usage in usages) == pytest.approx(found["seconds"])
    assert sum(usage["unknown_calls"] for usage in usages) == found["unknown_calls"] > 0
    assert (
        json.loads(project.git("tag", "-l", "--format=%(contents)", "ooo/greet/gen_2"))["usage"][
            "total"
        ].items()
        >= unknown.items()
    )
    text = said(project, "status", "greet")
    assert "\n  tokens     unknown\n  cost       unknown\n" in text
    assert f"\n  gen 2      {usages[1]['seconds']:.0f} s, tokens: unknown, cost: unknown\n" in text
    # Failed calls count in their generation, although no phase of it is done.
    other = json.loads(said(project, "status", "other", "--json"))
    assert [one["generation"] for one in other["spending"]] == [1]
    assert other["spending"][0]["usage"]["unknown_calls"] == other["unknown_calls"] == 2
    assert "gen 1" not in said(project, "status")


def test_the_offline_agent_is_free_and_says_so(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write_seed("The file a.txt contains the line hello")
    assert project.bare_step("--agent", "offline").json["usage"]["cost"] == 0.0
    text = said(project, "status", "greet")
    assert "\n  tokens     0 in, 0 out\n  cost       0.00 USD\n" in text


def test_all_of_them(project: Project) -> None:
    texts = said(project, "status").split("\n\n")
    assert [text.split()[0] for text in texts] == [*NAMES]
    found = json.loads(said(project, "status", "--json"))
    assert [one["lineage_id"] for one in found] == [*NAMES]
    assert [one["state"] for one in found] == ["converged", "open"]
    assert found[1]["next"].startswith("generation 1: execute")
    assert json.loads(said(project, "list", "--json")) == found
    lines = said(project, "list").splitlines()
    assert [line.split()[:2] for line in lines] == [["greet", "converged"], ["other", "open"]]


def test_log(project: Project) -> None:
    folder = ".ouro/lineages/greet/events"
    log = project.git("show", f"refs/heads/ooo/greet:{folder}/000001.jsonl") + "\n"
    assert said(project, "log", "greet", "--raw") == log
    assert said(project, "log", "greet", "--json").splitlines() == log.splitlines()[::-1]
    lines = said(project, "log", "greet", "--oneline").splitlines()
    assert len(lines) == len(project.events())
    assert [int(line.split()[0]) for line in lines] == list(range(len(lines), 0, -1))
    assert lines[0].split("gen 2", 1)[1].strip() == "converged (similarity 1)"
    failed = said(project, "log", "other")
    assert "execute failed, agent_error: scripted failed, exit 1: out of luck" in failed
    assert "\x1b" not in failed


def test_generations(project: Project) -> None:
    lines = said(project, "log", "greet", "--generations").splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["gen", "1", "continue"],
        ["gen", "2", "converged"],
    ]
    reports = said(project, "log", "greet", "--generations", "--json").splitlines()
    tags = [f"refs/tags/ooo/greet/gen_{number}" for number in (1, 2)]
    assert reports == [
        project.git("for-each-ref", "--format=%(contents)", tag).strip() for tag in tags
    ]
    assert said(project, "log", "other", "--generations") == ""


def test_path(project: Project) -> None:
    assert said(project, "path", "greet") == f"{project.workspace}\n"


@pytest.mark.parametrize("command", ["status", "log", "path", "show", "blame", "state"])
def test_a_lineage_that_is_not_there(project: Project, command: str) -> None:
    done = project.ouro(command, "nobody")
    done.refused(1, "there is no lineage nobody here", "lineages here: greet, other")
    project.ouro(command, "No/Body").refused(2, "cannot name a lineage")


def test_a_repository_without_lineages(tmp_path: Path) -> None:
    project = Project(tmp_path, first_commit=False)
    assert said(project, "list") == ""
    assert said(project, "list", "--json") == "[]\n"
    assert said(project, "status").startswith("no lineages here; begin one: ouro step")
    assert not (project.root / ".git" / "ouro").exists()
    project.ouro("list", cwd=tmp_path).refused(1, "not in a git repository")


def copy_of(project: Project, folder: Path) -> Path:
    """The repository alone, without its workspaces."""
    copy = folder / "repo"
    shutil.copytree(project.root, copy, symlinks=True)
    return copy


def everything(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Content, mode and time of every file and folder."""
    return {
        str(path): (
            path.read_bytes() if path.is_file() else b"",
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
    }


def test_looking_needs_no_writing(project: Project, tmp_path: Path) -> None:
    copy = copy_of(project, tmp_path)
    for path in [copy, *copy.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    before = everything(copy)
    try:
        runs = [project.start(*words, cwd=copy) for words in READING]
        for words, done in zip(READING, map(finish, runs), strict=True):
            if words[0] == "path":  # its workspace did not come along
                assert done.code in (0, 1), done
            else:
                assert (done.code, done.err) == (0, ""), (words, done)
                assert done.out, words
        assert everything(copy) == before
    finally:
        for path in [copy, *copy.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)


def test_a_workspace_that_is_gone(project: Project, tmp_path: Path) -> None:
    other = Project(tmp_path)
    other.step("--no-execute")
    shutil.rmtree(other.workspace)
    other.ouro("path", "greet").refused(1, "is checked out nowhere now")
    assert "not checked out" in said(other, "status", "greet")


@pytest.mark.parametrize(
    "words", [["log", "greet"], ["blame", "greet"], ["status"], ["list", "--json"]], ids=" ".join
)
def test_a_reader_that_goes_away(project: Project, words: list[str]) -> None:
    """As with `| head`: quietly, whether or not anything was read."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "ouro", *words],
        cwd=project.root,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 141


def test_head(project: Project) -> None:
    piped = f"'{sys.executable}' -m ouro log greet | head -n 1"
    out, err = start(["sh", "-c", piped], project.root, {}).communicate()
    assert err == ""
    assert out == f"event {len(project.events())} evolve_step.completed\n"


def test_standing_in_another_working_tree(project: Project, tmp_path: Path) -> None:
    """From the workspace itself, from a folder below, and by name from outside."""
    text = said(project, "status", "greet", "--json")
    (project.workspace / "below").mkdir(exist_ok=True)
    for folder in (project.workspace, project.workspace / "below"):
        assert project.ouro("status", "greet", "--json", cwd=folder).out == text
    named = ("status", "greet", "--json", "--project-dir", str(project.root))
    assert project.ouro(*named, cwd=tmp_path).out == text
    assert git(project.workspace, "status", "--porcelain") == ""
