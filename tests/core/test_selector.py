"""What people call a generation or an event."""

import pytest
from msgspec.structs import replace

from ouro.core.events import Event
from ouro.core.lineage import Lineage
from ouro.core.selector import event_named, generation_named, require_generation
from ouro.errors import Exit, OuroError, UsageProblem
from tests.core.builders import completed, created, executed, judged, lineage, log_of

TURN = (executed(), judged(True, False), completed())


@pytest.fixture(scope="module")
def three() -> Lineage:
    """Three generations are completed, the fourth is in progress."""
    return lineage(*TURN, *TURN, *TURN, executed())


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("gen_1", 1),
        ("gen_3", 3),
        ("gen_4", 4),
        ("@", 3),
        ("@-", 2),
        ("@--", 1),
        ("@-0", 3),
        ("@-1", 2),
        ("@-2", 1),
    ],
)
def test_generations(three: Lineage, text: str, number: int) -> None:
    found = generation_named(text, three)
    assert found
    assert found.number == number
    assert require_generation(text, three) is found


@pytest.mark.parametrize("text", ["", "3", "gen_", "gen_x", "gen 3", "@1", "@+1", "@-x", "gen_٣"])
def test_what_is_no_name_of_a_generation(three: Lineage, text: str) -> None:
    assert generation_named(text, three) is None
    with pytest.raises(UsageProblem, match="names no generation"):
        require_generation(text, three)


@pytest.mark.parametrize("text", ["gen_0", "gen_5", "gen_999999999", "@---", "@-3", "@-999999999"])
def test_generations_that_are_not_there(three: Lineage, text: str) -> None:
    with pytest.raises(OuroError) as caught:
        generation_named(text, three)
    assert caught.value.exit_code == Exit.ERROR
    assert "there are gen_1 to gen_" in caught.value.hint


@pytest.mark.parametrize("text", ["gen_1", "@"])
def test_before_the_first_generation(text: str) -> None:
    with pytest.raises(OuroError) as caught:
        generation_named(text, lineage())
    assert "no generation has begun" in caught.value.hint


@pytest.fixture
def events() -> list[Event]:
    """Three events, the ids of the last two alike in their first ten characters."""
    named = log_of(executed(), judged(True, True)).events
    ids = ("01KG000000A", "01KH111111B", "01KH111111C")
    return [replace(event, id=name) for event, name in zip(named, ids, strict=True)]


@pytest.mark.parametrize(
    ("text", "seq"), [("1", 1), ("3", 3), ("01KG", 1), ("01kh111111b", 2), ("01KH111111C", 3)]
)
def test_events(events: list[Event], text: str, seq: int) -> None:
    assert event_named(text, events).seq == seq


def test_an_ambiguous_id_names_the_ones_it_may_be(events: list[Event]) -> None:
    with pytest.raises(UsageProblem, match=r"2 ids begin with '01KH': 01KH111111B, 01KH111111C$"):
        event_named("01KH", events)
    with pytest.raises(UsageProblem, match=r"6 ids .*, …$"):
        event_named("01KG", events[:1] * 6)


@pytest.mark.parametrize("text", ["", "0", "4", "01K", "01KX", "gen", "٣", "999999999999"])
def test_what_names_nothing(events: list[Event], text: str) -> None:
    with pytest.raises(UsageProblem, match="neither a generation nor an event") as caught:
        event_named(text, events)
    assert "(1 to 3)" in caught.value.hint


def test_a_created_lineage_has_one_event() -> None:
    assert event_named("1", log_of(first=created()).events).seq == 1
