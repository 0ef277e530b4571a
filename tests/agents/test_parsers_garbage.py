"""What no client should ever print: no parser raises, and nothing strange gets through."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from ouro.agents.parsers import read_reply
from ouro.agents.parsers.objects import amount, objects, total, whole
from ouro.agents.parsers.result import LONGEST_MESSAGE, kind_of_words, moment, one_line
from ouro.agents.presets import PRESETS
from tests.agents.parsing import lines, parse

WORDS = """
    type result error turn.failed turn.completed item.completed agent_message item text message part
    step_finish tool_use tokens cost usage modelUsage inputTokens outputTokens input_tokens
    output_tokens total_cost_usd is_error api_error_status permission_denials tool_name tool_input
    response stats models prompt candidates data statusCode responseHeaders retry-after timestamp
    session.error assistant.message content model errors subtype error_max_turns rate_limit_event
    rate_limit_info resetsAt cache read write reason unknown messageID code state system
""".split()
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**14, max_value=10**400)
    | st.floats()
    | st.text()
    | st.sampled_from(WORDS)
)
NESTED = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(), inner, max_size=6)
    ),
    max_leaves=20,
)
LINE = st.builds(
    lambda value, cut: json.dumps(value)[: None if cut == 0 else -cut],
    st.dictionaries(st.sampled_from(WORDS), NESTED, max_size=8) | NESTED,
    st.sampled_from([0, 0, 0, 1, 5]),
)
OUTPUT = st.lists(LINE | st.text(), max_size=8).map("\n".join)


@given(OUTPUT, OUTPUT, st.integers(min_value=-64, max_value=255))
def test_no_output_is_too_strange(stdout: str, stderr: str, code: int) -> None:
    for preset in [None, *PRESETS.values()]:
        parsed = read_reply(preset, stdout, stderr, code)
        assert parsed.problem is not None or (code == 0 and parsed.text.strip())
        assert len(parsed.message) <= LONGEST_MESSAGE
        assert "\n" not in parsed.message
        assert bool(parsed.message) == (parsed.problem is not None)
        assert parsed.input_tokens is None or 0 < parsed.input_tokens <= 10**15
        assert parsed.cost is None or 0 < parsed.cost <= 10**15
        # What goes into a log must be encodable: UTF-8, and numbers that JSON knows.
        told = json.dumps(asdict(parsed), ensure_ascii=False, allow_nan=False)
        assert told.encode()


GOOD: dict[str, dict[str, object]] = {
    "claude": {"type": "result", "subtype": "success", "result": "fine"},
    "codex": {"type": "item.completed", "item": {"type": "agent_message", "text": "fine"}},
    "gemini": {"response": "fine"},
    "opencode": {"type": "text", "part": {"text": "fine"}},
    "copilot": {"type": "assistant.message", "data": {"content": "fine"}},
}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    "noise",
    [
        "Loaded cached credentials.\n",
        "\ufeff",
        '{"type":"result","resu\n',
        f"{'[' * 100_000}\n",
        f'{{"x":{"9" * 5_000}}}\n',
        '{"type": NaN, "usage": Infinity}\n[1, null, "x"]\n\r\n',
    ],
    ids=["words", "bom", "truncated", "deep", "huge", "odd"],
)
def test_noise_before_the_reply_hides_nothing(name: str, noise: str) -> None:
    assert parse(name, noise + lines(GOOD[name])).text == "fine"


@pytest.mark.parametrize("name", GOOD)
def test_the_wrong_types_everywhere(name: str) -> None:
    strange: list[object] = [None, True, -1, 1e400, "x", [], {}, [{}], 10**400]
    for wrong in strange:
        spoilt: dict[str, object] = {
            key: value if key == "type" else wrong for key, value in GOOD[name].items()
        }
        spoilt |= dict.fromkeys(["usage", "modelUsage", "stats", "total_cost_usd"], wrong)
        parsed = parse(name, lines(spoilt))
        assert (parsed.input_tokens, parsed.output_tokens, parsed.cost) == (None, None, None)


def test_a_lone_surrogate_never_leaves_a_parser() -> None:
    stdout = '{"type":"item.completed","item":{"type":"agent_message","text":"a\\ud800b"}}'
    assert parse("codex", stdout).text == "a?b"
    assert parse("raw", "a\ud800b").text == "a?b"


def test_objects_in_arrays_and_over_many_lines() -> None:
    text = f'[{{"a":1}}, 2]\nx {{"b":2}}\n{json.dumps({"c": {"d": 3}}, indent=2)}\ntail {{\n'
    assert list(objects(text)) == [{"a": 1}, {"c": {"d": 3}}]


def test_a_long_wreck_costs_no_minutes() -> None:
    assert list(objects('{"a":\n' * 300_000)) == []
    assert parse("aider", "Tokens: 1 sent, 1 received. $1 session. " * 50_000).problem is None


@pytest.mark.parametrize("value", [True, -1, 1.0, "1", None, 10**16])
def test_what_is_no_count(value: object) -> None:
    assert whole(value) is None


@pytest.mark.parametrize("value", [True, -0.5, float("nan"), float("inf"), 10**400, "1", None])
def test_what_is_no_amount(value: object) -> None:
    assert amount(value) is None


def test_small_helpers() -> None:
    assert (total([]), total([None]), total([None, 2, 3])) == (None, None, 5)
    assert total([10**15, 10**15]) == 10**15
    assert one_line('{"error":{"message":"a\\n b"}}') == "a b"
    assert len(one_line("x" * 999)) == LONGEST_MESSAGE
    assert (moment(None), moment(1e30), moment(float("nan"))) == (None, None, None)
    assert kind_of_words("x" * 10_000_000 + "rate limit", ()) is None
