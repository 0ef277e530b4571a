"""What a criterion literally asks for, as data."""

from msgspec import Struct
from msgspec.structs import replace

from ouro.agents.offline.calls import Value
from ouro.agents.offline.texts import Template


class FileThere(Struct, frozen=True, tag=True):
    path: str


class FileHolds(Struct, frozen=True, tag=True):
    """`how`: "part" the text occurs, "line" it is a whole line, "all" it is the whole file."""

    path: str
    text: str
    how: str = "part"


class Place(Struct, frozen=True):
    """A function. `path` is None where the sentence does not say the file; `near` is then the
    file that it seems to mean."""

    name: str
    path: str | None = None
    near: str | None = None


class HasFunction(Struct, frozen=True, tag=True):
    """`params` None: none are named."""

    place: Place
    params: tuple[str, ...] | None = None


class Returns(Struct, frozen=True, tag=True):
    """For every value of `params` the function returns the filled template."""

    place: Place
    params: tuple[str, ...]
    template: Template


class Gives(Struct, frozen=True, tag=True):
    """One call and its result."""

    place: Place
    args: tuple[Value, ...]
    result: Value


class CountedTests(Struct, frozen=True, tag=True):
    """`count` passing tests or more, `exact`: and no other. `path` None: in the whole tree.

    `about` counts only tests that call that function (or, a path: a function of that file);
    `functions` counts test functions, else every case of a parametrised one counts.
    """

    path: str | None
    count: int
    exact: bool = False
    about: str | None = None
    functions: bool = False


class GreenTests(Struct, frozen=True, tag=True):
    """There are tests and all of them pass; `path` None: all tests of the tree."""

    path: str | None = None


Demand = FileThere | FileHolds | HasFunction | Returns | Gives | CountedTests | GreenTests


class Reading(Struct, frozen=True):
    """A criterion as read. `gap` is "" where every word of it was understood, else the reason;
    then `demands` is empty: what is understood by halves is not acted on."""

    id: str
    demands: tuple[Demand, ...] = ()
    gap: str = ""


def with_place(demand: Demand, place: Place) -> Demand:
    """The same demand on the function at `place`."""
    match demand:
        case HasFunction() | Returns() | Gives():
            return replace(demand, place=place)
    return demand
