"""The log's bytes: what is written reads back, and nothing else reads at all."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ouro.core.chain import extend, seal
from ouro.core.codec import (
    EMPTY_LOG,
    Log,
    decode_files,
    decode_newest_first,
    encode,
    encode_lines,
    line_hash,
)
from ouro.core.events import (
    GENESIS,
    TYPE_OF,
    TYPES,
    Data,
    Event,
    NoteAdded,
    PauseCleared,
    PolicyChanged,
)
from ouro.core.policy import Given, Policy
from ouro.errors import DamagedLog, NewerLog
from tests.core.arbitrary import logs
from tests.core.builders import EVERYTHING, TWO, created, executed, forked, judged, log_of, seal_all

EVENTS = seal_all([created(), *EVERYTHING, forked(TWO, source="greet")])
VALID = encode_lines(EVENTS)
LINES = VALID.split(b"\n")[:-1]
NOTE = encode_lines(seal_all([created(), NoteAdded(text="qq")]))
"""Two lines; what is put in place of `"qq"` damages the second."""
SECOND = len(NOTE.split(b"\n")[0]) + 1


def read(content: bytes) -> Log:
    return decode_files([("000001.jsonl", content)])


# --- round trips


def test_the_example_has_every_type() -> None:
    assert {type(event.data) for event in EVENTS} == set(TYPES.values())


@settings(max_examples=60)
@given(logs(3), st.data())
def test_any_events_read_back_from_any_files(
    events: tuple[Event, ...], data: st.DataObject
) -> None:
    lines = [encode_lines([event]) for event in events]
    cut = data.draw(st.integers(0, len(lines)))
    log = decode_files([("1", b"".join(lines[:cut])), ("2", b"".join(lines[cut:]))])
    assert log == extend(EMPTY_LOG, events)
    assert encode_lines(log.events) == b"".join(lines)
    assert log.head == line_hash(lines[-1].removesuffix(b"\n"))


def test_a_line_is_what_the_design_says() -> None:
    """Other programs read the log: this is its format, byte for byte."""
    events = seal(
        [(2, NoteAdded(text="à\u2028\n"))], Log(EVENTS, "0f" * 32), "greet", lambda: ("I", "T")
    )
    assert encode_lines(events).decode() == (
        '{"v":1,"seq":18,"id":"I","at":"T","lineage_id":"greet","generation":2,'
        '"type":"note.added","data":{"text":"à\u2028\\n"},"prev":"' + "0f" * 32 + '"}\n'
    )


def test_the_chain() -> None:
    assert [event.seq for event in EVENTS] == list(range(1, len(EVENTS) + 1))
    assert EVENTS[0].prev == GENESIS
    assert [event.prev for event in EVENTS[1:]] == [line_hash(line) for line in LINES[:-1]]
    assert len({event.id for event in EVENTS}) == len(EVENTS)


def test_nothing_is_an_empty_log() -> None:
    assert decode_files([]) == read(b"") == EMPTY_LOG
    assert encode_lines([]) == b""
    assert extend(EMPTY_LOG, []) == EMPTY_LOG
    assert seal([], EMPTY_LOG, "greet", lambda: ("", "")) == ()


@settings(max_examples=50)
@given(st.integers(0, len(EVENTS)), st.integers(0, len(EVENTS)))
def test_sealed_and_extended_bit_by_bit(one: int, other: int) -> None:
    facts = [created(), *EVERYTHING, forked(TWO, source="greet")]
    log, (first, second) = EMPTY_LOG, sorted((one, other))
    for part in (facts[:first], facts[first:second], facts[second:]):
        log = extend(log, seal_all(part, log))
    assert log == read(VALID)


def test_what_does_not_follow_is_not_appended() -> None:
    with pytest.raises(DamagedLog, match="event 3 does not follow event 1"):
        extend(Log(EVENTS[:1], EVENTS[1].prev), EVENTS[2:])
    with pytest.raises(DamagedLog, match="event 2 does not follow event 1"):
        extend(Log(EVENTS[:1], GENESIS), EVENTS[1:])


# --- what cannot be written


@pytest.mark.parametrize(
    "fact",
    [
        NoteAdded(text="half a pair: \ud83d"),
        replace(executed(), added=5, summary="\udcff"),
        replace(judged(True), score=nan),
        replace(judged(True), seconds=inf),
        replace(judged(True), score=1),
        PolicyChanged(policy=Policy(max_cost=inf), given=Given()),
        PolicyChanged(policy=Policy(), given=Given(file={"max_cost": nan})),
        PolicyChanged(policy=Policy(), given=Given(file={"keys": {1: "no text"}})),
        PolicyChanged(policy=Policy(), given=Given(file={"pairs": (1, 2)})),
        NoteAdded(text=5),  # type: ignore[arg-type]
    ],
    ids=lambda fact: TYPE_OF[type(fact)],
)
def test_what_would_not_read_back_is_not_written(fact: Data) -> None:
    log = log_of()
    with pytest.raises(DamagedLog, match=r"^event 2 \([a-z.]+\) would not read back as written$"):
        seal_all([fact], log)
    event = replace(EVENTS[1], data=fact)
    with pytest.raises(DamagedLog, match="would not read back"):
        encode_lines([event])


def test_a_depth_without_end_is_not_written() -> None:
    endless: dict[str, object] = {}
    endless["again"] = endless
    with pytest.raises(DamagedLog, match="would not read back"):
        seal_all([created(seed=replace(TWO, metadata=endless))])


# --- damage


def in_note(text: str) -> bytes:
    return NOTE.replace(b'"qq"', text.encode())


def at_second(line: bytes) -> bytes:
    return NOTE[:SECOND] + line + b"\n"


def second_with(old: str, new: str) -> bytes:
    return at_second(NOTE[SECOND:-1].replace(old.encode(), new.encode()))


FIRST_LINE = "000001.jsonl, line 1 (byte 0)"
SECOND_LINE = f"000001.jsonl, line 2 (byte {SECOND})"
NOT_OURS = "not written as ouro writes it"
DAMAGES = {
    "a byte order mark": (b"\xef\xbb\xbf" + NOTE, FIRST_LINE, "begins with a byte order mark"),
    "CRLF": (
        NOTE.replace(b"\n", b"\r\n"),
        f"000001.jsonl, line 1 (byte {SECOND - 1})",
        "a carriage return: line endings were converted",
    ),
    "a CR within": (
        NOTE.replace(b"qq", b"q\rq"),
        f"000001.jsonl, line 2 (byte {NOTE.index(b'qq') + 1})",
        "a carriage return",
    ),
    "no last newline": (NOTE[:-1], SECOND_LINE, "the last line is torn: no newline"),
    "a torn last line": (NOTE[:-30], SECOND_LINE, "the last line is torn: no newline"),
    "a torn first line": (NOTE[:30], FIRST_LINE, "the last line is torn: no newline"),
    "an empty line": (NOTE[:SECOND] + b"\n" + NOTE[SECOND:], SECOND_LINE, "an empty line"),
    "an empty line at the end": (
        NOTE + b"\n",
        f"000001.jsonl, line 3 (byte {len(NOTE)})",
        "an empty line",
    ),
    "only a newline": (b"\n", FIRST_LINE, "an empty line"),
    "blanks": (b"  \n", FIRST_LINE, "an empty line"),
    "zeros": (b"\0" * 512 + b"\n", FIRST_LINE, "JSON is malformed"),
    "NaN": (second_with('"generation":1', '"generation":NaN'), SECOND_LINE, "JSON is malformed"),
    "Infinity": (in_note("-Infinity"), SECOND_LINE, "JSON is malformed"),
    "a number beyond floats": (in_note("1e999"), SECOND_LINE, "Number out of range"),
    "a key twice": (in_note('"qq","text":"qq"'), SECOND_LINE, NOT_OURS),
    "a key of the line twice": (second_with('"v":1', '"v":1,"v":1'), SECOND_LINE, NOT_OURS),
    "a blank": (in_note(' "qq"'), SECOND_LINE, NOT_OURS),
    "a blank at the end": (at_second(NOTE[SECOND:-1] + b" "), SECOND_LINE, NOT_OURS),
    "another order": (second_with('"v":1,"seq":2', '"seq":2,"v":1'), SECOND_LINE, NOT_OURS),
    "another spelling of a letter": (in_note(r'"\u0071q"'), SECOND_LINE, NOT_OURS),
    "another spelling of a number": (
        NOTE.replace(b'"convergence_threshold":0.95', b'"convergence_threshold":95e-2'),
        FIRST_LINE,
        NOT_OURS,
    ),
    "a record separator": (b"\x1e" + NOTE, FIRST_LINE, NOT_OURS),
    "5,000 digits": (
        second_with('"generation":1', '"generation":' + "7" * 5000),
        SECOND_LINE,
        "Integer value out of range",
    ),
    "5,000 digits where anything may stand": (
        NOTE.replace(b'"ontology_schema"', b'"metadata":' + b"7" * 5000 + b',"ontology_schema"'),
        FIRST_LINE,
        "Integer value out of range",
    ),
    "100,000 brackets": (at_second(b"[" * 100_000), SECOND_LINE, "Expected `object`, got `array`"),
    "nested 100,000 deep": (
        in_note("[" * 100_000 + "]" * 100_000),
        SECOND_LINE,
        "Expected `str`, got `array`",
    ),
    "nested 100,000 deep where anything may stand": (
        NOTE.replace(b'"goal"', b'"metadata":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
        FIRST_LINE,
        "nested too deeply",
    ),
    "half a pair": (in_note(r'"\ud800"'), SECOND_LINE, "JSON is malformed"),
    "the other half": (in_note(r'"\udc00 and more"'), SECOND_LINE, "JSON is malformed"),
    "half a pair as bytes": (
        NOTE.replace(b"qq", b"\xed\xa0\x80"),
        SECOND_LINE,
        f"not UTF-8 (byte {NOTE.index(b'qq') - SECOND} of the line)",
    ),
    "Latin-1": (
        NOTE.replace(b"qq", b"\xe9t\xe9"),
        SECOND_LINE,
        f"not UTF-8 (byte {NOTE.index(b'qq') - SECOND} of the line)",
    ),
    "a gap in seq": (
        second_with('"seq":2', '"seq":3'),
        SECOND_LINE,
        "seq is 3 where 2 must follow",
    ),
    "the same line twice": (
        NOTE + NOTE[SECOND:],
        f"000001.jsonl, line 3 (byte {len(NOTE)})",
        "seq is 2 where 3 must follow",
    ),
    "a changed line before": (
        NOTE.replace(b"Greet people", b"Greet People"),
        SECOND_LINE,
        "prev does not match the line before (seq 1)",
    ),
    "an id twice": (
        second_with(EVENTS[1].id, EVENTS[0].id),
        SECOND_LINE,
        f"the id {EVENTS[0].id} occurred before",
    ),
    "conflict markers": (
        NOTE[:SECOND] + b"<<<<<<< ours\n" + NOTE[SECOND:] + b"=======\n>>>>>>> theirs\n",
        SECOND_LINE,
        "a conflict marker: the log was merged as text",
    ),
    "an unknown key": (in_note('"qq","more":1'), SECOND_LINE, "unknown field `more`"),
    "a missing key": (second_with('"text":"qq"', ""), SECOND_LINE, "missing required field `text`"),
    "another type": (in_note("5"), SECOND_LINE, "Expected `str`, got `int`"),
    "null": (b"null\n", FIRST_LINE, "Expected `object`, got `null`"),
    "an older version": (second_with('"v":1', '"v":0'), SECOND_LINE, "v 0, note.added"),
    "no creation": (
        encode_lines(seal([(1, PauseCleared())], EMPTY_LOG, "greet", lambda: ("I", "T"))),
        FIRST_LINE,
        "the first line, and no other, is lineage.created",
    ),
    "two creations": (
        encode_lines(seal_all([created(), created()])),
        f"000001.jsonl, line 2 (byte {SECOND})",
        "the first line, and no other, is lineage.created",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_told_with_file_line_and_byte(name: str) -> None:
    content, place, what = DAMAGES[name]
    with pytest.raises(DamagedLog) as caught:
        read(content)
    assert caught.value.message.startswith(f"the log is damaged: {place}: ")
    assert what in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 300
    assert "nothing was changed" in caught.value.hint


def test_a_line_separator_of_unicode_within_a_text_is_no_line_end() -> None:
    separators = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"
    log = read(encode_lines(seal_all([created(), NoteAdded(text=separators)])))
    assert log.events[1].data == NoteAdded(text=separators)


def test_the_file_that_is_damaged_is_named() -> None:
    files = [("000001.jsonl", NOTE), ("000002.jsonl", b"{}\n")]
    with pytest.raises(DamagedLog, match=r": 000002\.jsonl, line 1 \(byte 0\): "):
        decode_files(files)
    with pytest.raises(DamagedLog, match=r": 000002\.jsonl, line 1 \(byte 0\): seq is 2 where 3"):
        decode_files([("000001.jsonl", NOTE), ("000002.jsonl", NOTE[SECOND:])])


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (second_with("note.added", "note.moved"), "v 1, note.moved"),
        (second_with("note.added", r"odd\nname"), "v 1, odd name"),
        (second_with("note.added", "x" * 5000), "v 1, " + "x" * 195),
        (second_with('"v":1', '"v":2'), "v 2, note.added"),
        (at_second(b'{"v":2,"strange":[1,2]}'), "v 2, no type"),
        (
            encode_lines(seal_all([created(Policy(rule=2))])),
            "decision rule 2",
        ),
        (
            encode_lines(
                seal_all([created(), PolicyChanged(policy=Policy(rule=7), given=Given())])
            ),
            "decision rule 7",
        ),
    ],
)
def test_what_a_newer_ouro_wrote_is_told_as_such(content: bytes, what: str) -> None:
    with pytest.raises(NewerLog) as caught:
        read(content)
    assert caught.value.message.endswith(f": made by a newer ouro ({what})")
    assert caught.value.message.startswith("000001.jsonl, line ")
    assert "update ouro" in caught.value.hint


# --- from the newest end


@settings(max_examples=60)
@given(logs(3), st.data())
def test_the_newest_first_from_any_files(events: tuple[Event, ...], data: st.DataObject) -> None:
    lines = [encode_lines([event]) for event in events]
    cut = data.draw(st.integers(0, len(lines)))
    files = [("2", b"".join(lines[cut:])), ("1", b"".join(lines[:cut]))]
    assert [*decode_newest_first(files)] == [*reversed(events)]


def test_a_file_is_not_asked_for_before_its_events_are() -> None:
    def files() -> Iterator[tuple[str, bytes]]:
        yield "000002.jsonl", b"".join(line + b"\n" for line in LINES[-2:])
        pytest.fail("asked for too early")

    newest = decode_newest_first(files())
    assert [next(newest), next(newest)] == [*reversed(EVENTS[-2:])]


@pytest.mark.parametrize("name", sorted({*DAMAGES} - {"an id twice"}))
def test_damage_is_found_from_the_newest_end_too(name: str) -> None:
    with pytest.raises(DamagedLog, match=r"the log is damaged: 000001\.jsonl, line "):
        list(decode_newest_first([("000001.jsonl", DAMAGES[name][0])]))


def test_a_file_that_is_missing_is_found_from_the_newest_end_too() -> None:
    with pytest.raises(DamagedLog, match=r"line 1 .*: seq is 2 where 1 must follow"):
        list(decode_newest_first([("000002.jsonl", NOTE[SECOND:])]))


def test_of_no_files_there_are_no_events_from_the_newest_end_either() -> None:
    assert list(decode_newest_first([])) == []
    assert list(decode_newest_first([("000001.jsonl", b"")])) == []


def test_a_newer_rule_is_found_from_the_newest_end_too() -> None:
    with pytest.raises(NewerLog):
        list(decode_newest_first([("1", encode_lines(seal_all([created(Policy(rule=2))])))]))


# --- any damage at all


def is_detected(content: bytes) -> bool:
    """Whether reading fails, or at least ends in another head than the log's own."""
    try:
        return read(content).head != read(VALID).head
    except (DamagedLog, NewerLog):
        return True


