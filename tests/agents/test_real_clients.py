"""codex and claude themselves, started by their presets' lines, against a scripted model.

What a parser reads out of recordings holds for the pinned versions; here it is seen that the lines,
the environment and the parsers fit together with the programs.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ouro.agents.presets import Choice
from ouro.agents.process import Cause
from ouro.core.brief import FailureKind, Phase
from tests.agents.clients import Stand, claude, codex, stand
from tests.agents.model_server import (
    USED,
    BreakOff,
    Hang,
    ModelServer,
    Refuse,
    Say,
    Step,
    claude_writes,
    codex_writes,
)

__all__ = ["claude", "codex"]

CLIENTS = ["codex", "claude"]
PATHS = {"codex": "/v1/responses", "claude": "/v1/messages"}
LIMIT = Refuse(429, {"retry-after": "3600"}, "rate_limit_error", "Number of requests exceeded")


class Play:
    """One client whose model follows the steps that a test sets."""

    def __init__(self, name: str, program: Path, folder: Path) -> None:
        self.name = name
        self.steps: tuple[Step, ...] = ()
        self.server = ModelServer(script=lambda asked: self._step(asked.number))
        self.stand: Stand = stand(name, program, self.server, folder)

    def _step(self, number: int) -> Step:
        return self.steps[min(number, len(self.steps) - 1)]

    @property
    def written(self) -> Path:
        return self.stand.workspace / "out.txt"

    def writes(self, text: str) -> None:
        """The model writes `text` into the file and says so."""
        if self.name == "codex":
            self.steps = tuple(codex_writes("out.txt", text))
        else:
            self.steps = tuple(claude_writes(str(self.written), text))


@pytest.fixture(params=CLIENTS)
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Play]:
    one = Play(request.param, request.getfixturevalue(request.param), tmp_path)
    with one.server:
        yield one


def test_a_prompt_goes_in_and_text_comes_out(play: Play) -> None:
    play.steps = (Say("Grüße, and a line\nmore."),)
    ran = play.stand.run("Say hello; the word is Fledermausohr.", phase=Phase.WONDER)
    assert (ran.code, ran.parsed.problem, ran.parsed.message) == (0, None, "")
    assert ran.parsed.text == "Grüße, and a line\nmore."
    assert (ran.parsed.input_tokens, ran.parsed.output_tokens) == USED
    assert play.server.paths() == {PATHS[play.name]}
    assert "Fledermausohr" in play.server.asked[0].text


def test_a_long_prompt_arrives_whole(play: Play) -> None:
    play.steps = (Say("read"),)
    prompt = "".join(f"line {number} of the seed\n" for number in range(20_000))
    assert play.stand.run(prompt).parsed.text == "read"
    assert "line 19999 of the seed" in play.server.asked[0].text


def test_execute_may_write(play: Play) -> None:
    play.writes("made by the model")
    # codex has a sandbox that not every machine lets it make; without it, it must work anywhere.
    ran = play.stand.run(choice=Choice(everything=play.name == "codex"))
    assert (ran.parsed.problem, ran.parsed.denials) == (None, ())
    assert "out.txt" in ran.parsed.text
    assert play.written.read_text() == "made by the model"
    assert ran.parsed.input_tokens == 2 * USED[0]


def test_a_thinking_phase_may_not_write(play: Play) -> None:
    play.writes("must not be")
    ran = play.stand.run(phase=Phase.EVALUATE)
    assert ran.parsed.problem is None
    assert not play.written.exists()
    assert bool(ran.parsed.denials) == (play.name == "claude")


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (LIMIT, FailureKind.RATE_LIMITED),
        (Refuse(401, {}, "authentication_error", "no such key"), FailureKind.AUTH),
        # The recordings have these too.
        pytest.param(
            Refuse(500, {}, "api_error", "oh no"), FailureKind.OVERLOADED, marks=pytest.mark.slow
        ),
        pytest.param(
            Refuse(529, {}, "overloaded_error", "Overloaded"),
            FailureKind.OVERLOADED,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            Refuse(400, {}, "invalid_request_error", "what?"),
            FailureKind.AGENT_ERROR,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            BreakOff("Half of an answer, and then"), FailureKind.OVERLOADED, marks=pytest.mark.slow
        ),
        pytest.param(Say(""), FailureKind.AGENT_ERROR, marks=pytest.mark.slow),
    ],
    ids=["429", "401", "500", "529", "400", "broken_off", "empty"],
)
def test_a_failure_is_of_its_kind(play: Play, step: Step, kind: FailureKind) -> None:
    play.steps = (step,)
    ran = play.stand.run()
    assert ran.parsed.problem is kind, ran
    assert ran.parsed.message
    assert not ran.parsed.guessed


def test_a_hanging_model_is_ended(play: Play) -> None:
    play.steps = (Hang(),)
    ran = play.stand.run(seconds=5)
    assert (ran.cause, ran.parsed.text) == (Cause.WALL, "")
    assert ran.parsed.problem is FailureKind.AGENT_ERROR


def test_work_that_speaks_of_limits_is_work(play: Play) -> None:
    play.steps = (Say("Handled: API Error: 429 rate limit, 401 unauthorized, is_error true."),)
    assert play.stand.run().parsed.problem is None
