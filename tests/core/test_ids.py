"""Names: what may name a lineage, and the refs and ids that follow."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouro.core.ids import (
    branch_ref,
    check_lineage_id,
    event_id,
    hidden_ref,
    rescue_prefix,
    tag_name,
)
from ouro.errors import Exit, UsageProblem

ENTROPY = st.binary(min_size=10, max_size=10)


@pytest.mark.parametrize("name", ["a", "0", "my_lineage", "a-b", "a" * 64, "aux1", "com0", "com10"])
def test_may_name_a_lineage(name: str) -> None:
    assert check_lineage_id(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "A",
        "_a",
        "-a",
        "a/b",
        "a.b",
        "..",
        "a" * 65,
        "a b",
        "a\n",
        "\na",
        "é",
        "a\u0660",  # a digit, but no ASCII one
        "aux",
        "con",
        "nul",
        "prn",
        "com1",
        "lpt9",
    ],
)
def test_may_not(name: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        check_lineage_id(name)
    assert caught.value.message == f"{name!r} cannot name a lineage"
    assert "1 to 64 of a-z 0-9 _ -" in caught.value.hint
    assert caught.value.exit_code is Exit.USAGE


@given(st.text(max_size=70))
def test_a_name_is_refused_or_safe_in_refs_and_paths(name: str) -> None:
    try:
        check_lineage_id(name)
    except UsageProblem:
        return
    assert re.fullmatch("[a-z0-9][a-z0-9_-]*", name)


def test_full_ref_names() -> None:
    assert branch_ref("x") == "refs/heads/ooo/x"
    assert tag_name("x", 12) == "ooo/x/gen_12"
    assert hidden_ref("x") == "refs/ouro/hidden/x"
    assert rescue_prefix("x") == "refs/ouro/rescue/x/"


def test_an_event_id_is_a_ulid() -> None:
    """The example of the specification, taken apart and put together again."""
    assert event_id(1469918176385, bytes(10)) == "01ARYZ6S410000000000000000"
    assert event_id(0, bytes(10)) == "0" * 26
    assert event_id(2**48 - 1, b"\xff" * 10) == "7" + "Z" * 25


@given(st.integers(0, 2**48 - 2), st.integers(1, 10**9), ENTROPY, ENTROPY)
def test_event_ids_sort_by_time(at: int, later: int, one: bytes, other: bytes) -> None:
    then = min(at + later, 2**48 - 1)
    assert event_id(at, one) < event_id(then, other)
    assert (event_id(at, one) == event_id(at, other)) == (one == other)
