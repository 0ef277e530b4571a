from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Struct

from ouro.phases import BadReply
from ouro.phases.reply import LONGEST, read
from tests.phases.test_text import ANY_TEXT


class Shape(Struct, frozen=True):
    n: int
    text: str = ""


def fenced(content: str, language: str = "json", ticks: str = "```") -> str:
    return f"{ticks}{language}\n{content}\n{ticks}"


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ('{"n": 1}', 1),
        ('\ufeff\n {"n": 1}\n', 1),
        (fenced('{"n": 1}'), 1),
        ('Here:\r\n```JSON\r\n{"n": 1}\r\n```\r\nDone.', 1),
        (fenced('{"n": 1}') + "\n\nand finally\n\n" + fenced('{"n": 2}') + "\nbye", 2),
        (fenced('{"n": 1}', ticks="`````"), 1),
        ("- item\n  " + '```json\n  {"n": 1}\n  ```', 1),
        ('```json title="x"\n{"n": 1}\n```', 1),
        ("cut off\n```json\n" + '{"n": 1}', 1),
        # A code block that was never closed does not swallow the reply.
        ("```\nsome code\n" + fenced('{"n": 1}'), 1),
        # Quoted examples before the reply do not count.
        (fenced(fenced('{"n": 9}'), "markdown", "````") + "\n" + fenced('{"n": 1}'), 1),
        (fenced('{"n": 1}', ""), 1),
        (fenced("some output", "") + "\n" + fenced('{"n": 1}', ""), 1),
        # A json block wins over a later one without a language.
        (fenced('{"n": 1}') + "\n" + fenced('{"n": 2}', ""), 1),
        (fenced('{"n": 1}') + "\n" + fenced("[2]", "python"), 1),
        ('{"n": 1, "more": {"unknown": [1e400]}}', 1),
        ("`` `` ```inline``` ````\n" + fenced('{"n": 1}'), 1),
    ],
)
def test_the_last_json_block_counts(text: str, n: int) -> None:
    assert read(text, Shape).n == n


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no readable JSON"),
        ("I could not do it.", "no readable JSON"),
        (fenced("not json", ""), "no readable JSON"),
        (fenced("[1]", ""), "no readable JSON"),
        (fenced("[" * 100_000, ""), "no readable JSON"),
        (fenced('{"n": 1}') + "\n" + fenced("{broken"), "no readable JSON"),
        (fenced('{"n": 1') + "\n", "no readable JSON"),
        ('{"n": NaN}', "no readable JSON"),
        ('{"n": 1} trailing', "no readable JSON"),
        ("{}", "missing required field `n`"),
        ("[]", "got `array`"),
        ('{"n": "1"}', "got `str` - at `$.n`"),
        ('{"n": true}', "got `bool`"),
        ('{"n": 1.5}', "got `float`"),
        ('{"n": ' + "9" * 5_000 + "}", "$.n"),
        ('{"n": 1, "deep": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"n": 1, "text": "' + "x" * LONGEST + '"}', "no readable JSON"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(BadReply) as caught:
        read(text, Shape)
    message = str(caught.value)
    assert problem in message
    assert len(message) <= 400
    assert message.splitlines() == [message]


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"\ud800", "\ufffd"),
        (r"\udc00x", "\ufffdx"),
        (r"\ud83d\u0041", "\ufffdA"),
        (r"\ud83d\ude00", "😀"),
        (r"\\ud800", r"\ud800"),
        (r"\\\ud800", "\\\ufffd"),
    ],
)
def test_a_lone_surrogate_is_replaced_and_nothing_else(escaped: str, text: str) -> None:
    assert read(f'{{"n": 1, "text": "{escaped}"}}', Shape).text == text
    assert read(fenced(f'{{"n": 1, "text": "{escaped}"}}', ""), Shape).text == text


@given(ANY_TEXT)
@example("```json\n" * 1_000)
@example("```" + "a" * 100_000 + "`")
def test_no_text_raises_anything_else(text: str) -> None:
    try:
        read(text, Shape)
    except BadReply as problem:
        assert str(problem).encode()  # noqa: PT017 - any other exception is the failure


def _without_json_fence(prose: str) -> bool:
    return "```" not in prose


@given(
    st.text(st.characters(codec="utf-8")).filter(_without_json_fence),
    st.text(st.characters(codec="utf-8")).filter(_without_json_fence),
    st.fixed_dictionaries(
        {"n": st.integers(-(2**63), 2**63 - 1), "text": st.text(st.characters(codec="utf-8"))}
    ),
)
def test_fenced_json_survives_the_prose_around_it(
    before: str, after: str, content: dict[str, Any]
) -> None:
    text = f"{before}\n{fenced(msgspec.json.encode(content).decode())}\n{after}"
    assert read(text, Shape).n == content["n"]
