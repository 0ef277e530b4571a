"""Judging tests: pytest runs them in a process of its own. Only a test that ran and passed counts;
one that is skipped, or expected to fail, does not."""

import json
import re
from pathlib import Path

import msgspec
from msgspec import Struct

from ouro.agents.offline.children import Children
from ouro.agents.offline.demands import CountedTests, GreenTests
from ouro.agents.offline.existing import calls, functions, parsed, test_nodes
from ouro.agents.offline.findings import Finding
from ouro.agents.offline.paths import is_tree_file


class Report(Struct, frozen=True):
    """As the child program sends it: `tests` has node id -> (path, outcome)."""

    missing: bool = False
    code: int = -1
    tests: dict[str, tuple[str, str]] = {}
    errors: tuple[str, ...] = ()


def run_tests(children: Children, path: str | None) -> Report | Finding:
    """What became of all tests in `path`, or in the tree; a Finding where that is not known."""
    if path is not None and not path.endswith(".py"):
        return Finding(None, f"no rule runs tests in {path}")
    if path is not None and not is_tree_file(children.workspace, path):
        return Finding(False, f"{path} is not in the tree")
    limit = children.limits.tests
    job = {"args": [f"./{path}"] if path else []}
    outcome = children.run("child_tests.py", job, limit)
    if outcome.late:
        return Finding(False, f"pytest did not end within {limit:g} s")
    if not outcome.lines:
        return Finding(False, "pytest ended before it could report")
    report = msgspec.convert(json.loads(outcome.lines[-1].text), Report)
    return Finding(None, "pytest is not installed beside ouro") if report.missing else report


def judge_tests(
    children: Children, report: Report | Finding, demand: CountedTests | GreenTests
) -> Finding:
    if isinstance(report, Finding):
        return report
    where = f" in {demand.path}" if demand.path else ""
    bad = sorted(f"{name}: {outcome}" for name, (_, outcome) in report.tests.items()
                 if outcome != "passed")  # fmt: skip
    bad += [f"{name or 'collecting'}: cannot be collected" for name in report.errors]
    if bad:
        return Finding(False, f"not every test{where} passed ({_some(bad)})")
    if isinstance(demand, CountedTests):
        return _judge_count(children, report, demand, where)
    if not report.tests:
        return Finding(False, f"pytest collected no tests{where}")
    if report.code != 0:
        return Finding(False, f"pytest exited with {report.code}")
    return Finding(True, f"{_tests(len(report.tests))} collected{where}, all passed")


def _some(names: list[str]) -> str:
    return "; ".join(names[:3]) + (f"; {len(names) - 3} more" if len(names) > 3 else "")


def _tests(number: int) -> str:
    return f"{number} test{'' if number == 1 else 's'}"


def _judge_count(children: Children, report: Report, demand: CountedTests, where: str) -> Finding:
    names = [(name, path) for name, (path, _) in report.tests.items()]
    about = f" that call {demand.about}" if demand.about else ""
    if demand.about:
        callees = _callees(children.workspace, demand.about)
        names = [(name, path) for name, path in names if _calls(name, path, callees)]
    ids = [_without_case(name) if demand.functions else name for name, _ in names]
    number = len(set(ids))
    met = number == demand.count if demand.exact else number >= demand.count
    bound = "exactly" if demand.exact else "at least"
    text = f"{_tests(number)}{about} collected{where}, all passed"
    return Finding(met, text if met else f"{text}; wanted {bound} {demand.count}")


def _without_case(name: str) -> str:
    return re.sub(r"\[.*\]$", "", name, flags=re.DOTALL)


def _callees(workspace: Path, about: str) -> tuple[str, ...]:
    """The function, or all functions of the file, that tests are to call."""
    if not about.endswith(".py"):
        return (about,)
    tree = parsed(_text(workspace / about)) if is_tree_file(workspace, about) else None
    return functions(tree) if tree else ()


def _calls(name: str, path: str, callees: tuple[str, ...]) -> bool:
    """Whether the test's own code calls one of `callees`."""
    tree = parsed(_text(Path(path))) if path else None
    own = _without_case(name).partition("::")[2]
    node = test_nodes(tree).get(own) if tree else None
    return node is not None and bool(set(calls(node)) & set(callees))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