@settings(max_examples=250)
@given(st.integers(0, len(VALID) - 1), st.integers(1, 255))
def test_a_changed_byte_is_detected(at: int, change: int) -> None:
    content = bytearray(VALID)
    content[at] ^= change
    assert is_detected(bytes(content))
    if at < len(VALID) - len(LINES[-1]) - 1:  # before the last line, which nothing follows yet
        with pytest.raises((DamagedLog, NewerLog)):
            read(bytes(content))


@settings(max_examples=100)
@given(st.integers(0, len(VALID) - 1), st.binary(max_size=3))
def test_bytes_gone_or_come_are_detected(at: int, more: bytes) -> None:
    assert is_detected(VALID[:at] + more + VALID[at + 1 :]) or VALID[at : at + 1] == more
    assert is_detected(VALID[:at] + more + VALID[at:]) or not more


@settings(max_examples=100)
@given(st.permutations(range(len(LINES))), st.integers(0, len(LINES)))
def test_lines_moved_or_gone_are_detected(order: list[int], keep: int) -> None:
    chosen = order[:keep]
    content = b"".join(LINES[at] + b"\n" for at in chosen)
    assert is_detected(content) or chosen == list(range(len(LINES)))


@settings(max_examples=100)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_reading_fails_in_no_other_way(content: bytes) -> None:
    for whole in (content, content + b"\n", NOTE + content + b"\n"):
        with suppress(DamagedLog, NewerLog):
            assert len(read(whole).events) <= 2


@pytest.mark.parametrize(
    "wrap", [lambda n: b"[" * n + b"]" * n, lambda n: b'{"":' * n + b"1" + b"}" * n]
)
def test_every_depth_is_read_or_refused(wrap: Callable[[int], bytes]) -> None:
    """Also those at which reading still works and writing might not."""
    start, end = NOTE.split(b'"goal"', 1)
    for depth in range(1, 1200, 23):
        text = start + b'"goal"' + end
        deep = text.replace(
            b'"ontology_schema"', b'"metadata":' + wrap(depth) + b',"ontology_schema"'
        )
        with suppress(DamagedLog):
            read(deep)


def test_an_event_is_one_line() -> None:
    assert all(b"\n" not in encode(event) for event in EVENTS)
