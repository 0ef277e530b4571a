"""Replies of shapes that are documented and not recorded, and those of any other command."""

import json

import pytest

from ouro.agents.parsers import Parsed, Pattern, pattern, read_reply
from ouro.agents.presets import PRESETS
from ouro.core.brief import FailureKind
from ouro.errors import UsageProblem
from tests.agents.parsing import lines, parse

AGENT_ERROR, AUTH = FailureKind.AGENT_ERROR, FailureKind.AUTH
OVERLOADED, RATE_LIMITED = FailureKind.OVERLOADED, FailureKind.RATE_LIMITED


def failing_claude(**values: object) -> dict[str, object]:
    return {"type": "result", "subtype": "success", "is_error": True, **values}


def test_claude_documented_limit_of_a_subscription_with_its_end() -> None:
    info = {"status": "rejected", "resetsAt": 1796070000, "rateLimitType": "five_hour"}
    stdout = lines(
        {"type": "rate_limit_event", "rate_limit_info": info},
        failing_claude(api_error_status=429, result="You've hit your limit · resets 3pm (UTC)"),
    )
    parsed = parse("claude", stdout, code=1)
    assert parsed.problem is RATE_LIMITED
    assert parsed.resets_at == "2026-11-30T20:20:00.000000Z"


def test_claude_documented_limit_of_earlier_versions() -> None:
    stdout = lines(failing_claude(result="Claude AI usage limit reached|1796070000"))
    parsed = parse("claude", stdout, code=1)
    assert (parsed.problem, parsed.resets_at) == (RATE_LIMITED, "2026-11-30T20:20:00.000000Z")
    beyond = lines(failing_claude(result="Claude AI usage limit reached|9999999999999999"))
    assert parse("claude", beyond, code=1).resets_at is None


def test_claude_counts_what_a_cache_took_and_names_the_main_model() -> None:
    used = {
        "small": {"inputTokens": 5, "outputTokens": 1},
        "big": {"inputTokens": 10, "outputTokens": 20, "cacheReadInputTokens": 100},
    }
    stdout = lines({"type": "result", "subtype": "success", "result": "ok", "modelUsage": used})
    parsed = parse("claude", stdout)
    assert (parsed.model, parsed.input_tokens, parsed.output_tokens) == ("big", 115, 21)


def test_codex_documented_reconnect_that_ends_well_is_no_failure() -> None:
    stdout = lines(
        {"type": "error", "message": "Reconnecting... 1/5 (unexpected status 429)"},
        {"type": "item.completed", "item": {"type": "error", "message": "a model is unknown"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "first"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "last"}},
        {"type": "turn.completed", "usage": {"input_tokens": 3, "output_tokens": 4}},
    )
    assert parse("codex", stdout) == Parsed(text="last", input_tokens=3, output_tokens=4)


def test_gemini_documented_exit_codes() -> None:
    gemini = PRESETS["gemini"]
    for code, kind in {41: AUTH, 53: AGENT_ERROR, 173: RATE_LIMITED, 247: OVERLOADED}.items():
        assert read_reply(gemini, "", "", code).problem is kind
    error = json.dumps({"error": {"type": "Error", "message": "no method", "code": 41}}, indent=2)
    parsed = read_reply(gemini, "", f"YOLO mode is enabled.\n{error}\n", 41)
    assert (parsed.problem, parsed.message) == (AUTH, "no login, or an invalid key: no method")


def opencode_error(headers: object, timestamp: object = 1796070000_500) -> str:
    data = {"message": "Slow down", "statusCode": 429, "responseHeaders": headers}
    return lines({"type": "error", "timestamp": timestamp, "error": {"data": data}})


@pytest.mark.parametrize(
    ("headers", "resets_at"),
    [
        ({"Retry-After": "90"}, "2026-11-30T20:21:30.500000Z"),
        ({"retry-after": "Mon, 30 Nov 2026 20:30:00 GMT"}, "2026-11-30T20:30:00.000000Z"),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": 90}, None),
        ({}, None),
        (None, None),
    ],
)
def test_opencode_says_when_to_come_again(headers: object, resets_at: str | None) -> None:
    parsed = parse("opencode", opencode_error(headers), code=1)
    assert (parsed.problem, parsed.resets_at) == (RATE_LIMITED, resets_at)


def test_opencode_without_a_time_of_its_own_knows_no_time() -> None:
    stdout = opencode_error({"retry-after": "90"}, timestamp=None)
    assert parse("opencode", stdout, code=1).resets_at is None


