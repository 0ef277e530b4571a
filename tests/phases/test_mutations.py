from typing import Any

import msgspec
import pytest

from ouro.core.seed import Field
from ouro.phases import BadReply
from ouro.phases.mutations import MOST_FIELDS, AskedMutation, mutate

WORD = Field("word", "string", "A run of letters")
FILE = Field("fileName", "string", "Path of the input", required=False)
FIELDS = (WORD, FILE)


def asked(*mutations: dict[str, Any]) -> tuple[AskedMutation, ...]:
    return msgspec.convert(mutations, tuple[AskedMutation, ...])


def add(name: str, **more: Any) -> dict[str, Any]:
    return {"action": "add", "name": name, "description": "something", **more}


def modify(name: str, **more: Any) -> dict[str, Any]:
    return {"action": "modify", "name": name, **more}


def remove(name: str, reason: str = "unused") -> dict[str, Any]:
    return {"action": "remove", "name": name, "reason": reason}


def test_fields_keep_their_places_and_new_ones_come_last() -> None:
    fields, mutations = mutate(
        FIELDS,
        asked(
            add("line_count", field_type=" integer "),
            modify("file name", description="Path or\n-", reason="q1"),
            remove("word"),
            add("stdin", field_type=None),
        ),
    )
    assert fields == (
        Field("fileName", "string", "Path or -", required=False),
        Field("line_count", "integer", "something"),
        Field("stdin", "string", "something"),
    )
    assert [(m.action, m.name) for m in mutations] == [
        ("add", "line_count"),
        ("modify", "fileName"),
        ("remove", "word"),
        ("add", "stdin"),
    ]
    assert mutations[1].field_type is None
    assert mutations[1].reason == "q1"


def test_modify_leaves_what_it_does_not_name() -> None:
    fields, _ = mutate(FIELDS, asked(modify("word", field_type="list")))
    assert fields == (Field("word", "list", "A run of letters"), FILE)


def test_the_exact_name_wins_over_one_that_says_the_same() -> None:
    twins = (Field("user_name"), Field("userName"))
    fields, _ = mutate(twins, asked(remove("userName")))
    assert fields == (Field("user_name"),)


def test_no_mutation_no_change() -> None:
    assert mutate(FIELDS, ()) == (FIELDS, ())
    assert mutate((), ()) == ((), ())


@pytest.mark.parametrize(
    ("mutations", "problem"),
    [
        ([modify("nothing", description="x")], "no field 'nothing'"),
        ([remove("nothing")], "no field 'nothing'"),
        ([add("word")], "has 'word' already"),
        ([add("File_Name")], "has 'fileName' already"),
        ([add("line"), add("Line")], "two mutations of 'Line'"),
        ([modify("word", field_type="x"), remove("Word")], "two mutations of 'word'"),
        ([remove("word"), add("word")], "has 'word' already"),
        ([remove("word"), remove("file_name")], "remove every field"),
        ([{"action": "rename", "name": "word"}], "'rename' .word. is no action"),
        ([add(" \x00 ")], "has no name"),
        ([add("line", description=None)], "add 'line': the description is empty"),
        ([add("line", description=" ")], "add 'line': the description is empty"),
        ([modify("word", description="")], "modify 'word': the description is empty"),
        ([modify("word")], "give a field_type or a description"),
        ([modify("word", field_type=" ")], "give a field_type or a description"),
        ([remove("word", reason=" ")], "a removal needs a reason"),
    ],
)
def test_what_cannot_be_done(mutations: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(BadReply, match=problem):
        mutate(FIELDS, asked(*mutations))


def test_a_name_that_fits_two_fields_is_refused() -> None:
    with pytest.raises(BadReply, match="'USER NAME' fits several fields: user_name, userName"):
        mutate((Field("user_name"), Field("userName")), asked(remove("USER NAME")))


def test_the_ontology_has_a_limit() -> None:
    full = tuple(Field(f"f{n}") for n in range(MOST_FIELDS))
    with pytest.raises(BadReply, match=f"would have {MOST_FIELDS + 1} fields"):
        mutate(full, asked(add("one more")))
    fields, _ = mutate(full, asked(remove("f0"), add("one more")))
    assert len(fields) == MOST_FIELDS


def test_long_texts_are_cut() -> None:
    fields, (mutation,) = mutate(
        (), asked(add("n" * 999, description="d" * 9_999, reason="r" * 9_999))
    )
    assert len(fields[0].name) <= 200
    assert len(fields[0].description) <= 1_000
    assert len(mutation.reason) <= 1_000
