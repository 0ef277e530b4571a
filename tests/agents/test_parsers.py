"""Recorded replies of real clients, read by the parsers.

tests/data/replies holds what they printed; `tests.agents.record` makes it anew.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from ouro.agents.parsers import Parsed, read_reply
from ouro.agents.presets import PRESETS
from ouro.core.brief import FailureKind

REPLIES = Path(__file__).parents[1] / "data" / "replies"
AGENT_ERROR, AUTH = FailureKind.AGENT_ERROR, FailureKind.AUTH
OVERLOADED, RATE_LIMITED = FailureKind.OVERLOADED, FailureKind.RATE_LIMITED


class Reply(Struct, frozen=True):
    """One recording."""

    version: str
    command: list[str]
    code: int
    stdout: str
    stderr: str
    files: list[str]


def recorded(client: str, case: str) -> Reply:
    return Reply(**json.loads((REPLIES / client / f"{case}.json").read_text()))


def read(client: str, case: str) -> Parsed:
    reply = recorded(client, case)
    return read_reply(PRESETS[client], reply.stdout, reply.stderr, reply.code)


# --- recordings: runs that went well -------------------------------------------------------------

CLAUDE_MODEL = "claude-opus-4-8[1m]"
USAGE: dict[str, dict[str, Any]] = {
    "aider": {"input_tokens": 11, "output_tokens": 7},
    "claude": {"input_tokens": 11, "output_tokens": 7, "model": CLAUDE_MODEL, "cost": 0.00023},
    "codex": {"input_tokens": 11, "output_tokens": 7},
    "copilot": {"model": "scripted"},
    "gemini": {"input_tokens": 11, "output_tokens": 7, "model": "scripted"},
    "opencode": {"input_tokens": 11, "output_tokens": 7},
    "pi": {},
    "qwen": {},
}
TWICE = {"input_tokens": 22, "output_tokens": 14, "cost": 0.00046}


def stripped(parsed: Parsed) -> Parsed:
    return replace(parsed, text=parsed.text.strip())


@pytest.mark.parametrize("client", USAGE)
def test_a_reply_of_text(client: str) -> None:
    assert stripped(read(client, "text")) == Parsed(text="Hello there.", **USAGE[client])


@pytest.mark.parametrize("client", [client for client in USAGE if client != "aider"])
def test_a_reply_after_a_tool_sums_its_turns(client: str) -> None:
    twice = {name: TWICE.get(name, value) for name, value in USAGE[client].items()}
    assert stripped(read(client, "edit")) == Parsed(text="Wrote out.txt.", **twice)


@pytest.mark.parametrize(
    ("client", "denials"),
    [
        ("claude", ("Write: /workspace/out.txt",)),
        ("copilot", ("create",)),
        ("opencode", ("write",)),
        # These refuse too, and do not say so where it could be read.
        ("codex", ()),
        ("gemini", ()),
        ("pi", ()),
        ("qwen", ()),
    ],
)
def test_a_refused_tool_is_told_and_no_failure(client: str, denials: tuple[str, ...]) -> None:
    assert (recorded(client, "edit").files, recorded(client, "edit_denied").files) == (
        ["out.txt"],
        [],
    )
    parsed = read(client, "edit_denied")
    assert (parsed.problem, parsed.denials) == (None, denials)
    assert parsed.text.strip() == "Wrote out.txt."


@pytest.mark.parametrize("case", ["one_object", "array"])
def test_claude_in_its_other_formats(case: str) -> None:
    assert read("claude", case) == Parsed(text="Hello there.", **USAGE["claude"])


# --- recordings: runs that failed ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "case", "kind", "message"),
    [
        ("aider", "status_401", AUTH, "AuthenticationError: "),
        ("aider", "status_400", AGENT_ERROR, "BadRequestError: "),
        ("aider", "empty", AGENT_ERROR, "exited 0 without a reply"),
        ("claude", "status_401", AUTH, "Failed to authenticate. API Error: 401 invalid key"),
        ("claude", "status_400", AGENT_ERROR, "API Error: 400 no such thing"),
        ("claude", "status_429", RATE_LIMITED, "API Error: Request rejected (429) · Number of"),
        ("claude", "status_529", OVERLOADED, "API Error: 529 Overloaded. "),
        ("claude", "broken_off", OVERLOADED, "API Error: Connection to the API was lost"),
        ("claude", "no_login", AUTH, "Not logged in · Please run /login"),
        ("claude", "credit", RATE_LIMITED, "Credit balance is too low"),
        ("claude", "empty", AGENT_ERROR, "exited 0 without a reply"),
        ("claude", "hang_ended", AGENT_ERROR, "failed, exit 143"),
        ("claude", "max_turns", AGENT_ERROR, "the limit of turns is reached (Reached maximum "),
        ("claude", "max_budget", AGENT_ERROR, "the limit of cost is reached (Reached maximum "),
        ("codex", "status_401", AUTH, "unexpected status 401 Unauthorized: invalid key"),
        ("codex", "status_400", AGENT_ERROR, "no such thing"),
        ("codex", "status_429", RATE_LIMITED, "exceeded retry limit, last status: 429 Too Many"),
        ("codex", "quota", RATE_LIMITED, "Quota exceeded. Check your plan"),
        ("codex", "usage_limit", RATE_LIMITED, "You’ve hit your usage limit."),
        ("codex", "status_500", OVERLOADED, "We’re currently experiencing high demand"),
        ("codex", "status_529", OVERLOADED, "unexpected status 529 "),
        ("codex", "broken_off", OVERLOADED, "stream disconnected before completion"),
        ("codex", "empty", AGENT_ERROR, "exited 0 without a reply"),
        ("codex", "hang_ended", AGENT_ERROR, "failed, signal 15"),
        ("copilot", "status_401", AUTH, ""),
        ("copilot", "status_400", AGENT_ERROR, "400 no such thing"),
        ("copilot", "status_429", RATE_LIMITED, ""),
        ("copilot", "empty", AGENT_ERROR, "No response was returned."),
        ("gemini", "status_401", AUTH, "invalid key"),
        ("gemini", "status_400", AGENT_ERROR, "no such thing"),
        ("gemini", "broken_off", OVERLOADED, "Model stream ended without a finish reason."),
        ("gemini", "empty", OVERLOADED, "The model returned an empty response"),
        ("gemini", "hang_ended", AGENT_ERROR, "exited 0 without a reply"),
        ("opencode", "status_401", AUTH, "invalid key"),
        ("opencode", "status_400", AGENT_ERROR, "no such thing"),
        ("opencode", "status_429", RATE_LIMITED, "Number exceeded"),
        ("opencode", "empty", AGENT_ERROR, "exited 0 without a reply"),
        ("pi", "status_401", AUTH, "failed, exit 1; a guess from stderr: 401 "),
        ("pi", "status_429", RATE_LIMITED, "failed, exit 1; a guess from stderr: 429 "),
        ("pi", "empty", AGENT_ERROR, "exited 0 without a reply"),
        ("qwen", "status_401", AUTH, "failed, exit 1; a guess from stderr: [API Error: 401 "),
        ("qwen", "empty", OVERLOADED, "failed, exit 1; a guess from stderr: [API Error: Model "),
    ],
)
def test_a_failure(client: str, case: str, kind: FailureKind, message: str) -> None:
    parsed = read(client, case)
    assert (parsed.problem, parsed.message[: len(message)]) == (kind, message)
    assert parsed.guessed == ("a guess from stderr" in parsed.message)


def test_what_a_refused_call_took_is_unknown() -> None:
    for client in ("claude", "codex", "gemini", "opencode", "aider"):
        parsed = read(client, "status_401")
        assert (parsed.input_tokens, parsed.output_tokens, parsed.cost) == (None, None, None)


def test_a_limit_of_cost_still_tells_all_that_it_took() -> None:
    parsed = read("claude", "max_budget")
    assert (parsed.input_tokens, parsed.output_tokens) == (33, 21)
    assert parsed.cost == pytest.approx(0.00069)


@pytest.mark.parametrize("client", sorted(path.name for path in REPLIES.iterdir()))
def test_recordings_hold_nothing_of_the_machine_that_made_them(client: str) -> None:
    for path in (REPLIES / client).glob("*.json"):
        text = path.read_text().replace("/run/tmp/", "")
        assert not [word for word in ("ouro-record", "/tmp/", "/root", "dummy") if word in text]
