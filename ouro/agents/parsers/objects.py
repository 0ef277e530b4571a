"""JSON objects out of whatever a client printed. Nothing here raises; what is not there is None."""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

Json = dict[str, Any]

_START = ("{", "[")
_FAILURES = 1_000
"""So many broken lines are skipped; a longer wreck is not worth the time."""
_LARGEST = 10**15
"""Tokens, or dollars: nothing counts so much, and larger numbers do not fit into a log."""


def objects(text: str) -> Iterator[Json]:
    """Every object that starts at the beginning of a line, on one line or on many; those in an
    array too. Anything else is passed over."""
    decoder, failures = json.JSONDecoder(), 0
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text) and failures < _FAILURES:
        if text.startswith(_START, at):
            try:
                value, at = decoder.raw_decode(text, at)
            # Not JSON, an integer of thousands of digits; brackets thousands deep.
            except (ValueError, RecursionError):
                failures += 1
            else:
                yield from _objects_in(value)
        at = text.find("\n", at) + 1 or len(text)


def _objects_in(value: object) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def inside(value: object, *path: str) -> object:
    """What lies at `path` in nested objects."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def mapping(value: object, *path: str) -> Json:
    """The object at `path`, an empty one where there is none."""
    found = inside(value, *path)
    return found if isinstance(found, dict) else {}


def items(value: object, *path: str) -> tuple[Json, ...]:
    """The objects of the array at `path`."""
    found = inside(value, *path)
    return tuple(_objects_in(found)) if isinstance(found, list) else ()


def text_at(value: object, *path: str) -> str:
    """The text at `path`, empty where there is none."""
    found = inside(value, *path)
    return clean(found) if isinstance(found, str) else ""


def clean(text: str) -> str:
    """`text` without lone surrogates: JSON can name them, UTF-8 and so the log cannot hold them."""
    return text.encode("utf-8", "replace").decode()


def whole(value: object, *path: str) -> int | None:
    """The count at `path`: an integer that is not negative and not absurd."""
    found = inside(value, *path)
    # In Python True is an integer; in a reply it is a mistake.
    if isinstance(found, bool) or not isinstance(found, int):
        return None
    return found if 0 <= found <= _LARGEST else None


def amount(value: object, *path: str) -> float | None:
    """The number at `path`: finite, not negative, not absurd."""
    found = inside(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    # An integer may be too large to become a float at all.
    return float(found) if 0 <= found <= _LARGEST and math.isfinite(found) else None


def total(values: Iterable[int | None]) -> int | None:
    """The sum of those that are known; None where none is."""
    known = [value for value in values if value is not None]
    return min(sum(known), _LARGEST) if known else None


def total_amount(values: Iterable[float | None]) -> float | None:
    """The same for numbers."""
    known = [value for value in values if value is not None]
    return min(math.fsum(known), float(_LARGEST)) if known else None
