"""A part of a long list in every run, all of it by `-m slow` and `-m ''`."""

from collections.abc import Iterable
from itertools import cycle
from typing import Any

import pytest


def every(nth: int, items: Iterable[Any]) -> list[Any]:
    """`items` as parameters; all but each `nth`, from the first on, belong to the long forms."""
    slow = pytest.mark.slow
    turns = zip(cycle(range(nth)), items, strict=False)
    return [item if turn == 0 else pytest.param(item, marks=slow) for turn, item in turns]


def sample(names: Iterable[str], *always: str) -> list[Any]:
    """`names` as parameters; those that are not among `always` belong to the long forms."""
    known = list(names)
    assert set(always) <= set(known), set(always) - set(known)
    slow = pytest.mark.slow
    return [name if name in always else pytest.param(name, marks=slow) for name in known]
