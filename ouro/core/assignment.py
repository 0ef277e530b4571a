"""The optimal assignment: which pairings, one to one, give the greatest sum."""

from collections.abc import Sequence

Table = Sequence[Sequence[int]]

_NOBODY = -1


def best_total(table: Table) -> int:
    """The greatest sum of `table[row][column]` over all one-to-one pairings of rows and columns.

    `table` is rectangular, n rows of m whole numbers, none of them negative: 0 pairs nothing.
    Whole numbers keep the optimum exact, so it depends on neither the order nor the machine.
    O(min(n, m)² · max(n, m)): the shortest augmenting paths of Jonker and Volgenant (Computing
    38, 1987, 325-340) without their initialisation, on column prices alone.
    """
    if not any(map(any, table)):
        return 0
    wide = table if len(table) <= len(table[0]) else list(zip(*table, strict=True))
    owners = _owners(wide)
    return sum(wide[row][column] for column, row in enumerate(owners) if row != _NOBODY)


def _owners(table: Table) -> list[int]:
    """For every column the row that it is paired with, or `_NOBODY`; every row gets a column."""
    prices = [0] * len(table[0])
    owners = [_NOBODY] * len(table[0])
    for row in range(len(table)):
        _seat(row, table, prices, owners)
    return owners


def _seat(row: int, table: Table, prices: list[int], owners: list[int]) -> None:
    """Give `row` a column, moving the rows seated before it where that costs the sum least.

    A column's cost is its price less its worth, added up along the moves that lead to it. The
    owner of a column likes none better at these prices, so no step of a path is negative, and
    the nearest open column is final (Dijkstra).
    """
    costs = [price - worth for price, worth in zip(prices, table[row], strict=True)]
    came_from = [_NOBODY] * len(costs)
    unsettled = set(range(len(costs)))
    settled = []
    while owners[column := min(unsettled, key=costs.__getitem__)] != _NOBODY:
        unsettled.remove(column)
        settled.append(column)
        _look_on(column, table[owners[column]], prices, costs, came_from, unsettled)
    for taken in settled:
        prices[taken] += costs[column] - costs[taken]
    _move(row, column, came_from, owners)


def _look_on(
    column: int,
    worth: Sequence[int],
    prices: list[int],
    costs: list[int],
    came_from: list[int],
    unsettled: set[int],
) -> None:
    """Where could the owner of `column`, to whom columns are `worth`, go instead, at what cost?"""
    base = costs[column] + worth[column] - prices[column]
    for other in unsettled:
        cost = base + prices[other] - worth[other]
        if cost < costs[other]:
            costs[other] = cost
            came_from[other] = column


def _move(row: int, column: int, came_from: list[int], owners: list[int]) -> None:
    """Hand the columns on along the path that ends at `column`; its first one goes to `row`."""
    while (giver := came_from[column]) != _NOBODY:
        owners[column] = owners[giver]
        column = giver
    owners[column] = row
