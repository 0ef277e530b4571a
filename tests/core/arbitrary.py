"""Any value that the types of the events allow, read off the types themselves."""

from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from ouro.core.chain import extend, seal
from ouro.core.codec import EMPTY_LOG
from ouro.core.events import TYPES, Data, Event, LineageCreated, LineageForked
from ouro.core.policy import RULE, Policy

# Every character but lone surrogates, which no log can hold; those with a meaning in JSON often.
TEXT = st.text(max_size=8) | st.text('\n\r\t\\"{}[]:,\u2028\u2029\ufeff\x00\x7f\x85é😀', max_size=4)
NUMBER = st.integers(-(10**30), 10**30)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
PLAIN: dict[object, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: NUMBER,
    float: FLOAT,
    bool: st.booleans(),
    NoneType: st.none(),
    Any: st.recursive(
        st.none() | st.booleans() | NUMBER | FLOAT | TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
        max_leaves=5,
    ),
}


def anything(kind: Any) -> st.SearchStrategy[Any]:
    if kind in PLAIN:
        return PLAIN[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return st.one_of(*map(anything, arguments))
    if origin is tuple:
        return st.lists(anything(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(TEXT, anything(arguments[1]), max_size=2)
    if issubclass(kind, Enum):
        return st.sampled_from(kind)
    return struct(kind)


def struct(kind: type[Struct]) -> st.SearchStrategy[Any]:
    parts = {field.name: anything(field.type) for field in msgspec.structs.fields(kind)}
    made = st.fixed_dictionaries(parts).map(lambda values: kind(**values))
    return made.map(lambda policy: replace(policy, rule=RULE)) if kind is Policy else made


FACTS = {shape: struct(shape) for shape in TYPES.values()}
LATER = st.one_of(*(made for shape, made in FACTS.items() if shape is not LineageCreated))


@st.composite
def logs(draw: st.DrawFn, most: int = 5) -> tuple[Event, ...]:
    """A creation and up to `most` other facts, whatever they say, as the events of one log."""
    facts: list[Data] = [draw(FACTS[LineageCreated]), *draw(st.lists(LATER, max_size=most))]
    times = iter(draw(st.lists(TEXT, min_size=len(facts), max_size=len(facts))))
    ids = iter(draw(st.lists(TEXT, min_size=len(facts), max_size=len(facts), unique=True)))
    log, owner = EMPTY_LOG, draw(TEXT)
    for fact in facts:
        said = fact
        if isinstance(fact, LineageForked):
            said, owner = replace(fact, source=owner), owner + draw(TEXT.filter(bool))
        log = extend(
            log, seal([(draw(NUMBER), said)], log, owner, lambda: (next(ids), next(times)))
        )
    return log.events
