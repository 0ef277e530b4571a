"""Which event brought what, over logs that are made by hand."""

from msgspec.structs import replace

from ouro.core.blame import Blame, CriterionBlame, Point, blame
from ouro.core.comparison import State
from ouro.core.events import Data
from ouro.core.seed import Criterion, Field, Seed
from tests.core.builders import (
    TWO,
    completed,
    evaluated,
    executed,
    forked,
    judged,
    log_of,
    reflected,
    verdict,
    wondered,
)

NAME, GREETING = TWO.ontology_schema.fields
AC1, AC2 = TWO.acceptance_criteria
AC3 = Criterion(id="ac3", description="is polite", added_in=2)


def told(*facts: Data) -> Blame:
    """The commit of an event is its number."""
    return blame((event, f"c{event.seq}") for event in log_of(*facts).events)


def point(generation: int, seq: int) -> Point:
    return Point(generation, seq, f"c{seq}")


def turn(seed: Seed, *passed: bool) -> tuple[Data, ...]:
    return (wondered(), reflected(seed), executed(), judged(*passed), completed())


FIRST = (executed(), judged(True, False), completed())  # events 2 to 4; a turn has five


def test_a_new_lineage() -> None:
    found = told()
    assert found.lineage_id == "greet"
    assert found.criteria == (
        CriterionBlame(AC1, point(0, 1)),
        CriterionBlame(AC2, point(0, 1)),
    )
    assert [(f.field, f.brought, f.changed) for f in found.fields] == [
        (NAME, point(0, 1), None),
        (GREETING, point(0, 1), None),
    ]


def test_met_and_broken_and_met_again() -> None:
    found = told(*FIRST, *turn(TWO, False, False), *turn(TWO, True, False))
    one, two = found.criteria
    assert (one.met, one.broke, one.state) == (point(3, 13), point(2, 8), State.PASSED)
    assert (two.met, two.broke, two.state) == (None, None, State.OPEN)


def test_a_verdict_that_turns_nothing_is_no_transition() -> None:
    found = told(*FIRST, *turn(TWO, True, False))
    assert found.criteria[0].met == point(1, 3)


def test_what_reflection_added_and_changed() -> None:
    told_more = replace(NAME, description="who is greeted")
    noted = replace(AC1, notes=("loudly",))
    second = TWO.with_ontology((told_more, GREETING, Field("tone")))
    third = replace(second, acceptance_criteria=(noted, AC2, AC3))
    found = told(*FIRST, *turn(second, True, False), *turn(third, True, False, True))
    assert [(f.field.name, f.brought, f.changed) for f in found.fields] == [
        ("name", point(0, 1), point(2, 6)),
        ("greeting", point(0, 1), None),
        ("tone", point(2, 6), None),
    ]
    one, _, three = found.criteria
    assert (one.criterion, one.brought, one.changed) == (noted, point(0, 1), point(3, 11))
    assert (three.brought, three.met) == (point(3, 11), point(3, 13))


def test_what_went_and_came_back_counts_from_its_return() -> None:
    without = TWO.with_ontology((NAME,))
    found = told(*FIRST, *turn(without, True, False), *turn(TWO, True, False))
    assert found.fields[1].brought == point(3, 11)


def test_another_spelling_is_a_change_and_no_other_field() -> None:
    spelled = TWO.with_ontology((Field("Name"), GREETING))
    found = told(*FIRST, *turn(spelled, True, False))
    assert found.fields[0].field.name == "Name"
    assert (found.fields[0].brought, found.fields[0].changed) == (point(0, 1), point(2, 6))


def test_a_verdict_on_what_is_no_criterion_is_passed_over() -> None:
    found = told(executed(), evaluated(verdict("ac1", True), verdict("ac9", True)))
    assert [c.criterion.id for c in found.criteria] == ["ac1", "ac2"]
    assert found.criteria[0].met == point(1, 3)


def test_with_another_seed_of_a_fork_everything_begins_anew() -> None:
    met = (executed(), judged(True, True), completed())
    kept = told(*met, forked(source="greet"))
    assert kept.lineage_id == "greet_forked"
    assert (kept.criteria[0].brought, kept.criteria[0].met) == (point(0, 1), point(1, 3))
    other = told(*met, forked(TWO, source="greet"))
    assert other.criteria == (CriterionBlame(AC1, point(1, 5)), CriterionBlame(AC2, point(1, 5)))
    assert [field.brought for field in other.fields] == [point(1, 5)] * 2
