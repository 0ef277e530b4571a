"""kill -9 on the step, at instants chosen so that every kind of effect has its turn in every phase.

All the instants that there are: `test_kill_everywhere.py`.
"""

from typing import Any

import pytest

from tests.crash.judge import judge
from tests.crash.points import Plan, Point, agents, effects, git, name, spread
from tests.crash.stand import Stand
from tests.samples import every

ONCE: list[Point] = [
    # The step alone dies: before git runs, or before it hears that git is done.
    *git("before", "4 reflect/update-ref-stdin/1"),
    *git("after", "1 idle/update-ref-stdin/1", "2 execute/write-tree/1"),
    *git("after", "3 execute/update-ref-stdin/1", "4 idle/update-ref-stdin/1"),
    *git("after", "5 idle/update-ref-stdin/1"),
    # The step dies, and git is still at work when the next one starts.
    *git("orphan", "1 execute/update-ref-stdin/1", "4 qa/read-tree/1"),
    # Both die, and git leaves its locks.
    *git("lock", "2 wonder/update-ref-stdin/1", "3 execute/update-ref-branch/1"),
    *git("lock", "3 execute/symbolic-ref/1", "5 idle/read-tree/1"),
    # Both die when git had done a part: the branch without the tag, files without the index.
    *git("half", "1 idle/worktree-add/1", "1 qa/update-ref-stdin/1", "2 reflect/read-tree/1"),
    *git("half", "3 execute/add/1", "4 execute/read-tree/1", "5 idle/update-ref-stdin/1"),
    # Between two effects of the step itself: objects, the journal, a program's start.
    *effects("1 idle/Repository.create_commit/1", "2 execute/replace-intent/1"),
    *effects("2 wonder/fork_exec/1", "4 qa/unlink-run/1", "5 idle/replace-run/1"),
    # By its agent, which lives on.
    *agents("1 execute/middle", "2 wonder/after", "3 execute/after", "3 reflect/before"),
    *agents("4 evaluate/before", "5 reflect/middle", "5 wonder/before"),
]

# In the middle of putting right what a death before it has left.
TWICE: list[Point] = [
    *agents("1 execute/after", "2 execute/middle deaf", "3 execute/middle", "4 qa/middle"),
    *agents("5 wonder/middle"),
    *git("lock", "1.2 recovery/update-ref-rescue/1"),
    *git("after", "2.2 recovery/update-ref-stdin/1", "3.2 recovery/update-ref-rescue/1"),
    *git("half", "4.2 recovery/read-tree/1"),
    *effects("5.2 recovery/unlink-run/1"),
]


@pytest.mark.parametrize("plan", [*every(3, spread(ONCE)), *spread(TWICE)], ids=name)
def test_a_killed_step_loses_and_repeats_nothing(
    stand: Stand, plan: Plan, undisturbed: dict[str, Any]
) -> None:
    stand.live(plan)
    judge(stand, undisturbed)
