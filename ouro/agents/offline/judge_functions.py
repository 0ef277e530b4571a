"""Judging functions: they are called in a process of their own."""

import hashlib
import json
import re
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from ouro.agents.offline.calls import Value
from ouro.agents.offline.children import Children, Outcome
from ouro.agents.offline.demands import Gives, HasFunction, Place, Returns
from ouro.agents.offline.findings import Finding, shown
from ouro.agents.offline.paths import is_tree_file
from ouro.agents.offline.source import SAMPLES

Args = tuple[Value, ...]
_VALUES: dict[str, Value] = {"True": True, "False": False, "None": None}


class Answer(Struct, frozen=True):
    """What a call did: `value` in a tuple of its own, or None and `text` says what else."""

    value: tuple[Value] | None
    text: str


class Called(Struct, frozen=True):
    """A function after all its calls. `trouble` says why it could not be called; `params` has
    (name, whether it must be given), None where Python does not know. `source` are the bytes of
    its file."""

    trouble: str = ""
    source: bytes = b""
    params: tuple[tuple[str, bool], ...] | None = None
    answers: tuple[tuple[Args, Answer], ...] = ()


def call_all(
    children: Children, place: Place, demands: Iterable[HasFunction | Returns | Gives]
) -> Called:
    """The function at `place`, called in every way that `demands` need."""
    path = place.path or ""
    if not is_tree_file(children.workspace, path):
        return Called(f"{path} is not in the tree")
    whole = (children.workspace / path).resolve()
    source = whole.read_bytes()
    calls = list({repr(args): args for d in demands for args in calls_for(d, source)}.values())
    # Again at the end: a function that answers well only once answers differently.
    again = [*calls, *calls]
    roots = [str(whole.parent), str(children.workspace.resolve())]
    if (children.workspace / "src").is_dir():
        roots.append(str(children.workspace.resolve() / "src"))
    job = {"path": str(whole), "roots": roots, "name": place.name, "calls": again}
    limit = children.limits.call
    called = _read(children.run("child_call.py", job, limit), place, again, limit)
    return replace(called, source=source)


def calls_for(demand: HasFunction | Returns | Gives, source: bytes) -> list[Args]:
    """The arguments to try. The last ones follow from the file itself, so that no file can hold
    the answers to just the values that are tried."""
    match demand:
        case HasFunction():
            return []
        case Gives(args=args):
            return [args]
    digest = hashlib.sha256(source).hexdigest()
    values = [*SAMPLES[:2], "grace hopper", "Zoë  O'Brien", "x", digest[:9], digest[9:40]]
    width = len(demand.params)
    return [tuple(values[(at + n) % len(values)] for n in range(width)) for at in range(7)]


def _read(outcome: Outcome, place: Place, calls: list[Args], limit: float) -> Called:
    lines = {line.place: line for line in outcome.lines}
    load = lines.get("load")
    late = f"did not return within {limit:g} s" if outcome.late else "ended the process"
    if load is None:
        return Called(f"loading {place.path} {late}")
    if load.kind == "error":
        return Called(f"loading {place.path} raised {_scrubbed(load.text)}")
    if load.kind == "missing":
        return Called(f"{place.path} has no function {place.name}")
    params = None if load.kind == "opaque" else _params(load.text)
    answers = []
    for at, args in enumerate(calls):
        line = lines.get(str(at))
        answers.append((args, _answer(line.kind, line.text) if line else Answer(None, late)))
    return Called("", b"", params, tuple(answers))


def _params(text: str) -> tuple[tuple[str, bool], ...]:
    return tuple((str(name), bool(needed)) for name, needed in json.loads(text))


def _answer(kind: str, text: str) -> Answer:
    if kind == "text":
        return Answer((text,), f"returned {shown(text)}")
    if kind == "value":
        value = _VALUES[text] if text in _VALUES else int(text)
        return Answer((value,), f"returned {text[:40]}")
    if kind == "error":
        return Answer(None, f"raised {_scrubbed(text)}")
    return Answer(None, f"returned a {_scrubbed(text)}")


def _scrubbed(text: str) -> str:
    """One line without what differs from run to run."""
    plain = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return re.sub(r"0x[0-9a-f]+", "0x…", " ".join(plain.split()))


def judge_function(called: Called, demand: HasFunction | Returns | Gives) -> Finding:
    if called.trouble:
        return Finding(False, called.trouble)
    match demand:
        case HasFunction(params=params):
            return _signature(called, demand.place, params)
        case Gives(args=args, result=result):
            return _answers(called, demand.place, [(args, result)])
        case Returns(params=params, template=template):
            tried = calls_for(demand, called.source)
            filled = [template.fill(dict(zip(params, args, strict=True))) for args in tried]
            return _answers(called, demand.place, list(zip(tried, filled, strict=True)))


def _signature(called: Called, place: Place, params: tuple[str, ...] | None) -> Finding:
    name = f"{place.path} has the function {place.name}"
    if params is None:
        return Finding(True, name)
    if called.params is None:
        return Finding(None, f"the parameters of {place.name} cannot be told")
    names = tuple(param for param, _ in called.params)
    spare = any(needed for _, needed in called.params[len(params) :])
    if names[: len(params)] != params or spare:
        return Finding(False, f"{place.name} takes ({', '.join(names)})")
    return Finding(True, name)


def _answers(called: Called, place: Place, cases: list[tuple[Args, Value]]) -> Finding:
    """Every call with these arguments, the repeated ones too, has to give what is wanted."""
    wanted = {repr(args): result for args, result in cases}
    tried = [(args, answer) for args, answer in called.answers if repr(args) in wanted]
    for args, answer in tried:
        right = wanted[repr(args)]
        if answer.value is None or not _same(answer.value[0], right):
            return Finding(False, f"{_call(place, args)} {answer.text}, wanted {shown(right)}")
    if not tried:
        return Finding(None, f"{place.name} was not called")
    args, answer = tried[0]
    return Finding(True, f"{_call(place, args)} {answer.text} (the first of {len(tried)} calls)")


def _call(place: Place, args: Args) -> str:
    return f"{place.name}({', '.join(map(shown, args))})"


def _same(value: Value, wanted: Value) -> bool:
    """Equal and of one type: 1 is not True."""
    return type(value) is type(wanted) and value == wanted
