"""The stand on which steps are killed: a repository, an agent that outlives them, git's shim."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash.points import Plan, Point

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ID = "life"
BRANCH = f"refs/heads/ooo/{ID}"
LOG = f"{BRANCH}:.ouro/lineages/{ID}/events/000001.jsonl"
PHASES_OF = {
    1: ("execute", "evaluate", "qa"),
    2: ("wonder", "reflect", "execute", "evaluate", "qa"),
    3: ("wonder", "reflect", "execute", "evaluate", "qa"),
    4: ("wonder", "reflect", "execute", "evaluate", "qa"),
    5: ("wonder", "reflect"),
}
"""The agent's calls. The fourth generation opens with lateral thinking, and passes; the fifth
leaves the seed alone, carries the verdicts over, and converges."""
GENERATIONS = len(PHASES_OF)
PATIENCE = 120.0
"""Seconds for one step, on a machine that is busy with other things."""

SEED = """\
goal: Find the answer and say where it is from.
constraints:
  - one part a generation
acceptance_criteria:
  - description: The answer is 42
    verify_command: "echo seen >left_by_the_check; grep -qx 42 answer.txt"
  - The history reads well
ontology_schema:
  name: Answers
  description: What is asked and answered
  fields:
    - {name: answer, field_type: number, description: The number that was found}
    - {name: part, field_type: string, description: One generation of the work}
    - {name: history, field_type: list, description: All parts in order}
"""

# Counts a step's git calls by phase and command; at the chosen one `at_git.py` takes over.
SHIM = """\
#!/bin/sh
[ -z "$OURO_RUN" ] || exec "$STAND_GIT" "$@"
phase=idle
if [ -e "$STAND_MARKER" ]; then
    read -r marker <"$STAND_MARKER"
    case $marker in
    *'"pid":'"$PPID",*) phase=${marker#*'"phase":"'} phase=${phase%%'"'*} ;;
    *) phase=recovery ;;
    esac
