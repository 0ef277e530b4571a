"""Texts that functions return: constant, or with places such as `{name}` and `<name>`."""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

_PLACE = re.compile(r"\{([A-Za-z_]\w*)\}|<([A-Za-z_]\w*)>", re.ASCII)
# Where something is to be filled in and only a reader can say what.
_VAGUE = re.compile(
    r"\$\{|%[sd(]|\{\{|\{\}|\{\d|\{[A-Za-z_]\w*[^\w}]|\[[A-Za-z_]|\.\.\.|…|__|<[A-Za-z]"
)


class Unclear(Exception):
    """The text can be read in more than one way; the message says how."""


class Template(Struct, frozen=True):
    """Literal and parameter name in turn, beginning and ending with a literal."""

    parts: tuple[str, ...]

    @property
    def places(self) -> tuple[str, ...]:
        """The parameters in it, each once, in order."""
        return tuple(dict.fromkeys(self.parts[1::2]))

    @property
    def literals(self) -> tuple[str, ...]:
        return self.parts[::2]

    def fill(self, values: Mapping[str, object]) -> str:
        """The text for `values`, which has every place."""
        words = (str(values[p]) if at % 2 else p for at, p in enumerate(self.parts))
        return "".join(words)


def read_template(text: str, params: tuple[str, ...] | None) -> tuple[Template, tuple[str, ...]]:
    """`text` as a template, and the parameters of its function: `params` where they are known,
    else the places in order. Raises Unclear where a text could also be meant otherwise.
    """
    if "\\" in text:
        raise Unclear("a backslash in a text")
    template = _split(text, params)
    known = template.places if params is None else params
    if stray := [place for place in template.places if place not in known]:
        raise Unclear(f"{stray[0]!r} is no parameter")
    if params != () and not template.places and _VAGUE.search(text):
        raise Unclear("what is to be filled in")
    _refuse_bare_names(template, known)
    return template, known


def _split(text: str, params: tuple[str, ...] | None) -> Template:
    """Angle brackets also mark HTML: they are places only where nothing closes them."""
    parts, end = [], 0
    markup = "</" in text or "/>" in text
    for match in _PLACE.finditer(text):
        name = match[1] or match[2]
        if match[2] and (markup or (params is not None and name not in params)):
            continue
        parts += [text[end : match.start()], name]
        end = match.end()
    template = Template((*parts, text[end:]))
    _refuse_formats(template)
    return template


def _refuse_formats(template: Template) -> None:
    """`{price:.2f}`, `{{`, `${name}` and the like are templates of other kinds."""
    text = "\0".join(template.literals)
    if re.search(r"\{\{|\}\}|\{\}|\{\d+\}|\{[A-Za-z_]\w*[^\w}\"']|\$\0|%\(\w", text):
        raise Unclear("a template of a kind that is not known")


def _refuse_bare_names(template: Template, params: Iterable[str]) -> None:
    """`Hello, name!` for a parameter `name` may mean the word or the value."""
    words = {word.casefold() for text in template.literals for word in re.findall(r"\w+", text)}
    for param in params:
        if param not in template.places and param.casefold() in words:
            raise Unclear(f"whether {param!r} is the word or the value")


def generalise(
    examples: Iterable[tuple[Mapping[str, object], str]], params: tuple[str, ...]
) -> Template | None:
    """The template behind examples: the first that has all its values in its text, as words,
    gives it; None where none does or where the others contradict it."""
    cases = list(examples)
    for values, text in cases:
        template = _from_example(values, text, params)
        if template is not None:
            fits = all(template.fill(other) == wanted for other, wanted in cases)
            return template if fits else None
    return None


def _from_example(
    values: Mapping[str, object], text: str, params: tuple[str, ...]
) -> Template | None:
    """Longer values first, so that `Ada Lovelace` is found before `Ada`."""
    parts = [text]
    for param in sorted(params, key=lambda name: (-len(str(values[name])), name)):
        value = str(values[param])
        pattern = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
        if not value or not any(map(pattern.search, parts[::2])):
            return None
        parts = _replaced(parts, pattern, param)
    return Template(tuple(parts))


def _replaced(parts: list[str], pattern: re.Pattern[str], param: str) -> list[str]:
    """`parts` with `param` as a new place wherever `pattern` stands in a literal."""
    found: list[str] = []
    for at, part in enumerate(parts):
        pieces = pattern.split(part) if at % 2 == 0 else [part]
        for number, piece in enumerate(pieces):
            found += [param, piece] if number else [piece]
    return found
