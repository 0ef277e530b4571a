"""What the reading commands say of one lineage's history, and where they say it."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import PATIENCE, ROOT, Done, Project, finish, git


@pytest.fixture(scope="module")
def project(evolution: Project) -> Project:
    return evolution


def said(project: Project, *words: str) -> str:
    done = project.ouro(*words)
    assert (done.code, done.err) == (0, ""), done
    return done.out


def told(project: Project, *words: str) -> Any:
    return json.loads(said(project, *words, "--json"))


def commit_of(project: Project, kind: str, generation: int) -> str:
    words = ("log", "--first-parent", "--format=%H", f"--grep=^Ouro-Event: {kind}$")
    found = project.git(*words, "--all-match", f"--grep=^Ouro-Generation: {generation}$", BRANCH)
    return found.splitlines()[0]


BRANCH = "refs/heads/ooo/greet"


# --- log


def test_log_is_newest_first_with_the_commit_of_each_event(project: Project) -> None:
    events = project.events()[::-1]
    parts = said(project, "log", "greet").split("\nevent ")
    assert len(parts) == len(events)
    for part, event in zip(parts, events, strict=True):
        lines = part.removeprefix("event ").splitlines()
        assert lines[0] == f"{event['seq']} {event['type']}"
        assert lines[1] == f"Id:     {event['id']}"
        commit = lines[4].removeprefix("Commit: ")
        assert event["type"] in project.git("log", "-1", "--format=%B", commit)
        log = project.git("show", f"{commit}:.ouro/lineages/greet/events/000001.jsonl")
        assert event["id"] in log


def test_log_p_has_details_and_code(project: Project) -> None:
    text = said(project, "log", "greet", "-p")
    for piece in (
        "- What of tone? (ac1, tone)",
        "- add tone (string): All about tone",
        "- ac2 open (check, 0)\n          $ test -e ok\n",
        "- .env: ",
        "retry at: ",
        "rescue: refs/ouro/rescue/greet/1",
        "usage: scripted, unknown tokens in, unknown out, cost unknown, ",
        "\ndiff --git a/hello.py b/hello.py\nnew file mode 100644\n",
        "\n+print(1)\n",
        "\n-\tone",
    ):
        assert piece in text.replace("\x1b]0;title\x07", ""), piece
    assert ".ouro/" not in text


def test_log_n_type_and_since(project: Project) -> None:
    events = project.events()
    newest = said(project, "log", "greet", "-n", "2", "--oneline").splitlines()
    assert [int(line.split()[0]) for line in newest] == [len(events), len(events) - 1]
    assert said(project, "log", "greet", "-n", "0") == ""
    kinds = ("--type", "qa.completed", "--type", "wonder.completed")
    chosen = said(project, "log", "greet", *kinds, "-n", "3", "--json").splitlines()
    wanted = [e for e in events if e["type"] in kinds]
    assert [json.loads(line) for line in chosen] == wanted[:-4:-1]
    at = events[-2]["at"]
    since = said(project, "log", "greet", "--since", at, "--json").splitlines()
    assert [e["at"] >= at[:19] for e in map(json.loads, since)] == [True] * len(since)
    assert len(since) >= 2
    everything = said(project, "log", "greet", "--oneline")
    assert said(project, "log", "greet", "--oneline", "--since", "2 hours ago") == everything
    assert said(project, "log", "greet", "--since", "now") == ""


def test_log_raw_is_the_log(project: Project) -> None:
    path = f"{BRANCH}:.ouro/lineages/greet/events/000001.jsonl"
    assert said(project, "log", "greet", "--raw") == project.git("show", path) + "\n"


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--type", "qa.complete"], "no events of the type 'qa.complete'"),
        (["--since", "garbage"], "'garbage' is no time that git knows"),
        (["--raw", "--json", "-n", "1"], "--raw does not go with -n, --json"),
        (["--generations", "-p"], "--generations does not go with -p"),
    ],
    ids=" ".join,
)
def test_log_refuses(project: Project, words: list[str], what: str) -> None:
    project.ouro("log", "greet", *words).refused(2, what)


def test_log_follow(tmp_path: Path) -> None:
    """The newest events, then what is committed, in order, until Ctrl-C."""
    project = Project(tmp_path)
    assert project.step().code == 3
    before = [f"{e['seq']}" for e in project.events()[-2:]]
    process = project.start("log", "greet", "--follow", "-n", "2", env={"PYTHONUNBUFFERED": "1"})
    assert process.stdout
    assert [process.stdout.readline().split()[0] for _ in before] == before
    assert project.step().code == 3
    for event in project.events()[int(before[-1]) :]:
        assert process.stdout.readline().split()[:1] == [str(event["seq"])]
    process.send_signal(signal.SIGINT)
    assert finish(process) == Done(130, "", "")


def test_log_follow_ends_when_the_lineage_is_deleted(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.step("--no-execute")
    process = project.start("log", "greet", "--follow", "--json", env={"PYTHONUNBUFFERED": "1"})
    assert process.stdout
    assert json.loads(process.stdout.readline())["seq"] == 1
    project.git("update-ref", "-d", BRANCH)
    done = finish(process)
    assert done.code == 1
    assert f"{BRANCH} is gone" in done.err


# --- show


def test_show_a_lineage(project: Project) -> None:
    assert said(project, "show", "greet").splitlines() == [
        "lineage greet",
        "goal: Greet people",
        "constraints:",
        "  - small",
        "criteria:",
        "  - ac1: It greets [passed]",
        "      note: loudly",
        "  - ac2: It works [passed]",
        "      verified by: test -e ok",
        "  - ac3: It is polite (from generation 3) [passed]",
        "ontology Greeting:",
        "  - name (string): Who is greeted",
        "  - tone (string): All about tone",
        "generation: 4, converged: similarity 1.0 ≥ 0.95, 3/3 criteria passed, QA pass (90)",
    ]
    found = told(project, "show", "greet")
    assert (found["goal"], found["generation"], found["action"]) == ("Greet people", 4, "converged")
    assert [c["state"] for c in found["criteria"]] == ["passed"] * 3


def test_show_a_generation(project: Project) -> None:
    text = said(project, "show", "greet", "gen_3")
    tag = project.git("rev-parse", "refs/tags/ooo/greet/gen_3^{commit}")
    for piece in (
        "generation 3 of greet: continue",
        f"commit: {tag}",
        "tag: ooo/greet/gen_3",
        "reason: 2/3 criteria passed",
        "similarity: 0.8644",
        "- field name (string): The name",
        "+ field name (string): Who is greeted",
        "+ criterion ac3: It is polite",
        "- modify name: Who is greeted",
        "- note ac1: loudly",
        "learnings:\n  - names vary",
        "work: 2 files changed (+1 −2)\n  hello.py\n  ok",
        "left out:\n  - .env: ",
        "- ac2 open (check, 0)",
        "exit code 1",
        "QA: pass (90)\n  differences:\n    - one\n  suggestions:\n    - mend it",
        "wonder: scripted, unknown tokens in",
        "calls of unknown cost",
    ):
        assert piece in text, (piece, text)
    found = told(project, "show", "greet", "gen_3")
    assert (found["commit"], found["tag"]) == (tag, "ooo/greet/gen_3")
    assert found["generation"]["execute"]["left_out"][0]["path"] == ".env"
    assert found["changes"]["modified"][0]["after"]["description"] == "Who is greeted"
    second = said(project, "show", "greet", "gen_2")
    assert "questions:\n  - What of tone? (ac1, tone)" in second


@pytest.mark.parametrize(("name", "number"), [("@", 4), ("@-", 3), ("@--", 2), ("@-3", 1)])
def test_generations_counted_back(project: Project, name: str, number: int) -> None:
    assert told(project, "show", "greet", name)["generation"]["number"] == number


def test_show_an_event(project: Project) -> None:
    [failed] = [e for e in project.events() if e["type"] == "evolve_step.failed"]
    line = json.dumps(failed, separators=(",", ":"), ensure_ascii=False) + "\n"
    assert said(project, "show", "greet", str(failed["seq"]), "--json") == line
    text = said(project, "show", "greet", failed["id"])
    assert text.startswith(f"event {failed['seq']} evolve_step.failed\nId:     {failed['id']}\n")
    assert commit_of(project, "evolve_step.failed", 2) in text
    assert "    kind: agent_error" in text
    created = said(project, "show", "greet", "1")
    assert "    constraints:\n      - small\n" in created
    assert "    policy:\n" in created
    assert "      max retries: 2\n" in created


def test_what_cannot_be_shown(project: Project) -> None:
    ids = sorted(e["id"] for e in project.events())
    shared = ids[0][:6]
    project.ouro("show", "greet", shared).refused(2, f"{len(ids)} ids begin with", ids[0])
    project.ouro("show", "greet", "nothing").refused(2, "neither a generation nor an event")
    project.ouro("show", "greet", "gen_9").refused(1, "has no generation 9", "gen_1 to gen_4")
    project.ouro("diff", "greet", "3").refused(2, "'3' names no generation")


def test_a_generation_in_progress(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.agent.on("evaluate", {"exit": 1})
    project.write_seed("It greets")
    assert project.step().code == 75
    found = told(project, "show", "greet", "gen_1")
    assert (found["commit"], found["tag"]) == (project.tip(), None)
    assert "generation: 1, in progress: execute done" in said(project, "show", "greet")
    assert "tag: none here" in said(project, "show", "greet", "gen_1")
    assert told(project, "state", "greet", "--at", "gen_1") == told(project, "state", "greet")
    project.ouro("show", "greet", "@").refused(1, "has 0 completed generations")


# --- diff


def test_diff(project: Project) -> None:
    text = said(project, "diff", "greet", "gen_1", "gen_3")
    assert text.startswith("greet: generation 1 against 3\nsimilarity 0.")
    for line in (
        "+ field tone (string): All about tone",
        "- field name (string): The name",
        "+ field name (string): Who is greeted",
        "+ criterion ac3: It is polite (from generation 3)",
        "+   note: loudly",
        "ac3: open → passed",
    ):
        assert line in text.splitlines()
    assert "ac2: passed → open" in said(project, "diff", "greet", "gen_2", "gen_3")
    newest = said(project, "diff", "greet", "@-")
    assert "ac2: open → passed" in newest
    assert " 2 files changed, 2 insertions(+), 1 deletion(-)\n" in newest


def test_the_code_of_a_diff_is_what_git_says(project: Project) -> None:
    names = ("refs/tags/ooo/greet/gen_1", "refs/tags/ooo/greet/gen_4")
    patch = project.git("diff", *names, "--", ".", ":(exclude,top).ouro")
    assert patch
    assert said(project, "diff", "greet", "gen_1", "-p").endswith(f"\n\n{patch}\n")
    found = told(project, "diff", "greet", "gen_1")
    assert found["files"] == [
        {"path": "hello.py", "added": 1, "removed": 1},
        {"path": "ok", "added": 1, "removed": 0},
    ]
    assert [found["commit_before"], found["commit_after"]] == [
        project.git("rev-parse", f"{name}^{{commit}}") for name in names
    ]
    assert found["comparison"]["states"] == [
        {"id": "ac2", "before": "open", "after": "passed"},
        {"id": "ac3", "before": "open", "after": "passed"},
    ]


# --- blame and state


def test_blame(project: Project) -> None:
    def at(kind: str, generation: int) -> str:
        return f"gen {generation} {commit_of(project, kind, generation)[:8]}"

    rows = [line.split("  ") for line in said(project, "blame", "greet").splitlines()]
    table = {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in rows}
    begun, third = at("lineage.created", 0), at("reflect.completed", 3)
    assert table["ac1"] == [begun, third, at("evaluate.completed", 1), "–", "passed"]
    met, broke = at("evaluate.completed", 4), at("evaluate.completed", 3)
    assert table["ac2"] == [begun, "–", met, broke, "passed"]
    assert table["ac3"] == [third, "–", broke, "–", "passed"]
    assert table["name"] == [begun, third]
    assert table["tone"] == [at("reflect.completed", 2), "–"]
    found = told(project, "blame", "greet")
    assert found["criteria"][1]["broke"] == {
        "generation": 3,
        "seq": next(
            e["seq"]
            for e in project.events()
            if (e["type"], e["generation"]) == ("evaluate.completed", 3)
        ),
        "commit": commit_of(project, "evaluate.completed", 3),
    }


def test_the_state_is_the_same_bytes_in_every_clone(project: Project, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "-b", "ooo/greet", str(project.root), str(clone))
    for words in ([], ["--at", "gen_2"]):
        here = said(project, "state", "greet", "--json", *words)
        assert project.ouro("state", "greet", "--json", *words, cwd=clone).out == here
    assert len(told(project, "state", "greet", "--at", "gen_2")["generations"]) == 2
    assert told(project, "state", "greet")["policy"]["max_retries"] == 2
    assert said(project, "state", "greet") == said(project, "show", "greet")
    assert "generation: 2, continue" in said(project, "state", "greet", "--at", "gen_2")


# --- where it is looked from

READING = (
    ("log", "greet", "-p"),
    ("log", "greet", "--generations", "--json"),
    ("show", "greet", "@-"),
    ("diff", "greet", "gen_1", "-p"),
    ("blame", "greet"),
)


@pytest.fixture(scope="module")
def outputs(project: Project) -> dict[tuple[str, ...], str]:
    return {
        words: done.out for words, done in everywhere(project, project.root)[project.root].items()
    }


def everywhere(project: Project, *places: Path) -> dict[Path, dict[tuple[str, ...], Done]]:
    """What every reading command says in each of `places`, all run at once."""
    started = {p: {w: project.start(*w, cwd=p) for w in READING} for p in places}
    return {p: {w: finish(one) for w, one in runs.items()} for p, runs in started.items()}


def test_from_everywhere_the_same(
    project: Project, outputs: dict[tuple[str, ...], str], tmp_path: Path
) -> None:
    """A bare clone, the workspace, a folder below it."""
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(project.root), str(bare))
    below = project.workspace / "below"
    below.mkdir(exist_ok=True)
    wanted = {words: Done(0, out, "") for words, out in outputs.items()}
    assert everywhere(project, bare, below) == {bare: wanted, below: wanted}


def test_after_a_clone_the_remotes_branch_is_read(
    project: Project, outputs: dict[tuple[str, ...], str], tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(project.root), str(clone))
    ref = "refs/remotes/origin/ooo/greet"
    notice = f"ouro: there is no branch ooo/greet here; this is {ref}\n"
    refs = git(clone, "for-each-ref")
    wanted = {words: Done(0, out, notice) for words, out in outputs.items()}
    assert everywhere(project, clone) == {clone: wanted}
    assert project.ouro("status", "greet", cwd=clone).err == notice
    assert project.ouro("path", "greet", cwd=clone).code == 1
    project.ouro("note", "greet", "x", cwd=clone).refused(1, "there is no lineage greet here")
    assert git(clone, "for-each-ref") == refs
    other = "refs/remotes/other/ooo/greet"
    git(clone, "update-ref", other, ref)
    assert project.ouro("show", "greet", cwd=clone).code == 0
    git(clone, "update-ref", other, f"{ref}^")
    project.ouro("show", "greet", cwd=clone).refused(1, "several remotes hold greet", ref, other)


# --- on a terminal


def on_a_terminal(project: Project, *words: str, keys: bytes = b"", **env: str) -> tuple[int, str]:
    """Exit code and what a terminal of 100 columns was sent; `keys` are typed once it shows
    something."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(project.root)
        os.environ.update({"TERM": "xterm", "COLUMNS": "100", "PYTHONPATH": str(ROOT), **env})
        os.execv(sys.executable, [sys.executable, "-m", "ouro", *words])
    shown = b""
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if keys:
            os.write(terminal, keys)
            keys = b""
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode().replace("\r\n", "\n")


