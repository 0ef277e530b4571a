"""A lineage at a glance."""

from ouro.core.comparison import State
from ouro.core.overview import overview
from tests.core.builders import TWO, completed, executed, forked, judged, lineage, wondered


def test_before_the_first_generation() -> None:
    found = overview(lineage())
    assert (found.lineage_id, found.goal, found.constraints) == ("greet", TWO.goal, ())
    assert (found.generation, found.done, found.action, found.reason) == (0, (), None, None)
    assert [each.state for each in found.criteria] == [State.OPEN, State.OPEN]
    assert found.ontology == TWO.ontology_schema


def test_a_generation_in_progress_has_the_states_of_the_last_verdicts() -> None:
    found = overview(lineage(executed(), judged(True, False), completed(), wondered(), executed()))
    assert (found.generation, found.done, found.action) == (2, ("wonder", "execute"), None)
    assert [each.state for each in found.criteria] == [State.PASSED, State.OPEN]


def test_a_completed_generation_says_what_was_decided() -> None:
    found = overview(lineage(executed(), judged(True, True), completed()))
    assert (found.generation, found.done) == (1, ("execute", "evaluate"))
    assert (found.action, found.reason) == ("continue", "because")


def test_verdicts_on_the_seed_before_a_fork_say_nothing_of_its_own() -> None:
    done = (executed(), judged(True, True), completed())
    assert overview(lineage(*done, forked(source="greet"))).criteria[0].state is State.PASSED
    found = overview(lineage(*done, forked(TWO, source="greet")))
    assert (found.criteria[0].state, found.generation, found.action) == (State.OPEN, 0, None)
