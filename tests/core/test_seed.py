"""The seed's own small questions."""

from ouro.core.seed import Field
from tests.core.builders import TWO


def test_a_criterion_by_its_id() -> None:
    assert TWO.criterion("ac2") is TWO.acceptance_criteria[1]
    assert TWO.criterion("ac3") is None


def test_another_ontology_leaves_everything_else() -> None:
    changed = TWO.with_ontology((Field("tone"),))
    assert changed.ontology_schema.fields == (Field("tone"),)
    assert changed.with_ontology(TWO.ontology_schema.fields) == TWO
