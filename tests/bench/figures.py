"""The figures: what is compared with what, and how much it may be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.bench import build

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
OURO = (Path(sys.executable).with_name("ouro"),)
"""As users start it; the development install reads the package from this folder."""


ENDLESS = ("--max-generations", "1000000", "--max-retries", "1000000")
STEP = ("step", "--lineage-id", build.ID, "--agent", str(build.AGENT), *ENDLESS)
SWEEP = 985
"""The generation that changes every file, where rewinding is measured."""
WORKED = (3, 4)
"""How a step ends that ran a whole generation and is to go on."""


class Measured(NamedTuple):
    value: float
    note: str


class Figure(NamedTuple):
    """`measure` takes a folder for repositories and the number of rounds."""

    name: str
    at_most: float
    measure: Callable[[Path, int], Measured]
    huge: bool = False


# --- timing ------------------------------------------------------------------------------------


def run(words: Sequence[str | Path], cwd: Path, codes: Collection[int] = (0,)) -> float:
    """Seconds that a command took, which must end with one of the exit codes `codes`."""
    started = time.perf_counter()
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    taken = time.perf_counter() - started
    assert done.returncode in codes, (words, done.returncode, done.stderr[-2000:])
    return taken


def in_turns(rounds: int, *things: Callable[[], float]) -> list[float]:
    """The median of what each of `things` took, which take turns; one round warms up."""
    for thing in things:
        thing()
    taken = [[thing() for thing in things] for _ in range(rounds)]
    return [median(column) for column in zip(*taken, strict=True)]


def ratio(rounds: int, one: Callable[[], float], other: Callable[[], float]) -> Measured:
    first, second = in_turns(rounds, one, other)
    return Measured(first / second, f"{first * 1000:.0f} ms / {second * 1000:.0f} ms")


# --- places ------------------------------------------------------------------------------------


@cache
def place(folder: Path, files: int, generations: int, sweep: int = 0) -> Path:
    """A repository with a lineage; the same one for every figure that asks for it."""
    home = folder / f"{files}-{generations}"
    home.mkdir()
    root = build.repository(home, files)
    build.lineage(root, generations, sweep)
    subprocess.run(["git", "-C", str(root), "gc", "-q"], check=True)
    # What was built went past the workspace: the next step makes it anew.
    run(("git", "worktree", "remove", "--force", root.with_name("repo.ouro") / build.ID), root)
    step(root)
    return root


def step(root: Path) -> float:
    return run((*OURO, *STEP, "--exit-code"), root, WORKED)


class Floor:
    """The same repository once more, in which git alone makes the commits of a generation."""

    def __init__(self, folder: Path, files: int) -> None:
        home = folder / f"floor-{files}"
        home.mkdir()
        self.root = build.repository(home, files)
        self.tree = home / "tree"
        run(("git", "worktree", "add", "-q", "-b", "floor", self.tree), self.root)
        self.generation = 0

    def __call__(self) -> float:
        self.generation += 1
        words = (HERE / "floor.sh", self.tree, "refs/heads/floor", self.generation)
        return run([str(word) for word in words], self.root)


def agents_own(root: Path) -> float:
    """What the agent's five calls take by themselves."""
    started = time.perf_counter()
    for phase in ("wonder", "reflect", "execute", "evaluate", "qa"):
        variables = {**os.environ, "OURO_PHASE": phase, "OURO_GENERATION": "0"}
        subprocess.run(
            [build.AGENT], env=variables, cwd=root.parent, stdout=subprocess.DEVNULL, check=True
        )
    return time.perf_counter() - started


# --- the figures -------------------------------------------------------------------------------


def step_against_floor(files: int) -> Callable[[Path, int], Measured]:
    def measure(folder: Path, rounds: int) -> Measured:
        root, floor = place(folder, files, 10), Floor(folder, files)
        taken, least, agent = in_turns(rounds, lambda: step(root), floor, lambda: agents_own(root))
        note = f"{taken * 1000:.0f} ms - {agent * 1000:.0f} ms of the agent / {least * 1000:.0f} ms"
        return Measured((taken - agent) / least, note)

    return measure


def growth(words: Sequence[str] | None, much: int = 1000) -> Callable[[Path, int], Measured]:
    """The same at `much` generations, against 10."""

    def measure(folder: Path, rounds: int) -> Measured:
        long, short = place(folder, 100, much), place(folder, 100, 10)
        if words is None:
            return ratio(rounds, lambda: step(long), lambda: step(short))
        return ratio(
            rounds, lambda: run((*OURO, *words), long), lambda: run((*OURO, *words), short)
        )

    return measure


def verify(folder: Path, rounds: int) -> Measured:
    root = place(folder, 100, 1000)
    (taken,) = in_turns(min(rounds, 3), lambda: run((*OURO, "verify", build.ID), root))
    return Measured(taken, "seconds for 1,000 generations")


def packed(folder: Path, rounds: int) -> Measured:
    """Bytes of the log's objects after gc, against the log's own."""
    root, alone = place(folder, 100, 1000), folder / "log-only.git"
    shutil.rmtree(alone, ignore_errors=True)
    listed = _git(root, "rev-list", "--objects", f"main..ooo/{build.ID}").splitlines()
    logs = [line.split()[0] for line in listed if b".ouro" in line]
    pack = subprocess.run(
        ["git", "-C", str(root), "pack-objects", "--stdout", "-q"],
        input=b"\n".join(logs) + b"\n",
        capture_output=True,
        check=True,
    ).stdout
    prefix = f"ooo/{build.ID}:.ouro/lineages/{build.ID}/events"
    names = _git(root, "ls-tree", "--name-only", prefix).decode().split()
    raw = sum(int(_git(root, "cat-file", "-s", f"{prefix}/{name}")) for name in names)
    return Measured(len(pack) / raw, f"{len(pack)} bytes / {raw} bytes")


