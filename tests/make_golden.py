"""Makes the golden log of a release, `python -m tests.make_golden`, in `tests/data/golden`.

One lineage with an event of every type, as a bundle of its branch and tags, and the state that it
folds to. What a release has published there stays as it is.
"""

from __future__ import annotations

import subprocess
import tempfile
from itertools import count
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ouro import __version__
from ouro.core.brief import FailureKind, Problem
from ouro.core.events import (
    TYPE_OF,
    TYPES,
    EvolveStepInterrupted,
    LateralThinkApplied,
    NoteAdded,
    PauseCleared,
    PolicyChanged,
)
from ouro.core.ids import branch_ref
from ouro.core.moves import RunPhase, next_move
from ouro.core.policy import Given, Policy
from ouro.core.retry import failure
from tests.honest import SEED, Honest, usage

GOLDEN = Path(__file__).parent / "data" / "golden"


class Golden(Honest):
    """A lineage to which nothing happens by chance but what agents say."""

    def _happen(self) -> None:
        pass

    def finish(self) -> None:
        self.live(1)

    def kinds(self) -> set[str]:
        return {TYPE_OF[type(event.data)] for event in self.stream.log.events}

    def due(self) -> RunPhase | None:
        move = next_move(replace(self.lineage, pause=None), self.stream.code, "")
        return move if isinstance(move, RunPhase) else None


def grown(folder: Path, seed: int) -> Golden | None:
    """One with everything in it, None where chance was against it."""
    one = Golden(folder, seed, "golden")
    if one.lineage.policy != Policy():
        return None
    one.record(NoteAdded(text="be kind – “really”"))
    for _ in range(8):
        one.finish()
    one._move()
    due = one.due()
    if due is None or TYPE_OF[LateralThinkApplied] not in one.kinds():
        return None
    _stumble(one, due)
    _jump(one)
    return one if one.kinds() == TYPES.keys() else None


def _stumble(one: Golden, due: RunPhase) -> None:
    busy = Problem(kind=FailureKind.OVERLOADED, message="busy")
    one.record(failure(one.lineage, due.phase, busy, one._now(), None, usage(one.chance)))
    one.record(PauseCleared())
    one.record(EvolveStepInterrupted(phase=due.phase, rescue="refs/ouro/rescue/golden/1"))
    one.finish()


def _jump(one: Golden) -> None:
    _allow(one, 4)
    one.user_commit()
    one.rewind(len(one.lineage.generations) - 1)
    one.finish()
    one.finish()
    _allow(one, 5)
    one.rewind(len(one.lineage.generations) - 1)
    one.undo()
    one.finish()
    one.fork(replace(SEED, goal="Greet nobody"))
    one.finish()


def _allow(one: Golden, retries: int) -> None:
    policy = replace(Policy(), max_retries=retries, max_generations=60)
    one.record(PolicyChanged(policy=policy, given=Given(file={"max_retries": retries})))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = (grown(Path(folder) / str(seed), seed) for seed in count(900))
        one = next(each for each in found if each).publish()
        GOLDEN.mkdir(parents=True, exist_ok=True)
        bundle = GOLDEN / f"{__version__}.bundle"
        refs = (branch_ref(one.id), "--glob=refs/tags/ooo")
        words = ["git", "bundle", "create", "-q", str(bundle), *refs]
        subprocess.run(words, cwd=one.repo.common, check=True)
        bundle.with_suffix(".json").write_bytes(msgspec.json.encode(one.lineage) + b"\n")


if __name__ == "__main__":
    main()
