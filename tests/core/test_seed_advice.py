"""Advice on a seed: said where a criterion can be met vaguely, and not where it cannot."""

import pytest

from ouro.core.seed import Checks, Criterion, Field, Ontology, Seed
from ouro.core.seed_advice import advice

ONTOLOGY = Ontology(fields=(Field("name"),))


def said(text: str, **more: object) -> str:
    criterion = Criterion("ac1", text, **more)  # type: ignore[arg-type]
    found = advice(Seed("g", (criterion,), ontology_schema=ONTOLOGY))
    assert {remark.where for remark in found} <= {"ac1"}
    return "; ".join(remark.text for remark in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works", "no check"),
        ("The tool helps people", "names no file"),
        ("It reads, and writes, and sorts, and prints 3 lines", "several demands"),
        ("The layout of page.html is clean", "'clean' can mean anything"),
    ],
)
def test_a_vague_criterion_is_remarked_on(text: str, expected: str) -> None:
    assert expected in said(text)


def test_a_checked_criterion_is_not_called_vague() -> None:
    assert said("It does what it is for", checks=Checks("true")) == ""
    assert said("It does what it is for", hidden=True) == ""


def test_a_number_or_a_file_makes_a_criterion_tangible() -> None:
    assert "names no file" not in said("main.py prints the total")
    assert "names no file" not in said("It answers within 2 seconds")


def test_a_seed_without_concepts_is_told_so() -> None:
    found = advice(Seed("g", (Criterion("ac1", "x", Checks("true")),)))
    assert [remark.where for remark in found] == ["ontology_schema"]
