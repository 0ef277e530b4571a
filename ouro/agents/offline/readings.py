"""A seed's criteria as read: each with its demands, and each function with the file it lies in."""

from collections.abc import Iterable, Iterator

from ouro.agents.offline.cursor import checked_path
from ouro.agents.offline.demands import (
    CountedTests,
    Demand,
    FileHolds,
    FileThere,
    Gives,
    GreenTests,
    HasFunction,
    Place,
    Reading,
    Returns,
    with_place,
)
from ouro.agents.offline.grammar import read_sentence
from ouro.agents.offline.lexing import Token, tokens
from ouro.agents.offline.sentence import Known, holds_functions
from ouro.agents.offline.texts import Unclear
from ouro.core.seed import Criterion, Seed

_LONGEST = 2000
"""Characters of a criterion; longer ones are not one sentence of the kind that rules read."""

OnFunction = HasFunction | Returns | Gives


def read_seed(seed: Seed) -> tuple[Reading, ...]:
    """Every criterion as read, in order."""
    known = _known_functions(seed)
    readings = tuple(_read(criterion, known) for criterion in seed.acceptance_criteria)
    return _placed(readings, _files(seed, readings))


def paths(demand: Demand) -> tuple[str, ...]:
    """The file that a demand names, if it names one."""
    match demand:
        case FileThere(path=path) | FileHolds(path=path):
            return (path,)
        case CountedTests(path=where) | GreenTests(path=where):
            return (where,) if where else ()
        case HasFunction(place=place) | Returns(place=place) | Gives(place=place):
            return (place.path,) if place.path else ()


def _read(criterion: Criterion, known: Known) -> Reading:
    if len(criterion.description) > _LONGEST:
        return Reading(criterion.id, gap="it is too long")
    try:
        return Reading(criterion.id, read_sentence(tokens(criterion.description), known))
    except Unclear as unclear:
        return Reading(criterion.id, gap=str(unclear))


def _known_functions(seed: Seed) -> Known:
    """Functions that the seed names beyond doubt; with parameters where any text gives them."""
    known: dict[str, tuple[str, ...] | None] = {}
    for text in seed_texts(seed):
        found = tokens(text[:_LONGEST])
        for at, token in enumerate(found):
            if token.call:
                known[token.call.name] = known.get(token.call.name) or token.call.params
            elif name := named(found, at):
                known.setdefault(name, None)
    return known


def seed_texts(seed: Seed) -> tuple[str, ...]:
    """Goal, constraints and criteria, in this order."""
    criteria = (criterion.description for criterion in seed.acceptance_criteria)
    return (seed.goal, *seed.constraints, *criteria)


def named(found: tuple[Token, ...], at: int) -> str | None:
    """The function that is named at `at` with the word function beside it: `function greet`,
    ``the `greet` function``."""
    before = found[at - 1].kind if at else ""
    after = found[at + 1].kind if at + 1 < len(found) else ""
    if before == "NAMED" and at > 1:
        before = found[at - 2].kind
    token = found[at]
    beside = before == "FUNC" or (token.kind == "N" and after == "FUNC")
    return token.identifier if beside and token.kind in {"N", "W"} else None


def _files(seed: Seed, readings: Iterable[Reading]) -> tuple[str, ...]:
    """Every path that the seed names, in order."""
    found = [path for text in seed_texts(seed) for path in _paths_in(text)]
    found += [path for r in readings for demand in r.demands for path in paths(demand)]
    return tuple(dict.fromkeys(found))


def _paths_in(text: str) -> Iterator[str]:
    for token in tokens(text[:_LONGEST]):
        if token.kind == "P":
            try:
                yield checked_path(token.raw)
            except Unclear:
                continue


def _placed(readings: tuple[Reading, ...], files: tuple[str, ...]) -> tuple[Reading, ...]:
    """The same readings, with a file for each function where the seed as a whole tells it."""
    stated: dict[str, list[str]] = {}
    for reading in readings:
        for demand in reading.demands:
            if isinstance(demand, OnFunction) and demand.place.path:
                stated.setdefault(demand.place.name, []).append(demand.place.path)
    return tuple(
        Reading(r.id, tuple(_with_file(d, stated, files) for d in r.demands), r.gap)
        for r in readings
    )


def _with_file(demand: Demand, stated: dict[str, list[str]], files: tuple[str, ...]) -> Demand:
    if not isinstance(demand, OnFunction) or demand.place.path:
        return demand
    place = demand.place
    homes = tuple(dict.fromkeys(stated.get(place.name, ())))
    path = _home(place, homes, files)
    return with_place(demand, Place(place.name, path))


def _home(place: Place, homes: tuple[str, ...], files: tuple[str, ...]) -> str | None:
    """What another criterion states, else what the sentence means, else the only program file."""
    near = [f for f in homes or files if place.near and f"/{f}".endswith(f"/{place.near}")]
    if place.near and near:
        return near[0] if len(near) == 1 else None
    candidates = homes or tuple(filter(holds_functions, files))
    return candidates[0] if len(candidates) == 1 else None
