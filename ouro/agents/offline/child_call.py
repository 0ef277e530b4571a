"""Runs as a program of its own: loads a module and calls one function of it.

The job comes as JSON on stdin: `nonce`, `path`, `roots`, `name`, `calls` (lists of arguments). Each
finding leaves on the first stdout as a line `nonce place kind hex`. Whatever the module does to
stdout, to builtins or to the modules used here, it does after everything needed was taken aside,
and it is not told the nonce. A module that ends the process leaves no line that says otherwise.
"""

import importlib
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

Send = Callable[[str, str, str], None]


def _sender(nonce: str, channel: int) -> Send:
    """Everything is bound here, before the module under test can put something else in place."""
    write = os.write

    def send(place: str, kind: str, text: str) -> None:
        line = f"{nonce} {place} {kind} {text.encode('utf-8', 'surrogatepass').hex()}\n"
        write(channel, line.encode("ascii"))

    return send


def _silence() -> int:
    """A copy of stdout for the findings; 0, 1 and 2 lead nowhere from now on."""
    channel, nowhere = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return channel


def _load(path: str, roots: list[str]) -> ModuleType:
    """A module of a package by its full name, so that its relative imports work."""
    sys.path[:0] = roots
    folder = Path(path).parent
    names = [Path(path).stem]
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    if len(names) > 1:
        sys.path.insert(0, str(folder))
        importlib.import_module(".".join(names[:-1]))
    name = ".".join(names)
    name = f"{name}_under_test" if name in sys.modules else name
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _describe(value: Any) -> tuple[str, str]:
    """The kind of a result, and its text: only exact types count, no subclass that lies."""
    exact = _TYPE(value)
    if exact is _STR:
        return "text", value
    if exact is _INT or exact is _BOOL or value is None:
        return "value", _REPR(value)
    return "other", exact.__name__


def _failure(error: BaseException) -> str:
    try:
        message = str(error)
    except BaseException:
        message = ""
    return f"{type(error).__name__}: {message}"[:200]


_TYPE, _STR, _INT, _BOOL, _REPR = type, str, int, bool, repr
_CALLABLE, _ISINSTANCE, _DUMPS, _SIGNATURE = callable, isinstance, json.dumps, inspect.signature
_EXIT, _BASE, _ENUMERATE = os._exit, BaseException, enumerate


def _parameters(function: Any) -> str:
    """Name and whether it must be given, for each parameter that a position can fill; as JSON."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = []
    for parameter in _SIGNATURE(function).parameters.values():
        needed = parameter.default is parameter.empty
        if parameter.kind in kinds or (parameter.kind is parameter.KEYWORD_ONLY and needed):
            found.append((parameter.name, needed))
    return _DUMPS(found)


def _probe(job: dict[str, Any], send: Send) -> None:
    try:
        function = vars(_load(job["path"], job["roots"])).get(job["name"])
    except _BASE as error:
        send("load", "error", _failure(error))
        return
    if not _CALLABLE(function) or _ISINSTANCE(function, _TYPE):
        send("load", "missing", "")
        return
    try:
        send("load", "params", _parameters(function))
    except _BASE as error:
        send("load", "opaque", _failure(error))
    for at, args in _ENUMERATE(job["calls"]):
        try:
            kind, text = _describe(function(*args))
        except _BASE as error:
            kind, text = "error", _failure(error)
        send(f"{at}", kind, text)


def main() -> None:
    job = json.loads(sys.stdin.buffer.read())
    send = _sender(job.pop("nonce"), _silence())
    # A module that imports `__main__` to change it gets an empty one.
    sys.modules["__main__"] = ModuleType("__main__")
    _probe(job, send)
    _EXIT(0)


if __name__ == "__main__":
    main()
