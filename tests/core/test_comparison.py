"""What changed between two generations."""

from msgspec.structs import replace

from ouro.core.comparison import (
    Comparison,
    CriterionChange,
    FieldChange,
    State,
    StateChange,
    compare,
    seed_changes,
    state_of,
)
from ouro.core.lineage import Generation
from ouro.core.ontology import similarity
from ouro.core.seed import Criterion, Field, Ontology, Seed
from tests.core.builders import TWO, Turn, qa, turned

AC3 = Criterion(id="ac3", description="is polite", added_in=2)


def generation(number: int, passed: tuple[bool, ...] | None, seed: Seed = TWO) -> Generation:
    return replace(turned(Turn(passed=passed), number, None), seed=seed)


def test_nothing_changed() -> None:
    one = generation(1, (True, False))
    assert compare(one, one) == Comparison(
        before=1,
        after=1,
        seed=seed_changes(TWO, TWO),
        states=(),
        qa_before=None,
        qa_after=None,
    )
    found = seed_changes(TWO, TWO)
    assert found.similarity == 1
    assert not any(
        (
            found.added,
            found.removed,
            found.modified,
            found.criteria_added,
            found.criteria_removed,
            found.criteria_changed,
        )
    )


def test_fields_are_told_with_before_and_after() -> None:
    old = TWO.with_ontology((Field("userName", description="old"), Field("gone"), Field("same")))
    new = TWO.with_ontology((Field("user_name", description="new"), Field("same"), Field("tone")))
    found = seed_changes(old, new)
    assert [field.name for field in found.added] == ["tone"]
    assert [field.name for field in found.removed] == ["gone"]
    assert found.modified == (
        FieldChange(old.ontology_schema.fields[0], new.ontology_schema.fields[0]),
    )
    assert found.similarity == similarity(old.ontology_schema, new.ontology_schema)


def test_two_fields_of_one_name_are_both_told() -> None:
    twins = (Field("name", description="one"), Field("Name", description="two"))
    found = seed_changes(TWO.with_ontology(()), TWO.with_ontology(twins))
    assert found.added == twins
    again = seed_changes(TWO.with_ontology(twins), TWO.with_ontology(()))
    assert again.removed == twins


def test_criteria_added_changed_and_removed() -> None:
    noted = replace(TWO.acceptance_criteria[0], notes=("loudly",))
    new = replace(TWO, acceptance_criteria=(noted, AC3))
    found = seed_changes(TWO, new)
    assert found.criteria_added == (AC3,)
    assert found.criteria_removed == (TWO.acceptance_criteria[1],)
    assert found.criteria_changed == (CriterionChange(TWO.acceptance_criteria[0], noted),)
    assert found.similarity == 1


def test_states_and_scores() -> None:
    before = replace(generation(1, (True, False)), qa=qa(40))
    seed = replace(TWO, acceptance_criteria=(*TWO.acceptance_criteria, AC3))
    after = generation(2, (False, True, False), seed)
    found = compare(before, after)
    assert found.states == (
        StateChange("ac1", State.PASSED, State.OPEN),
        StateChange("ac2", State.OPEN, State.PASSED),
    )
    assert (found.qa_before, found.qa_after) == (40, None)
    assert (compare(after, before).qa_before, compare(after, before).qa_after) == (None, 40)


def test_a_generation_that_was_not_judged_changes_no_state() -> None:
    judged, unjudged = generation(1, (True, False)), generation(2, None)
    assert compare(judged, unjudged).states == ()
    assert compare(unjudged, judged).states == (StateChange("ac1", State.OPEN, State.PASSED),)


def test_what_was_not_judged_is_open() -> None:
    assert state_of(None, "ac1") is State.OPEN
    assert state_of(generation(1, (True,)), "ac1") is State.PASSED
    assert state_of(generation(1, (True,)), "ac9") is State.OPEN
    assert seed_changes(TWO, replace(TWO, ontology_schema=Ontology())).similarity == 0
