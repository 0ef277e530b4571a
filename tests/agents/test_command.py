"""What was wrong with a call, by the way it ended."""

from pathlib import Path

import pytest

from ouro.agents.command import problem_of
from ouro.agents.parsers import Parsed
from ouro.agents.process import Cause, Outcome
from ouro.core.brief import FailureKind


@pytest.mark.parametrize(
    ("cause", "kind", "said"),
    [
        (Cause.NOT_FOUND, FailureKind.NOT_FOUND, "x cannot be started: "),
        (Cause.IDLE, FailureKind.TIMEOUT, "x was ended after 3 s without output"),
        (Cause.WALL, FailureKind.TIMEOUT, "x was ended after 3 s in all"),
        (
            Cause.FLOOD,
            FailureKind.AGENT_ERROR,
            "x flooded its output and was ended: more than 64 MiB",
        ),
    ],
)
def test_how_it_ended_comes_before_what_it_said(
    tmp_path: Path, cause: Cause, kind: FailureKind, said: str
) -> None:
    problem = problem_of(Outcome(cause, 0, 3.0, tmp_path), Parsed(text="All is well."), "x")
    assert problem is not None
    assert (problem.kind, problem.message) == (kind, said)


def test_an_end_in_order_is_no_problem(tmp_path: Path) -> None:
    assert problem_of(Outcome(Cause.EXIT, 0, 3.0, tmp_path), Parsed(text="Done."), "x") is None