def test_opencode_takes_the_last_message_after_the_last_tool() -> None:
    def part(kind: str, message: str, **values: object) -> dict[str, object]:
        return {"type": kind, "part": {"messageID": message, **values}}

    stdout = lines(
        part("text", "a", text="I shall look."),
        part("tool_use", "a", tool="read", state={"status": "completed"}),
        part("text", "b", text="Something "),
        part("step_finish", "b", reason="tool-calls", cost=0.5, tokens={"input": 1, "output": 2}),
        part("text", "c", text="It is "),
        part("text", "c", text="done."),
        part("step_finish", "c", reason="stop", cost=0.25, tokens={"cache": {"read": 4}}),
    )
    expected = Parsed(text="It is done.", input_tokens=5, output_tokens=2, cost=0.75)
    assert parse("opencode", stdout) == expected
    broken = lines(part("text", "c", text="It"), part("step_finish", "c", reason="unknown"))
    assert parse("opencode", broken).problem is OVERLOADED


def test_copilot_that_tried_again_and_got_an_answer_is_a_success() -> None:
    error = {"errorType": "query", "message": "503", "statusCode": 503}
    answer = {"content": "done", "model": "m"}
    stdout = lines(
        {"type": "session.error", "data": error}, {"type": "assistant.message", "data": answer}
    )
    assert parse("copilot", stdout) == Parsed(text="done", model="m")
    assert parse("copilot", lines({"type": "session.error", "data": error})).problem is OVERLOADED


def test_llm_documented_line_of_usage() -> None:
    parsed = parse("llm", "An answer.\n", "Token usage: 1,234 input, 56 output\n")
    assert parsed == Parsed(text="An answer.\n", input_tokens=1234, output_tokens=56)
    assert parse("llm", "x", "Token usage: 7 output").output_tokens == 7


def test_aider_that_tried_again_and_got_an_answer_is_a_success() -> None:
    error = "litellm.RateLimitError: slow down\nRetrying in 0.2 seconds...\n"
    used = "Tokens: 1.2k sent, 1.0k cache hit, 56 received. Cost: $0.01 message, $0.25 session.\n"
    parsed = parse("aider", f"{error}It is done.\n\n{used}")
    assert parsed.problem is None
    assert (parsed.input_tokens, parsed.output_tokens, parsed.cost) == (1200, 56, 0.25)
    parsed = parse("aider", f"{used}{error}")
    assert (parsed.problem, parsed.message) == (RATE_LIMITED, "RateLimitError: slow down")


# --- any other command ---------------------------------------------------------------------------


def test_the_work_may_speak_of_errors() -> None:
    work = "HTTP 429, rate limit, 401 unauthorized, quota exceeded: all handled now."
    assert parse("raw", work, "429 Too Many Requests") == Parsed(text=work)
    failed = parse("raw", work, "", 3)
    assert (failed.problem, failed.message) == (AGENT_ERROR, "failed, exit 3")


@pytest.mark.parametrize(
    ("stderr", "kind"),
    [
        ("Error: 429 Too Many Requests", RATE_LIMITED),
        ("HTTP 401", AUTH),
        ("error: Invalid API key provided", AUTH),
        ("status code: 503", OVERLOADED),
        ("read ECONNRESET", OVERLOADED),
        ("insufficient_quota", RATE_LIMITED),
        ("segmentation fault", None),
        ("4011 tests failed; 4290 left", None),
        ("", None),
    ],
)
def test_a_guess_from_stderr_is_marked(stderr: str, kind: FailureKind | None) -> None:
    parsed = parse("raw", "", f"starting\n{stderr}\n\n", 1)
    assert parsed.problem is (kind or AGENT_ERROR)
    assert parsed.guessed is (kind is not None)
    assert ("a guess from stderr" in parsed.message) is parsed.guessed


def test_the_users_patterns_come_first() -> None:
    own = (pattern("mana is low", "rate_limited"), Pattern("429", AGENT_ERROR))
    assert read_reply(None, "", "My Mana is low", 1, own).problem is RATE_LIMITED
    assert read_reply(None, "", "429 Too Many Requests", 1, own).problem is AGENT_ERROR
    assert read_reply(PRESETS["pi"], "", "mana is low", 1, own).problem is RATE_LIMITED
    assert read_reply(None, "fine", "mana is low", 0, own).problem is None


@pytest.mark.parametrize(("expression", "kind"), [("(", "auth"), ("x", "tired")])
def test_a_pattern_that_cannot_be_one_is_refused(expression: str, kind: str) -> None:
    with pytest.raises(UsageProblem, match="pattern"):
        pattern(expression, kind)


def test_a_signal_is_named() -> None:
    assert parse("raw", "half", "", -9).message == "failed, signal 9"
    assert parse("raw", "half", "", -9).text == "half"