fi
value= command=
for word; do
    if [ "$value" ]; then value=; continue; fi
    case $command:$word in
    :-c) value=next ;;
    :worktree | :update-ref) command=$word ;;
    :*) command=$word; break ;;
    worktree:*) command=worktree-$word; break ;;
    update-ref:--stdin) command=update-ref-stdin; break ;;
    update-ref:refs/heads/*) command=update-ref-branch; break ;;
    update-ref:refs/ouro/*) word=${word#refs/ouro/} command=update-ref-${word%%/*}; break ;;
    update-ref:refs/*) command=update-ref-other; break ;;
    esac
done
# It is started as the last thing, and outlives the step as it should.
[ "$command" != gc ] || exec "$STAND_GIT" "$@"
count=$STAND/count.$phase.$command
n=0
[ ! -e "$count" ] || read -r n <"$count"
n=$((n + 1))
echo "$n" >"$count"
point=$phase/$command/$n
echo "$point" >>"$STAND/trace"
[ "$STAND_POINT" = "git:$point" ] || exec "$STAND_GIT" "$@"
exec "$STAND_PYTHON" -I -S "$STAND_AT_GIT" "$@"
"""

_DATES = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2030-01-01T00:00:00Z")
_WHO = ("-c", "user.name=someone", "-c", "user.email=someone@localhost")


@dataclass
class Ran:
    """One start of a step: its exit code, negative for a signal, and what it printed."""

    point: Point | None
    code: int
    stdout: str
    stderr: str

    def __str__(self) -> str:
        return f"[{self.point or 'no kill'}] exit {self.code}\n{self.stderr}{self.stdout}"


@dataclass
class Stand:
    folder: Path
    trace: bool = False
    life: list[Ran] = field(default_factory=list)
    traces: list[tuple[list[str], list[str]]] = field(default_factory=list)
    """For each start the places that its git calls and (with `trace`) its effects had."""
    index_before: bytes = b""
    lost: set[tuple[int, str]] = field(default_factory=set)
    """(generation, file) that lay unsaved in the workspace when a step died."""
    asked_again: Counter[tuple[int, str]] = field(default_factory=Counter)
    """Calls that had begun, and whose result was not committed when the step died."""
    deaths: list[set[tuple[int, str]]] = field(default_factory=list)
    """For each death what was committed: (generation, phase)."""

    @property
    def repo(self) -> Path:
        return self.folder / "repo"

    @property
    def workspace(self) -> Path:
        return self.folder / "repo.ouro" / ID

    @property
    def notes(self) -> Path:
        """Where agent and shim write down what happens."""
        return self.folder / "stand"

    @property
    def state(self) -> Path:
        return self.repo / ".git" / "ouro" / ID

    def git(self, *words: str) -> str:
        done = subprocess.run([real_git(), *words], cwd=self.repo, capture_output=True, text=True)
        assert done.returncode == 0, f"git {words}: {done.stderr}"
        return done.stdout

    def set_up(self) -> Stand:
        (self.notes / "bin").mkdir(parents=True)
        shim = self.notes / "bin" / "git"
        shim.write_text(SHIM)
        shim.chmod(0o755)
        (self.folder / "seed.yaml").write_text(SEED)
        subprocess.run([real_git(), "init", "-q", "-b", "main", self.repo], check=True)
        (self.repo / "README.txt").write_text("the user's own\n")
        self.git("add", "README.txt")
        commit = [real_git(), *_WHO, "commit", "-q", "-m", "first"]
        subprocess.run(commit, cwd=self.repo, env={**os.environ, **_DATES}, check=True)
        # A stat that differs makes a careless `git status` write the user's index.
        os.utime(self.repo / "README.txt", (1_000_000_000, 1_000_000_000))
        self.index_before = (self.repo / ".git" / "index").read_bytes()
        return self

    # --- the steps ---------------------------------------------------------------------------

    def live(self, plan: Plan = ()) -> None:
        """Start steps, always with the same command line, until the lineage has ended."""
        left = {(one.generation, one.attempt): one for one in plan}
        starts: Counter[int] = Counter()
        for _ in range(GENERATIONS + len(plan) + 2):
            generation = 1 + sum(e["type"] == "evolve_step.completed" for e in self.events())
            starts[generation] += 1
            ran = self.start(left.pop((generation, starts[generation]), None))
            if ran.code == 0:
                break
            assert ran.code in (-signal.SIGKILL, 3, 4), self.story()
            assert "Traceback" not in ran.stderr, self.story()
        else:
            raise AssertionError(f"the lineage does not end\n{self.story()}")
        assert not left, f"these starts never came: {left}\n{self.story()}"

    def start(self, point: Point | None) -> Ran:
        """Run one step to its end, its own or that which `point` makes."""
        for count in self.notes.glob("count.*"):
            count.unlink()
        (self.notes / "trace").write_text("")
        (self.notes / "effects").write_text("")
        overdue = False
        seconds = float(point.place) if point and point.kind == "time" else PATIENCE
        with (self.notes / "out").open("w") as out, (self.notes / "err").open("w") as err:
            step = subprocess.Popen(
                self._command, cwd=self.folder, env=self._environment(point), stdout=out, stderr=err
            )
            try:
                step.wait(seconds)
            except subprocess.TimeoutExpired:
                overdue = seconds == PATIENCE
                step.kill()
                step.wait()
        ran = Ran(point, step.returncode, self._said("out"), self._said("err"))
        self.life.append(ran)
        self.traces.append((self._said("trace").split(), self._said("effects").split()))
        assert not overdue, f"a step does not end\n{self.story()}"
        if point and point.kind != "time":
            assert ran.code == -signal.SIGKILL, f"{point} was not reached\n{self.story()}"
        if ran.code == -signal.SIGKILL:
            self._note_what_was_open()
        return ran

    @property
    def _command(self) -> list[str]:
        agent = shlex.join([sys.executable, "-I", "-S", str(HERE / "agent.py")])
        options = ["--project-dir", str(self.repo), "--seed-file", str(self.folder / "seed.yaml")]
        options += ["--stagnation-window", "2", "--agent", agent]
        step = [sys.executable, "-m", "ouro", "step", "--wait", "--exit-code"]
        return [*step, "--lineage-id", ID, *options]

    def _environment(self, point: Point | None) -> Mapping[str, str]:
        paths = [ROOT]
        variables = {
            "PATH": f"{self.notes / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "STAND": str(self.notes),
            "STAND_AT_GIT": str(HERE / "at_git.py"),
            "STAND_GIT": real_git(),
            "STAND_LOG": LOG,
            "STAND_MARKER": str(self.state / "run.json"),
            "STAND_PYTHON": sys.executable,
        }
        if point and point.kind != "time":
            variables |= {"STAND_POINT": f"{point.kind}:{point.place}", "STAND_HOW": point.how}
        if self.trace:
            variables["STAND_TRACE"] = "1"
        if self.trace or (point and point.kind == "effect"):
            paths.insert(0, HERE / "at_effect")
            variables["PYTHONDONTWRITEBYTECODE"] = "1"
        variables["PYTHONPATH"] = os.pathsep.join(map(str, paths))
        return {**os.environ, **variables}

    def _said(self, name: str) -> str:
        path = self.notes / name
        return path.read_text() if path.exists() else ""

    def _note_what_was_open(self) -> None:
        committed = {(e["generation"], e["type"].removesuffix(".completed")) for e in self.events()}
        self.deaths.append(committed)
        for call, times in self.calls().items():
            if call not in committed:
                self.asked_again[call] = times
        for generation in range(1, GENERATIONS):
            file = f"gen_{generation}.txt"
            unsaved = (generation, "execute") not in committed
            if unsaved and (self.workspace / file).exists():
                self.lost.add((generation, file))

    # --- what there is to see ----------------------------------------------------------------

    def events(self) -> list[dict[str, Any]]:
        words = [real_git(), "cat-file", "blob", LOG]
        said = subprocess.run(words, cwd=self.repo, capture_output=True, text=True)
        return [json.loads(line) for line in said.stdout.splitlines()]

    def calls(self) -> Counter[tuple[int, str]]:
        """(generation, phase) -> how often the agent was called for it."""
        lines = (line.split() for line in self._said("calls").splitlines())
        return Counter((int(generation), phase) for generation, phase, _ in lines)

    def marks(self) -> set[str]:
        return {line.split()[2] for line in self._said("calls").splitlines()}

    def faults(self) -> str:
        """What the agents found wrong."""
        return self._said("faults")

    @property
    def unsteady(self) -> bool:
        """Whether, when a step died, something went on that only later showed: a git that moves
        the branch, or an agent just started."""
        kills = [ran.point for ran in self.life if ran.point]
        return any(kill.kind == "time" or kill.how == "orphan" for kill in kills)

    def await_orphans(self) -> None:
        """Let every git that was left behind come to its end."""
        orphans = sum(bool(r.point and r.point.how == "orphan") for r in self.life)
        deadline = time.monotonic() + PATIENCE
        while len(self._said("orphans").split()) < orphans:
            assert time.monotonic() < deadline, "an orphaned git does not end"
            time.sleep(0.05)

    def story(self) -> str:
        """Everything that happened, for who reads a failure."""
        parts = [*map(str, self.life), f"faults: {self.faults()}", f"repository: {self.repo}"]
        return "\n".join(parts)


def real_git() -> str:
    found = shutil.which("git")
    assert found, "git is on PATH"
    return found
