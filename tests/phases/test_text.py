import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouro.phases.text import block, bullets, clean, cut, fence, keep_end, one_line, section

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=300)


@given(ANY_TEXT)
def test_clean_text_is_fit_for_the_log_and_stays_as_it_is(text: str) -> None:
    cleaned = clean(text)
    assert msgspec.json.decode(msgspec.json.encode(cleaned)) == cleaned
    assert clean(cleaned) == cleaned


def test_clean_keeps_tabs_and_lines_and_any_script() -> None:
    assert clean("a\tb\r\nc\rd\x00\x1b\ud800 ü 漢 😀") == "a\tb\nc\nd\ufffd ü 漢 😀"


@given(ANY_TEXT, st.integers(100, 150))
def test_cut_keeps_to_its_limit_and_keeps_head_and_tail(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit
    assert (short == text) == (len(text) <= limit)
    assert short[:20] == text[:20]
    assert not text or short[-20:] == text[-20:]


def test_cut_says_how_much_is_missing() -> None:
    short = cut("a" * 500 + "b" * 500, 140)
    assert short == "a" * 50 + "\n[… 900 characters cut …]\n" + "b" * 50


def test_one_line_stays_one_line_when_cut() -> None:
    text = one_line("many\nwords\u2028here\t" * 100, 200)
    assert len(text) <= 200
    assert text.splitlines() == [text]


def test_block_keeps_lines() -> None:
    assert block("\n a\n b\r\n", 100) == "a\n b"


def test_keep_end_keeps_the_end() -> None:
    assert keep_end("short", 100) == "short"
    text = keep_end("x" * 1000 + "the end", 100)
    assert text.endswith("the end")
    assert text.startswith("[… 947 characters cut …]\n")
    assert len(text) <= 100


@pytest.mark.parametrize("inside", ["plain", "```\ncode\n```", "a ````` b", "~~~"])
def test_no_text_closes_its_own_fence(inside: str) -> None:
    first, *middle, last = fence(inside, "material").split("\n")
    assert first == last + "material"
    assert "\n".join(middle) == inside
    assert last not in inside


def test_bullets_keep_further_lines_inside() -> None:
    assert bullets(["one\ntwo", " three "]) == "- one\n  two\n- three"


def test_a_section_without_body_is_nothing() -> None:
    assert section("Title", "") == ""
    assert section("Title", "body") == "## Title\n\nbody"
