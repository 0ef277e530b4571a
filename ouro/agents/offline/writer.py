"""execute: writes what criteria name literally, and never over anything that is there.

A file that exists is extended where that is safe: by a function that it lacks, by tests, by a line
of plain text. Whatever else would have to change in it is left alone, and the summary says so.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from ouro.agents.offline.demands import CountedTests, FileHolds, FileThere
from ouro.agents.offline.existing import Outline, outline, parsed
from ouro.agents.offline.functions import FunctionSpec
from ouro.agents.offline.paths import has_link, is_inside
from ouro.agents.offline.plan import Plan
from ouro.agents.offline.source import function_source, imports, test_functions, test_source
from ouro.agents.offline.tests_to_write import TestFile

_PLAIN = (".md", ".markdown", ".txt", ".rst")


class Left(Exception):
    """A file is left as it is; the message says why."""


class Note(Struct, frozen=True):
    path: str
    text: str
    wrote: bool = False


def write(plan: Plan, workspace: Path) -> str:
    """Writes what the plan has and returns the summary: what was written, what was left alone."""
    notes = [_file(plan, workspace, path) for path in _targets(plan)]
    wrote = [f"- {note.path}: {note.text}" for note in notes if note.wrote]
    kept = [f"- {note.path}: {note.text}" for note in notes if not note.wrote]
    troubles = ((reading.id, plan.trouble(reading.id)) for reading in plan.readings)
    kept += [f"- {name}: no rule writes this ({trouble})" for name, trouble in troubles if trouble]
    lines = ["offline (rules, no model)", "", "Wrote:", *(wrote or ["- nothing"])]
    return "\n".join([*lines, "", "Left alone:", *(kept or ["- nothing"])])


def _targets(plan: Plan) -> tuple[str, ...]:
    """The files to write: those of whole criteria, of functions and of tests; the program first."""
    named = [
        demand.path
        for reading in plan.readings
        if not plan.trouble(reading.id)
        for demand in reading.demands
        if isinstance(demand, FileThere | FileHolds)
    ]
    functions = [spec.path for spec in plan.functions if not spec.trouble]
    tests = [file.path for file in plan.tests if not file.trouble]
    return tuple(dict.fromkeys([*functions, *named, *tests]))


def _file(plan: Plan, workspace: Path, path: str) -> Note:
    try:
        old = _read(workspace, path)
        new, what = _content(plan, path) if old is None else _extended(plan, path, old)
        if new == old:
            return Note(path, "is there; nothing is lacking that rules add")
        target = workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x" if old is None else "w", encoding="utf-8", newline="") as file:
            file.write(new)
    except Left as left:
        return Note(path, str(left))
    except OSError as error:
        return Note(path, f"cannot be written ({error.strerror or error})")
    except ValueError:  # no UTF-8
        return Note(path, "is no text that rules can extend")
    return Note(path, what, wrote=True)


def _read(workspace: Path, path: str) -> str | None:
    """The text there, None where there is no file; raises Left where nothing may be written."""
    if not is_inside(workspace, path) or has_link(workspace, path):
        raise Left("leads through a symbolic link or out of the workspace")
    target = workspace / path
    if not target.exists():
        return None
    if not target.is_file():
        raise Left("is there and is no regular file")
    return target.read_bytes().decode("utf-8")


def _functions(plan: Plan, path: str) -> list[FunctionSpec]:
    return [spec for spec in plan.functions if spec.path == path and not spec.trouble]


def _tests(plan: Plan, path: str) -> TestFile | None:
    return next((file for file in plan.tests if file.path == path and not file.trouble), None)


def _texts(plan: Plan, path: str) -> list[FileHolds]:
    demands = [d for r in plan.readings if not plan.trouble(r.id) for d in r.demands]
    texts = [d for d in demands if isinstance(d, FileHolds) and d.path == path]
    return list(dict.fromkeys(texts))


def _content(plan: Plan, path: str) -> tuple[str, str]:
    """A new file, and what is in it."""
    functions, tests, texts = _functions(plan, path), _tests(plan, path), _texts(plan, path)
    if functions or tests:
        return _program(functions, tests), _described(functions, tests)
    if any(text.how == "all" for text in texts):
        whole = texts[0].text
        return whole + "\n" if whole else "", "the text that is asked for"
    lines = [text.text for text in texts]
    if lines:
        return "\n".join([*_heading(path), *lines, ""]), "the text that is asked for"
    return _minimal(path), "a file with nothing in it yet"


def _program(functions: list[FunctionSpec], tests: TestFile | None) -> str:
    sources = [function_source(spec) for spec in functions]
    if tests is None:
        return "\n\n\n".join(sources) + "\n"
    if not sources:
        return test_source(tests)
    own = [imports(tests, [spec.name for spec in functions]), *sources]
    own += test_functions(tests, tests.subjects, [spec.name for spec in functions])
    return "\n\n\n".join(part for part in own if part) + "\n"


def _described(functions: list[FunctionSpec], tests: TestFile | None) -> str:
    parts = [f"the function {spec.name}" for spec in functions]
    if tests:
        number = len(tests.subjects)
        parts.append(f"{number} test{'s' if number != 1 else ''}")
    return ", ".join(parts)


def _heading(path: str) -> list[str]:
    if not path.casefold().endswith((".md", ".markdown")):
        return []
    return [f"# {path.rpartition('/')[2].rpartition('.')[0]}", ""]


def _minimal(path: str) -> str:
    if path.casefold().endswith(".json"):
        return "{}\n"
    return "\n".join(_heading(path))


def _extended(plan: Plan, path: str, old: str) -> tuple[str, str]:
    """The old text with what it lacks after it; raises Left where that is not safe."""
    functions, tests, texts = _functions(plan, path), _tests(plan, path), _texts(plan, path)
    if functions or tests:
        return _extended_program(functions, tests, old)
    missing = [text for text in texts if not holds(old, text)]
    if not missing:
        return old, ""
    whole = any(text.how == "all" for text in texts)
    if whole or not path.casefold().endswith(_PLAIN):
        raise Left("has other content, which is not to be overwritten")
    lines = [_with_end(old), *(f"{text.text}\n" for text in missing)]
    return "".join(lines), "added the text that is asked for"


def _extended_program(
    functions: list[FunctionSpec], tests: TestFile | None, old: str
) -> tuple[str, str]:
    tree = parsed(old)
    if tree is None:
        raise Left("is no valid Python")
    there = outline(tree)
    lacking = [spec for spec in functions if spec.name not in there.names]
    added = [function_source(spec) for spec in lacking]
    if tests:
        names = (*there.names, *(spec.name for spec in lacking))
        added += _added_tests(tests, there, names)
    if not added:
        return old, ""
    head = [_with_end(old).rstrip("\n")] if old.strip() else []
    return "\n\n\n".join(head + added) + "\n", "added what it lacked"


def _added_tests(tests: TestFile, there: Outline, names: tuple[str, ...]) -> Iterator[str]:
    """Tests for what no test there calls; where it does not matter what they call, fewer."""
    left = list(tests.subjects)
    about = any(isinstance(need, CountedTests) and need.about for need in tests.needs)
    for called in there.tests:
        match = next((s for s in left if isinstance(s, FunctionSpec) and s.name in called), None)
        if match is not None:
            left.remove(match)
        elif left and not about:
            left.pop()
    total = len(there.tests) + len(left)
    whole = [n for n in tests.needs if isinstance(n, CountedTests) and n.exact and not n.about]
    if any(need.count != total for need in whole):
        raise Left(f"has {len(there.tests)} tests, which is not the number that is asked for")
    if left:
        head = imports(tests, names)
        yield from [head] if head else []
        yield from test_functions(tests, left, names)


def holds(content: str, demand: FileHolds) -> bool:
    """Whether a file's content meets the demand; a last line end does not count."""
    match demand.how:
        case "all":
            return content.removesuffix("\n") == demand.text
        case "line":
            return demand.text in content.splitlines()
    return demand.text in content


def _with_end(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
