"""Test files to write: how many tests each needs, and what they call."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice

from msgspec import Struct
from msgspec.structs import replace

from ouro.agents.offline.demands import CountedTests, Demand, FileThere, GreenTests
from ouro.agents.offline.functions import FunctionSpec
from ouro.agents.offline.readings import paths
from ouro.agents.offline.sentence import holds_functions, is_test_file

_MOST = 100
"""Tests in one file; more are not written by rule."""


class TestFile(Struct, frozen=True):
    """`subjects` has what each test is about, one entry a test: a function or a file's path.

    `needs` are the demands that the file serves, `trouble` why it is not written, or "".
    """

    path: str
    needs: tuple[CountedTests | GreenTests, ...]
    subjects: tuple[FunctionSpec | str, ...] = ()
    trouble: str = ""


def test_files(
    demands: tuple[Demand, ...], functions: Iterable[FunctionSpec]
) -> tuple[TestFile, ...]:
    """One for each file in which `demands` need tests, in order; tests that belong to no file in
    particular go into the first of them that pytest finds by itself."""
    writable = _distinct(function for function in functions if not function.trouble)
    needs = [demand for demand in demands if isinstance(demand, CountedTests | GreenTests)]
    home = _home(demands, writable)
    groups: dict[str, list[CountedTests | GreenTests]] = {}
    for need in needs:
        groups.setdefault(need.path or home, []).append(need)
    plain = [d.path for d in demands if isinstance(d, FileThere) and not is_test_file(d.path)]
    files = tuple(dict.fromkeys(plain))
    planned = [_planned(path, tuple(group), writable, files) for path, group in groups.items()]
    return tuple(_apart(file, len(planned)) for file in planned)


def _apart(file: TestFile, files: int) -> TestFile:
    """An exact number for the whole tree leaves no room for other test files."""
    whole = any(isinstance(n, CountedTests) and n.exact and n.path is None for n in file.needs)
    return replace(file, trouble="other tests count too") if whole and files > 1 else file


def _distinct(functions: Iterable[FunctionSpec]) -> list[FunctionSpec]:
    """One function of each name: a test file can import only one under it."""
    return list({f.name: f for f in reversed(list(functions))}.values())[::-1]


def _home(demands: tuple[Demand, ...], functions: list[FunctionSpec]) -> str:
    """`test_hello.py` beside `hello.py`, unless the seed names a test file; "" where neither is."""
    named = [path for demand in demands for path in paths(demand)]
    tests = [path for path in named if is_test_file(path)]
    programs = [f.path for f in functions] + [path for path in named if holds_functions(path)]
    if tests or not programs:
        return tests[0] if tests else ""
    folder, slash, name = programs[0].rpartition("/")
    stem = re.sub(r"\W", "_", name.removesuffix(".py"))
    return f"{folder}{slash}test_{stem}.py"


def _planned(
    path: str,
    needs: tuple[CountedTests | GreenTests, ...],
    functions: list[FunctionSpec],
    files: tuple[str, ...],
) -> TestFile:
    if not path.endswith(".py"):
        what = "tests are written in Python files only" if path else "there is nothing to test"
        return TestFile(path, needs, (), what)
    counted = [need for need in needs if isinstance(need, CountedTests)]
    subjects: list[FunctionSpec | str] = []
    for need in counted:
        about = _about(need, functions) if need.about else []
        have = sum(1 for subject in subjects if subject in about)
        subjects += _more(about, need.count - have)
    most = max((need.count for need in counted if not need.about), default=1)
    subjects += _more(_beside(path, functions) or _file_tests(files), most - len(subjects))
    fits = len(subjects) >= most and all(_met(need, subjects) for need in counted)
    trouble = "" if fits and len(subjects) <= _MOST else "there is not enough to test, or too much"
    return TestFile(path, needs, tuple(subjects), trouble)


def _more(choice: Sequence[FunctionSpec | str], count: int) -> Iterator[FunctionSpec | str]:
    """`count` from `choice` in turn: a function again and again, a file once an entry."""
    endless = all(isinstance(subject, FunctionSpec) for subject in choice)
    return islice(cycle(choice) if endless else iter(choice), max(count, 0))


def _about(need: CountedTests, functions: Iterable[FunctionSpec]) -> list[FunctionSpec]:
    return [f for f in functions if need.about in {f.name, f.path}]


def _beside(path: str, functions: list[FunctionSpec]) -> list[FunctionSpec]:
    """The functions of the module that the test file is named after, else all."""
    stem = path.rpartition("/")[2].removesuffix(".py")
    stem = stem.removeprefix("test_").removesuffix("_test")
    own = [f for f in functions if f.path.rpartition("/")[2] == f"{stem}.py"]
    return own or functions


def _file_tests(files: Iterable[str]) -> list[str]:
    """Where there is no function to call, as many entries for a file as there are tests of it: that
    it is there, is text and ends a line, and of a program that it compiles."""
    return [entry for path in files for entry in [path] * (4 if path.endswith(".py") else 3)]


def _met(need: CountedTests, subjects: list[FunctionSpec | str]) -> bool:
    """Whether exactly or at least so many tests are about what the need names."""
    about = [s.name for s in subjects if isinstance(s, FunctionSpec)
             and need.about in {s.name, s.path}]  # fmt: skip
    number = len(about) if need.about else len(subjects)
    return number == need.count if need.exact else number >= need.count
