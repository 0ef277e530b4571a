"""Python source of functions and tests."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from ouro.agents.offline.functions import FunctionSpec
from ouro.agents.offline.tests_to_write import TestFile

SAMPLES = ("Ada", "Grace", "Alan", "Barbara", "Edsger", "Katherine", "Linus", "Margaret")

_LOADER = '''\
def _load(path):
    """The module at `path`, which no import statement reaches."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
'''


def function_source(spec: FunctionSpec) -> str:
    """The definition, without blank lines around it."""
    default = " = None" if spec.bare is not None else ""
    kind = "str | None" if spec.bare is not None else "str"
    params = ", ".join(f"{name}: {kind}{default}" for name in spec.params)
    lines = [f"def {spec.name}({params}) -> str:", *_branches(spec)]
    return "\n".join([*lines, f"    return {_returned(spec)}"])


def _branches(spec: FunctionSpec) -> Iterator[str]:
    for text, condition in ((spec.bare, "is None"), (spec.blank, '== ""')):
        if text is not None:
            yield f"    if {spec.params[0]} {condition}:"
            yield f"        return {_literal(text)}"


def _returned(spec: FunctionSpec) -> str:
    parts = spec.template.parts
    if len(parts) == 1:
        return _literal(parts[0])
    doubled = (part.replace("{", "{{").replace("}", "}}") for part in parts)
    marked = (f"{{{parts[at]}}}" if at % 2 else part for at, part in enumerate(doubled))
    return "f" + _literal("".join(marked))


def _literal(text: str) -> str:
    """JSON's strings are Python's too."""
    return json.dumps(text, ensure_ascii=False)


def test_source(file: TestFile) -> str:
    """A whole test file."""
    head = '"""Tests that the criteria ask for."""\n\n' + imports(file, ())
    tests = test_functions(file, file.subjects, ())
    return "\n\n\n".join([head.rstrip("\n"), *tests]) + "\n"


def imports(file: TestFile, bound: Iterable[str]) -> str:
    """How the test file gets what it tests, but for names that it has already."""
    wanted = [s for s in dict.fromkeys(file.subjects) if isinstance(s, FunctionSpec)]
    missing = [spec for spec in wanted if spec.name not in bound]
    plain = [s for s in missing if _importable(file.path, s.path)]
    by_path = [s for s in missing if s not in plain]
    lines = sorted(f"from {_stem(s.path)} import {s.name}" for s in plain)
    needs_path = by_path or any(isinstance(subject, str) for subject in file.subjects)
    head = ["import importlib.util"] if by_path else []
    head += ["from pathlib import Path"] if needs_path else []
    blocks = ["\n".join(head), "\n".join(lines)]
    if by_path:
        loads = [f"{s.name} = _load({_located(file.path, s.path)}).{s.name}" for s in by_path]
        blocks += ["\n" + _LOADER, "\n".join(loads)]
    return "\n\n".join(block for block in blocks if block)


def _importable(test_path: str, path: str) -> bool:
    """pytest puts a test file's own folder on the path; a module there that no module of the
    standard library hides can simply be imported."""
    together = test_path.rpartition("/")[0] == path.rpartition("/")[0]
    return together and _stem(path).isidentifier() and _stem(path) not in sys.stdlib_module_names


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".py")


def _located(test_path: str, path: str) -> str:
    relative = os.path.relpath(path, PurePosixPath(test_path).parent).replace(os.sep, "/")
    return f"Path(__file__).parent / {_literal(relative)}"


def test_functions(
    file: TestFile, subjects: Iterable[FunctionSpec | str], taken: Iterable[str]
) -> list[str]:
    """One test for each of `subjects`, under names that are not `taken`."""
    used, found, seen = set(taken), [], dict[FunctionSpec | str, int]()
    for subject in subjects:
        seen[subject] = number = seen.get(subject, 0) + 1
        name, body = _test(file, subject, number)
        while name in used:
            name += "_more"
        used.add(name)
        found.append(f"def {name}():\n    {body}")
    return found


def _test(file: TestFile, subject: FunctionSpec | str, number: int) -> tuple[str, str]:
    if isinstance(subject, FunctionSpec):
        return f"test_{subject.name}_{number}", _assertion(subject, number)
    name = "".join(letter if letter.isalnum() else "_" for letter in subject)
    where = _located(file.path, subject)
    text = f'({where}).read_text(encoding="utf-8")'
    tests = (
        ("is_there", f"assert ({where}).is_file()"),
        ("is_text", f'assert "\\0" not in {text}'),
        ("ends_a_line", f'assert {text}[-1:] in {{"", "\\n"}}'),
        ("compiles", f'assert compile({text}, "{name}", "exec")'),
    )
    what, body = tests[number - 1]
    return f"test_{name}_{what}", body


def _assertion(spec: FunctionSpec, number: int) -> str:
    """Other arguments each time; without any, the same result that many times."""
    values = {param: sample(number - 1 + at) for at, param in enumerate(spec.params)}
    wanted = _literal(spec.template.fill(values))
    if values or number == 1:
        args = ", ".join(_literal(value) for value in values.values())
        return f"assert {spec.name}({args}) == {wanted}"
    return f"assert [{spec.name}() for _ in range({number})] == [{wanted}] * {number}"


def sample(number: int) -> str:
    """A name; another one for each number from 0."""
    return SAMPLES[number] if number < len(SAMPLES) else f"Name {number + 1}"
