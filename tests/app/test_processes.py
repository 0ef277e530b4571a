"""Agents as processes: they leave others behind, flood, hang, read nothing, and do no harm."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.app.scripted import ROOT, Project, alive, finish, git, until

PASSES = {"write": {"ok": "1"}}
ONCE = ("--stop-on-pass", "--no-qa")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def program(project: Project, text: str) -> tuple[str, ...]:
    """The words that make a script of shell the agent."""
    path = project.folder / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return ("--agent", str(path))


# --- children

CHILD = """#!/bin/sh
echo $$ >>"$(dirname "$0")/pids"
exec sleep 600
"""
CHILDREN = {
    "in-the-background": "CHILD &",
    "in-a-session": "setsid CHILD &",
    "no-hang-up": "nohup CHILD >/dev/null 2>&1 &",
    "twice-forked": "( ( setsid CHILD & ) & )",
    "without-descriptors": "setsid CHILD <&- >&- 2>&- &",
    "in-another-folder": "( cd /; setsid CHILD & )",
    "renamed": 'setsid perl -e \'open F, ">>PIDS"; print F "$$\\n"; close F; $0="x"; sleep 600\' &',
    "without-environment": "( setsid env -i CHILD & )",
    "deaf": "( trap '' TERM INT HUP; setsid CHILD & )",
}
UNMARKED = {"renamed", "without-environment"}


def spawning(project: Project, *names: str) -> str:
    """The commands that start these children, and wait until all of them run."""
    child, pids = project.folder / "child", project.folder / "pids"
    child.write_text(CHILD)
    child.chmod(0o755)
    lines = [CHILDREN[name].replace("CHILD", str(child)) for name in names]
    lines = [line.replace("PIDS", str(pids)) for line in lines]
    wait = f'until test "$(wc -l <{pids})" = {len(names)}; do sleep 0.02; done'
    return "\n".join([f": >{pids}", *lines, wait])


def pids(project: Project) -> list[int]:
    return [int(line) for line in (project.folder / "pids").read_text().split()]


def marked_by(project: Project) -> list[int]:
    """Processes that carry a run's mark and this lineage's workspace in their environment."""
    wanted = f"GIT_CEILING_DIRECTORIES={project.workspace.parent}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            said = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in said and any(word.startswith(b"OURO_RUN=") for word in said):
            found.append(int(path.parent.name))
    return [pid for pid in found if alive(pid)]


def test_nothing_that_an_agent_started_outlives_its_step(project: Project) -> None:
    run = spawning(project, *CHILDREN)
    project.agent.on("execute", {**PASSES, "run": run})
    assert project.step(*ONCE).code == 0
    assert len(pids(project)) == len(CHILDREN)
    assert [pid for pid in pids(project) if alive(pid)] == []
    assert marked_by(project) == []


def test_nothing_of_a_killed_step_lives_when_the_next_agent_starts(project: Project) -> None:
    """But for what has shed the mark: nobody can tell whose it was."""
    names = CHILDREN.keys() - UNMARKED
    run = spawning(project, *names)
    states = f"for pid in $(cat {project.folder}/pids); do cat /proc/$pid/stat || :; done"
    then = {**PASSES, "run": f"{{ {states}; }} >{project.folder}/states 2>/dev/null"}
    project.agent.on("execute", {"run": f"{run}; sleep 600"}, then)
    step = project.start_step(*ONCE)
    until(lambda: (project.folder / "pids").exists() and len(pids(project)) == len(names))
    step.kill()
    step.communicate()
    assert any(map(alive, pids(project)))
    done = project.step(*ONCE)
    assert done.code == 0, done
    assert "processes that it had left running" in done.err
    left = (project.folder / "states").read_text().splitlines()
    assert [line for line in left if line.rpartition(")")[2].split()[0] != "Z"] == []


def test_a_second_signal_ends_the_children_too(project: Project) -> None:
    names = [name for name in CHILDREN if name not in UNMARKED]
    project.agent.on("execute", {"run": f"{spawning(project, *names)}; sleep 600"})
    step = project.start_step(*ONCE)
    until(lambda: (project.folder / "pids").exists() and len(pids(project)) == len(names))
    step.send_signal(signal.SIGINT)
    time.sleep(0.7)  # sooner it would count as the same keystroke
    step.send_signal(signal.SIGINT)
    assert finish(step).code == 130
    assert [pid for pid in pids(project) if alive(pid)] == []


def test_what_ran_before_the_agent_goes_on(project: Project) -> None:
    """A shell that becomes the step leaves it its own children."""
    words = [sys.executable, "-m", "ouro", *project.words("--exit-code", *ONCE)]
    project.agent.on("execute", PASSES)
    server = f'sleep 600 & echo $! >{project.folder}/pid; exec "$@"'
    done = subprocess.run(
        ["sh", "-c", server, "sh", *words, "--agent", project.agent.line],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    pid = int((project.folder / "pid").read_text())
    assert (done.returncode, alive(pid)) == (0, True)
    os.kill(pid, signal.SIGKILL)


# --- input and silence


def test_an_agent_that_asks_finds_no_terminal_and_an_end(project: Project) -> None:
    words = program(
        project,
        "cat >/dev/null; read answer || echo end of input;"
        " (read answer </dev/tty) 2>/dev/null || echo no terminal; touch ok",
    )
    assert project.step(*ONCE, *words).code == 0
    assert project.data("execute.completed")[0]["summary"] == "end of input\nno terminal"


def test_an_agent_that_closes_its_output_and_lives_on_is_ended(project: Project) -> None:
    words = program(project, f"echo $$ >{project.folder}/pid; exec >&- 2>&-; sleep 600; true")
    done = project.step(*ONCE, "--idle-limit", "1", "--max-failures", "1", *words)
    assert done.code == 12
    assert done.json["error"].startswith("timeout: program was ended after 1 s without output")
    assert not alive(int((project.folder / "pid").read_text()))


@pytest.mark.parametrize(
    ("reads", "said"),
    [("touch ok; echo unread", "unread"), ("touch ok; sleep 0.5; wc -c", "5")],
    ids=["not-at-all", "slowly"],
)
def test_a_prompt_of_five_megabytes(project: Project, reads: str, said: str) -> None:
    own = project.root / ".ouro" / "prompts"
    own.mkdir(parents=True)
    (own / "execute.md").write_text("All of this counts.\n" * 250_000)
    assert project.step(*ONCE, *program(project, reads)).code == 0
    summary = project.data("execute.completed")[0]["summary"]
    assert summary.startswith(said)
    assert summary == "unread" or int(summary) >= 5_000_000


# --- floods

FLOOD = r'''
import re, sys
from pathlib import Path
from ouro.agents import output, process
output.ROOM = 8 * 1024**2
folder, most = Path(sys.argv[1]), 0
def tick(seconds, folder):
    global most
    most = max(most, *((folder / name).stat().st_blocks * 512 for name in output.STREAMS))
write = """
import sys, time
for n in range(128):
    sys.stdout.write('y' * 2**20)
    sys.stdout.flush()
    time.sleep(0.04)