def _git(root: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=True).stdout


def version(folder: Path, rounds: int) -> Measured:
    return ratio(
        max(rounds, 15),
        lambda: run((*OURO, "--version"), folder),
        lambda: run((sys.executable, "-c", "pass"), folder),
    )


def rewind(to: int) -> Callable[[Path, int], Measured]:
    """There and back again, against git's checkout of the same difference."""

    def measure(folder: Path, rounds: int) -> Measured:
        root, tree = place(folder, 10_000, 1000, SWEEP), folder / "plain"
        there, back = f"ooo/{build.ID}/gen_{to}", f"ooo/{build.ID}/gen_1000"
        if not tree.exists():
            run(("git", "worktree", "add", "-q", "--detach", tree, back), root)

        def jump() -> float:
            taken = run((*OURO, "rewind", build.ID, "--to", str(to)), root)
            run((*OURO, "undo", build.ID), root)
            return taken

        def checkout() -> float:
            taken = run(("git", "checkout", "-q", there), tree)
            run(("git", "checkout", "-q", back), tree)
            return taken

        return ratio(rounds, jump, checkout)

    return measure


def push(folder: Path, rounds: int) -> Measured:
    """Of a branch that is no lineage, with the hooks installed and without."""
    places = []
    for hooks in (True, False):
        home = folder / f"push-{hooks}"
        home.mkdir(exist_ok=True)
        root = build.repository(home, 100)
        run(("git", "clone", "-q", "--bare", root, home / "bare.git"), home)
        run(("git", "remote", "add", "origin", home / "bare.git"), root)
        if hooks:
            run((*OURO, "hooks", "install"), root)
            run((*OURO, "hooks", "install", "--server"), home / "bare.git")
        places.append(root)

    def pushed(root: Path) -> float:
        run(("git", "commit", "-q", "--allow-empty", "-m", "more"), root)
        return run(("git", "push", "-q", "origin", "main"), root)

    with_hooks, without = places
    return ratio(max(rounds, 21), lambda: pushed(with_hooks), lambda: pushed(without))


DECODE = """
import gc, sys, time, hashlib
from pathlib import Path
from ouro.git.repository import Repo
from ouro.git.event_store import GitEventStore
from ouro.git import log_tree
from ouro.core import codec
import msgspec
repo = Repo(Path(sys.argv[1]))
store = GitEventStore(repo, "bench")
files = [*log_tree.contents(repo, "bench", store.read().revision)]
line = msgspec.json.Decoder()
gc.disable()  # its rounds are not of either
def bare():
    lines = (one for _, content in files for one in content.split(b"\\n")[:-1])
    return [(line.decode(one), hashlib.sha256(one).hexdigest()) for one in lines]
def ours(): return codec.decode_files(files)
def timed(f):
    best = []
    for _ in range(9):
        t = time.perf_counter(); f(); best.append(time.perf_counter() - t)
    return sorted(best)[4]
print(timed(ours) / timed(bare))
"""


def decode(folder: Path, rounds: int) -> Measured:
    root = place(folder, 100, 1000)
    said = subprocess.run(
        [sys.executable, "-c", DECODE, str(root)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    ).stdout
    return Measured(float(said), "time of the log's decode / bare msgspec and sha256")


# Not what `getrusage` says: that counts what the parent had when it started this program.
PEAK = r"""
import atexit, re, sys
from pathlib import Path
def tell():
    said = Path("/proc/self/status").read_text()
    print(re.search(r"VmHWM:\s+(\d+)", said)[1], file=sys.stderr)
atexit.register(tell)
sys.argv[0] = "ouro"
from ouro.__main__ import main
main()
"""


def memory(folder: Path, rounds: int) -> Measured:
    """The most that a step at 1,000 generations had at once."""
    root = place(folder, 100, 1000)
    said = subprocess.run(
        [sys.executable, "-c", PEAK, *STEP],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    return Measured(int(said.split()[-1]) / 1024, "MiB")


FIGURES = (
    Figure("ouro --version / python -c pass", 4, version),
    Figure("step / floor.sh, 100 files, 10 generations", 8, step_against_floor(100)),
    Figure("step / floor.sh, 10,000 files, 10 generations", 5, step_against_floor(10_000)),
    Figure("step / floor.sh, 50,000 files, 10 generations", 5, step_against_floor(50_000)),
    Figure("step at 1,000 generations / at 10", 1.3, growth(None)),
    Figure("status at 1,000 generations / at 10", 1.5, growth(("status", build.ID))),
    Figure("log -n 20 at 1,000 generations / at 10", 1.5, growth(("log", build.ID, "-n", "20"))),
    Figure("memory of a step at 1,000 generations (MiB)", 120, memory),
    Figure("verify of 1,000 generations (seconds)", 10, verify),
    Figure("packed bytes of the log / raw bytes", 2, packed),
    Figure("decode / bare msgspec and sha256", 1 / 0.6, decode),
    Figure("rewind past 10,000 changed files, 1,000 gen. / checkout", 4, rewind(SWEEP - 5)),
    Figure("rewind past 1 changed file of 10,000, 1,000 gen. / same", 4, rewind(SWEEP + 5)),
    Figure("push of no lineage, with hooks / without", 1.15, push),
    Figure("step at 10,000 generations / at 10", 1.3, growth(None, 10_000), huge=True),
)