def test_gits_pager_and_colours(project: Project, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "PAGED $LESS $LV"\nexec cat\n')
    pager.chmod(0o755)
    project.git("config", "core.pager", str(pager))
    code, shown = on_a_terminal(project, "diff", "greet", "gen_1", "-p")
    assert code == 0
    assert shown.startswith("PAGED FRX -c\n\x1b[33mgreet: generation 1 against 4\x1b[0m\n")
    assert "\x1b[32m+ field tone (string): All about tone\x1b[0m" in shown
    assert "\x1b[32m+two\x1b[m" in shown.replace("\x1b[32m+\x1b[m\x1b[32m", "\x1b[32m+")
    assert "PAGED" not in said(project, "diff", "greet", "gen_1")
    code, shown = on_a_terminal(project, "blame", "greet", PAGER="cat", GIT_PAGER="cat")
    assert "PAGED" not in shown
    code, shown = on_a_terminal(project, "log", "greet", NO_COLOR="1")
    assert "PAGED" in shown
    assert "\x1b" not in shown
    project.git("config", "color.ui", "false")
    assert "\x1b" not in on_a_terminal(project, "show", "greet", "@")[1]
    project.git("config", "--unset", "color.ui")
    project.git("config", "--unset", "core.pager")


def test_nothing_on_a_terminal_is_obeyed(project: Project) -> None:
    code, shown = on_a_terminal(project, "log", "greet", "-p", GIT_PAGER="cat")
    assert code == 0
    assert "one�]0;title�" in shown
    assert not [
        part for part in shown.split("\x1b")[1:] if part.partition("m")[0].strip("[;0123456789")
    ]


def test_a_pager_that_is_left_early(project: Project) -> None:
    code, shown = on_a_terminal(project, "log", "greet", "-p", GIT_PAGER="head -n 1")
    assert code in (0, 141)
    assert "Traceback" not in shown
    assert shown.count("\n") == 1
    if shutil.which("less"):
        code, shown = on_a_terminal(project, "log", "greet", "-p", keys=b"q", GIT_PAGER="less")
        assert code in (0, 141)
        assert "Traceback" not in shown
