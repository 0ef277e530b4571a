"""Functions to write: what all criteria together say of one."""

from collections.abc import Iterable

from msgspec import Struct

from ouro.agents.offline.calls import Value
from ouro.agents.offline.demands import Demand, Gives, HasFunction, Returns
from ouro.agents.offline.texts import Template, generalise

_DEFAULT_NAMES = ((), ("name",), ("first", "second"), ("first", "second", "third"))


class FunctionSpec(Struct, frozen=True):
    """`path` "" where the seed does not tell it. `bare` is the text for a call without arguments,
    `blank` that for an empty one, where they differ from the template.

    `trouble` says why no rule writes the function; "" where one does.
    """

    path: str
    name: str
    params: tuple[str, ...] = ()
    template: Template = Template(("",))
    bare: str | None = None
    blank: str | None = None
    trouble: str = ""


class _Troubled(Exception):
    pass


def function_specs(demands: Iterable[Demand]) -> tuple[FunctionSpec, ...]:
    """One for each function that `demands` ask for, in order."""
    groups: dict[tuple[str, str], list[HasFunction | Returns | Gives]] = {}
    for demand in demands:
        if isinstance(demand, HasFunction | Returns | Gives):
            key = (demand.place.path or "", demand.place.name)
            groups.setdefault(key, []).append(demand)
    return tuple(_spec(path, name, group) for (path, name), group in groups.items())


def _spec(path: str, name: str, group: list[HasFunction | Returns | Gives]) -> FunctionSpec:
    try:
        return _writable(path, name, group)
    except _Troubled as trouble:
        return FunctionSpec(path, name, trouble=str(trouble))


def _writable(path: str, name: str, group: list[HasFunction | Returns | Gives]) -> FunctionSpec:
    if not path.endswith(".py"):
        raise _Troubled("functions are written in Python files only" if path else "in which file?")
    calls = [(d.args, d.result) for d in group if isinstance(d, Gives)]
    params = _params(group, calls)
    bare = _special(calls, ()) if params else None
    blank = _special(calls, ("",)) if len(params) == 1 else None
    rest = [c for c in calls if c not in (((), bare), (("",), blank))]
    template = _template(group, rest, params)
    blank = None if blank == template.fill(dict.fromkeys(params, "")) else blank
    return FunctionSpec(path, name, params, template, bare, blank)


def _params(
    group: list[HasFunction | Returns | Gives], calls: list[tuple[tuple[Value, ...], Value]]
) -> tuple[str, ...]:
    named = [d.params for d in group if isinstance(d, HasFunction | Returns)]
    stated = list(dict.fromkeys(params for params in named if params is not None))
    if len(stated) > 1:
        raise _Troubled("criteria name different parameters")
    longest = max((len(args) for args, _ in calls), default=0)
    if not stated and longest >= len(_DEFAULT_NAMES):
        raise _Troubled("the names of its parameters are not given")
    params = stated[0] if stated else _DEFAULT_NAMES[longest]
    if longest > len(params):
        raise _Troubled("it is called with more arguments than it has parameters")
    return params


def _special(calls: list[tuple[tuple[Value, ...], Value]], args: tuple[Value, ...]) -> str | None:
    results = list(dict.fromkeys(result for given, result in calls if given == args))
    if len(results) > 1:
        raise _Troubled("one call is to give two results")
    return results[0] if results and isinstance(results[0], str) else None


def _template(
    group: list[HasFunction | Returns | Gives],
    calls: list[tuple[tuple[Value, ...], Value]],
    params: tuple[str, ...],
) -> Template:
    """That of the criteria, else the one behind the examples; it has to fit all examples."""
    stated = list(dict.fromkeys(d.template for d in group if isinstance(d, Returns)))
    if len(stated) > 1:
        raise _Troubled("criteria name different texts for it")
    examples = []
    for args, result in calls:
        if len(args) != len(params) or not isinstance(result, str):
            raise _Troubled("an example is none of a text for all its parameters")
        examples.append((dict(zip(params, args, strict=True)), result))
    template = stated[0] if stated else generalise(examples, params)
    if template is None:
        raise _Troubled("no text that it returns is given, nor examples that tell it")
    if any(template.fill(values) != result for values, result in examples):
        raise _Troubled("an example contradicts the text that it is to return")
    return template