print('the end')
"""
job = process.Job(command=(sys.executable, "-c", write), cwd=folder,
                  environment={"OURO_RUN": "flood"}, stdin=b"", folder=folder / "kept")
outcome = process.run(job, process.Limits(), process.Watch(tick=tick))
# Not what `getrusage` says: that counts what the parent had when it started this program.
memory = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]
print(outcome.cause, outcome.stdout[-8:].strip(), len(outcome.stdout), most, memory)
'''


def test_a_flood_takes_neither_the_disk_nor_the_memory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FLOOD, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    cause, *end, kept, disk, memory = done.stdout.split()
    assert (cause, end, kept) == ("exit", ["the", "end"], str(4 * 1024**2))
    assert int(disk) < 96 * 1024**2, "128 MiB were written"
    assert int(memory) < 100 * 1024, "KiB"
    assert (tmp_path / "kept" / "stdout").stat().st_size == 4 * 1024**2


@pytest.mark.slow
def test_a_flood_of_a_gigabyte(project: Project) -> None:
    project.agent.on("execute", {**PASSES, "flood": 1024, "reply": "At the end."})
    step = project.start_step(*ONCE)
    with step:
        _, status, usage = os.wait4(step.pid, 0)
        step.returncode = os.waitstatus_to_exitcode(status)
    assert step.returncode == 0
    assert usage.ru_maxrss < 200 * 1024, "KiB"
    assert project.data("execute.completed")[0]["summary"].endswith("\nAt the end.")
    kept = [path.stat().st_size for path in (project.state / "output").rglob("stdout")]
    assert max(kept) <= 4 * 1024**2


# --- beside the user


def test_what_the_user_does_meanwhile_stays(project: Project) -> None:
    remote = project.folder / "remote"
    git(project.folder, "clone", "-q", "--bare", str(project.root), str(remote))
    project.git("remote", "add", "origin", str(remote))
    git(remote, "branch", "new", "main")
    go = project.folder / "go"
    wait = f"until test -e {go}; do sleep 0.02; done"
    project.agent.on("execute", {**PASSES, "run": wait})
    step = project.start_step(*ONCE)
    project.agent.wait_for(1)
    (project.root / "README").write_text("Stashed.\n")
    project.git("stash", "-q")
    (project.root / "mine").write_text("1")
    project.git("add", ".")
    project.git("commit", "-qm", "mine")
    project.git("fetch", "-q", "origin")
    project.git("branch", "idea")
    project.git("tag", "-am", "release", "v1")
    project.git("config", "alias.st", "status")
    project.git("switch", "-q", "idea")
    (project.root / "README").write_text("Half done.\n")
    before = project.untouched()
    go.touch()
    done = finish(step)
    assert done.code == 0, done
    assert project.untouched() == before
    assert "refs/remotes/origin/new" in before["refs"].decode()
    assert "refs/heads/main changed during the run" in done.err
    assert "the setting alias.st changed during the run, it was: unset" in done.err
