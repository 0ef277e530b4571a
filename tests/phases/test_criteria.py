from typing import Any

import msgspec
import pytest

from ouro.core.seed import Checks, Criterion
from ouro.phases import BadReply
from ouro.phases.criteria import MOST_CRITERIA, AskedChange, change

USERS = Criterion(id="ac1", description="the user's", checks=Checks(verify_command="true"))
ADDED = Criterion(id="ac2", description="added", added_in=2, notes=("old",))
CRITERIA = (USERS, ADDED)


def asked(*changes: dict[str, Any]) -> tuple[AskedChange, ...]:
    return msgspec.convert(changes, tuple[AskedChange, ...])


def a(action: str, criterion_id: str | None, description: str = "new words") -> dict[str, Any]:
    return {"action": action, "id": criterion_id, "description": description}


def test_adding_revising_and_noting() -> None:
    criteria, changes = change(
        CRITERIA,
        asked(
            a("note", "ac1", "slow on\nWindows"),
            a("revise", "ac2"),
            a("add", "ac7", "seventh"),
            a("note", "ac7", "on what was just added"),
        ),
        generation=5,
    )
    assert criteria == (
        Criterion(
            id="ac1", description="the user's", checks=USERS.checks, notes=("slow on Windows",)
        ),
        Criterion(id="ac2", description="new words", added_in=2, notes=("old",)),
        Criterion(id="ac7", description="seventh", added_in=5, notes=("on what was just added",)),
    )
    assert [(c.action, c.id) for c in changes] == [
        ("note", "ac1"),
        ("revise", "ac2"),
        ("add", "ac7"),
        ("note", "ac7"),
    ]


@pytest.mark.parametrize("given", [None, "", "two words", "-x", "ac/1", "x" * 65, "ä", "ac5\n"])
def test_an_id_that_cannot_be_one_becomes_a_free_one(given: str | None) -> None:
    criteria, (first, second, third) = change(
        CRITERIA, asked(a("add", given), a("add", "ac4"), a("add", None)), generation=3
    )
    assert (first.id, second.id, third.id) == ("ac3", "ac4", "ac5")
    assert [c.id for c in criteria] == ["ac1", "ac2", "ac3", "ac4", "ac5"]


def test_only_the_newest_notes_stay_and_each_once() -> None:
    notes = [a("note", "ac2", text) for text in ("1", "2", "3", "4", "old", "5")]
    criteria, changes = change(CRITERIA, asked(*notes), generation=3)
    assert criteria[1].notes == ("2", "3", "4", "old", "5")
    assert len(changes) == 6


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ([a("revise", "ac1")], "revise ac1: that criterion is the user's"),
        ([a("remove", "ac1")], "'remove' .ac1. is no action"),
        ([a("remove", None)], "'remove' .without id. is no action"),
        ([a("revise", "ac9")], "there is no criterion ac9"),
        ([a("note", "ac9")], "there is no criterion ac9"),
        ([a("note", None)], "there is no criterion without id"),
        ([a("add", "ac1")], "there is a criterion of that id"),
        ([a("add", "AC1")], "there is a criterion of that id"),
        ([a("add", "x"), a("add", "x")], "there is a criterion of that id"),
        ([a("revise", "ac2"), a("revise", "ac2")], "criterion ac2 is changed twice"),
        ([a("add", None, " \n")], "criterion without id .add.: the description is empty"),
        ([a("note", "ac1", "\x00")], "criterion ac1 .note.: the description is empty"),
    ],
)
def test_what_cannot_be_done(changes: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(BadReply, match=problem):
        change(CRITERIA, asked(*changes), generation=3)


def test_there_is_a_limit() -> None:
    full = tuple(Criterion(id=f"c{n}", description="x") for n in range(MOST_CRITERIA))
    assert len(change(full, asked(a("note", "c0")), 3)[0]) == MOST_CRITERIA
    with pytest.raises(BadReply, match=f"{MOST_CRITERIA} is the limit"):
        change(full, asked(a("add", None)), 3)
