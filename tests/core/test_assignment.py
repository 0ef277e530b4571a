"""The assignment against all pairings tried one by one."""

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouro.core.assignment import best_total


def tables(most: int, rows: int = 5, columns: int = 5) -> st.SearchStrategy[list[list[int]]]:
    def of_width(width: int) -> st.SearchStrategy[list[list[int]]]:
        row = st.lists(st.integers(0, most), min_size=width, max_size=width)
        return st.lists(row, max_size=rows)

    return st.integers(0, columns).flatmap(of_width)


def by_trying_all(table: Sequence[Sequence[int]]) -> int:
    if not table or not table[0]:
        return 0
    if len(table) > len(table[0]):
        return by_trying_all(list(zip(*table, strict=True)))
    seatings = permutations(range(len(table[0])), len(table))
    return max(sum(row[at] for row, at in zip(table, seats, strict=True)) for seats in seatings)


@pytest.mark.parametrize("table", [[], [[]], [[], []], [[0, 0], [0, 0]]])
def test_nothing_to_pair_is_zero(table: list[list[int]]) -> None:
    assert best_total(table) == 0


def test_first_come_would_take_the_tempting_nine() -> None:
    assert best_total([[9, 8], [8, 1]]) == 16


def test_a_row_moves_along_a_chain() -> None:
    assert best_total([[5, 4, 0], [5, 0, 4], [5, 0, 0]]) == 13


def test_taken_columns_rise_in_price() -> None:
    assert best_total([[8, 1, 6], [8, 2, 3], [7, 2, 7]]) == 17


def test_more_rows_than_columns_and_the_other_way_round() -> None:
    assert best_total([[1], [7], [3]]) == best_total([[1, 7, 3]]) == 7


def test_numbers_beyond_any_float_stay_exact() -> None:
    huge = 10**40
    assert best_total([[huge, huge + 1], [huge + 1, huge + 1]]) == 2 * huge + 2


@settings(max_examples=100)
@given(tables(most=9))
def test_equals_brute_force(table: list[list[int]]) -> None:
    assert best_total(table) == by_trying_all(table)


@settings(max_examples=80)
@given(tables(most=1))
def test_equals_brute_force_where_ties_abound(table: list[list[int]]) -> None:
    assert best_total(table) == by_trying_all(table)


@settings(max_examples=40)
@given(tables(most=10**30, rows=6, columns=4), st.randoms(use_true_random=False))
def test_order_and_direction_do_not_count(table: list[list[int]], random: object) -> None:
    shuffled = list(table)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    turned = [list(column) for column in zip(*table, strict=True)]
    assert best_total(shuffled) == best_total(table) == best_total(turned)


def test_a_hundred_each_way() -> None:
    """Worth row x column is greatest where the greatest meet, which takes the longest paths."""
    table = [[row * column for column in range(100)] for row in range(100)]
    assert best_total(table) == sum(number**2 for number in range(100))
