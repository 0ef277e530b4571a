"""kill -9 on the step at every instant that a recorded life has.

    pytest -m slow tests/crash

Around each git call of a step: before it, after it, while it lives on, with its locks left, half
done. Before each other effect of the step. By the agent before, in the middle of and after each
call. The same while a second start recovers, and at random times. About 600 points, in 150 lives:
a quarter of an hour on two idle cores.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.crash.judge import judge
from tests.crash.points import Plan, Point, name
from tests.crash.record import everything
from tests.crash.stand import Stand

SHARES = 72
PHASES = ("wonder", "reflect", "execute", "evaluate", "qa")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def plans(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> list[Plan]:
    """Recorded once for all workers."""
    result = shared / "plans.json"
    with FileLock(f"{result}.lock"):
        if not result.exists():
            result.write_text(json.dumps(everything(tmp_path_factory.mktemp("recorded"))))
    found = json.loads(result.read_text())
    return [tuple(Point(*point) for point in plan) for plan in found]


def test_there_are_enough_points(plans: list[Plan]) -> None:
    points = {point for plan in plans for point in plan if point.kind != "time"}
    assert len(points) >= 200
    for phase in PHASES:
        assert sum(point.phase == phase for point in points) >= 10, phase
    assert sum(point.between_ref_and_index for point in points) >= 10


@pytest.mark.parametrize("share", range(SHARES))
def test_a_killed_step_loses_and_repeats_nothing(
    share: int, plans: list[Plan], tmp_path: Path, undisturbed: dict[str, Any]
) -> None:
    faults = []
    for number, plan in enumerate(plans[share::SHARES]):
        folder = tmp_path / str(number)
        folder.mkdir()
        stand = Stand(folder).set_up()
        try:
            stand.live(plan)
            judge(stand, undisturbed)
        except AssertionError as fault:
            faults.append(f"== {name(plan)}\n{fault}")
    assert not faults, "\n".join(faults)
