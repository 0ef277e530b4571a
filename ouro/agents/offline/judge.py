"""evaluate: judges only what can be established here; everything else is unresolved, not passed."""

from pathlib import Path
from typing import Any

from ouro.agents.offline.children import Children
from ouro.agents.offline.demands import (
    CountedTests,
    Demand,
    FileHolds,
    FileThere,
    Gives,
    GreenTests,
    HasFunction,
    Returns,
)
from ouro.agents.offline.findings import Finding, combined, shown
from ouro.agents.offline.judge_functions import Called, call_all, judge_function
from ouro.agents.offline.judge_tests import Report, judge_tests, run_tests
from ouro.agents.offline.paths import is_tree_file
from ouro.agents.offline.plan import Plan
from ouro.agents.offline.writer import holds

_LARGEST = 10 * 1024 * 1024
"""Bytes of a file in which a text is looked for."""


class Judge:
    """Judges the criteria of one plan; each function is called and each test file run once."""

    def __init__(self, plan: Plan, children: Children) -> None:
        self._plan = plan
        self._children = children
        self._called: dict[tuple[str, str], Called] = {}
        self._reports: dict[str | None, Report | Finding] = {}

    def verdict(self, criterion_id: str) -> dict[str, Any]:
        """One entry of evaluate's reply."""
        reading = self._plan.reading(criterion_id)
        if reading.gap:
            finding = Finding(None, reading.gap)
        else:
            finding = combined([self._find(demand) for demand in reading.demands])
        evidence = finding.text
        if finding.met is None:
            evidence = f"unresolved: no rule can establish this ({finding.text})"
        passed = finding.met is True
        return {
            "id": criterion_id,
            "passed": passed,
            "score": 1.0 if passed else 0.0,
            "evidence": evidence,
        }

    def _find(self, demand: Demand) -> Finding:
        match demand:
            case FileThere(path=path):
                there = is_tree_file(self._workspace, path)
                return Finding(there, f"{path} is {'' if there else 'not '}in the tree")
            case FileHolds():
                return self._find_text(demand)
            case HasFunction() | Returns() | Gives():
                return self._find_function(demand)
            case CountedTests() | GreenTests():
                return self._find_tests(demand)

    @property
    def _workspace(self) -> Path:
        return self._children.workspace

    def _find_text(self, demand: FileHolds) -> Finding:
        path = self._workspace / demand.path
        if not is_tree_file(self._workspace, demand.path):
            return Finding(False, f"{demand.path} is not in the tree")
        if path.stat().st_size > _LARGEST:
            return Finding(None, f"{demand.path} is too large to look through")
        met = holds(path.read_bytes().decode("utf-8", "backslashreplace"), demand)
        what = shown(demand.text) if demand.text else "nothing"
        return Finding(met, f"{demand.path} {'holds' if met else 'does not hold'} {what}")

    def _find_function(self, demand: HasFunction | Returns | Gives) -> Finding:
        place = demand.place
        if place.path is None:
            return Finding(None, f"in which file {place.name} lies is not said")
        if not place.path.endswith(".py"):
            return Finding(None, f"no rule calls functions in {place.path}")
        key = (place.path, place.name)
        if key not in self._called:
            alike = [d for d in self._plan.demands() if isinstance(d, HasFunction | Returns | Gives)
                     and (d.place.path, d.place.name) == key]  # fmt: skip
            self._called[key] = call_all(self._children, place, alike)
        return judge_function(self._called[key], demand)

    def _find_tests(self, demand: CountedTests | GreenTests) -> Finding:
        if demand.path not in self._reports:
            self._reports[demand.path] = run_tests(self._children, demand.path)
        return judge_tests(self._children, self._reports[demand.path], demand)
