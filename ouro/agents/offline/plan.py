"""The plan for a seed: what its criteria ask, and what of that rules can write. Pure."""

from msgspec import Struct

from ouro.agents.offline.demands import (
    CountedTests,
    Demand,
    FileHolds,
    FileThere,
    Gives,
    GreenTests,
    HasFunction,
    Reading,
    Returns,
)
from ouro.agents.offline.functions import FunctionSpec, function_specs
from ouro.agents.offline.readings import read_seed
from ouro.agents.offline.tests_to_write import TestFile, test_files
from ouro.core.seed import Seed

_NO_PLAIN_TEXT = (".py", ".json", ".ipynb", ".csv", ".svg", ".xml")
"""Files in which a line of text on its own does harm."""


class Plan(Struct, frozen=True):
    readings: tuple[Reading, ...]
    functions: tuple[FunctionSpec, ...]
    tests: tuple[TestFile, ...]

    def reading(self, criterion_id: str) -> Reading:
        """A criterion as read; one that the seed lacks is a gap."""
        found = (reading for reading in self.readings if reading.id == criterion_id)
        return next(found, Reading(criterion_id, gap="the seed has no such criterion"))

    def trouble(self, criterion_id: str) -> str:
        """Why no rule writes what the criterion asks; "" where rules write all of it."""
        reading = self.reading(criterion_id)
        found = (self._trouble(demand) for demand in reading.demands)
        return reading.gap or next(filter(None, found), "")

    def demands(self) -> tuple[Demand, ...]:
        return tuple(dict.fromkeys(d for reading in self.readings for d in reading.demands))

    def _trouble(self, demand: Demand) -> str:
        match demand:
            case FileThere():
                return ""
            case FileHolds():
                return self._text_trouble(demand)
            case CountedTests() | GreenTests():
                return next(file.trouble for file in self.tests if demand in file.needs)
            case HasFunction(place=place) | Returns(place=place) | Gives(place=place):
                key = (place.path or "", place.name)
                return next(f.trouble for f in self.functions if (f.path, f.name) == key)

    def _text_trouble(self, demand: FileHolds) -> str:
        texts = [d for d in self.demands() if isinstance(d, FileHolds) and d.path == demand.path]
        whole = [text for text in texts if text.how == "all"]
        programs = [f.path for f in self.functions] + [f.path for f in self.tests]
        busy = demand.path in programs
        if whole and (busy or len(texts) > 1):
            return f"{demand.path} is to hold that text and nothing else, and something else"
        if not whole and demand.path.casefold().endswith(_NO_PLAIN_TEXT):
            return f"a line of text has no place in {demand.path}"
        return ""


def plan_for(seed: Seed) -> Plan:
    """What every criterion asks, and what is to be written for all of them together."""
    readings = read_seed(seed)
    demands = tuple(dict.fromkeys(d for reading in readings for d in reading.demands))
    functions = function_specs(demands)
    return Plan(readings, functions, test_files(demands, functions))
