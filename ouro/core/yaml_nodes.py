"""Plain data that remembers where it stood in its file, and the errors that say so."""

import re
from typing import Any

from msgspec import Struct

from ouro.errors import UsageProblem

_ORDINARY_KEY = re.compile(r"[\w.-]{1,60}")
_LONGEST_PATH = 160


class Node(Struct, frozen=True):
    """One value. `line` counts from 1; for the value of a key it is the key's line.

    `raw` is a scalar as it was written. `weight` counts values and characters with aliases
    expanded, `height` the levels of lists and mappings from here down.
    """

    value: "str | int | float | bool | list[Node] | dict[str, Node] | None"
    line: int
    raw: str = ""
    weight: int = 1
    height: int = 0


def one_line(text: str, limit: int = 200) -> str:
    """`text` fit for a message: one line, nothing a terminal would obey, not too long."""
    calm = "".join(ch if ch.isprintable() else " " for ch in text[: limit * 2])
    words = " ".join(calm.split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


def show_key(key: str) -> str:
    return key if _ORDINARY_KEY.fullmatch(key) else repr(one_line(key, 60))


def key_path(path: str, key: str) -> str:
    """`ontology_schema` and `name` -> `ontology_schema.name`."""
    return f"{path}.{show_key(key)}" if path else show_key(key)


def item_path(path: str, number: int) -> str:
    """`constraints` and 2 -> `constraints #2`; the first item is 1, as in `ac1`."""
    return f"{path} #{number}" if path else f"#{number}"


def _located(where: str, path: str, what: str) -> str:
    """`where: path: what`; of a path that is too long the end, which is nearer to the matter."""
    near = path if len(path) <= _LONGEST_PATH else "…" + path[-_LONGEST_PATH:]
    return ": ".join(part for part in (where, near, what) if part)


def problem(name: str, line: int | None, path: str, what: str, hint: str = "") -> UsageProblem:
    """`<name>:<line>: <key path>: <what>`, on one line whatever the parts hold."""
    where = one_line(name) if line is None else f"{one_line(name)}:{line}"
    return UsageProblem(_located(where, path, what), hint)


def kind(value: object) -> str:
    """What `value` is, in words for people."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "a mapping"


class Spot(Struct, frozen=True):
    """A node together with the file's name and the path of keys that leads to it.

    Every method that reads raises UsageProblem, with line and path, when the value is not
    what the method is named after.
    """

    name: str
    node: Node
    path: str = ""

    def problem(self, what: str, hint: str = "") -> UsageProblem:
        return problem(self.name, self.node.line, self.path, what, hint)

    def remark(self, what: str) -> str:
        """A warning: `line N: <key path>: <what>`."""
        return _located(f"line {self.node.line}", self.path, what)

    @property
    def empty(self) -> bool:
        """Whether the key stands there without a value."""
        return self.node.value is None

    def below(self, key: str) -> "Spot":
        """This spot under the path of one of its keys: to say that the key is missing."""
        return Spot(self.name, self.node, key_path(self.path, key))

    def mapping(self, hint: str = "") -> "dict[str, Spot]":
        value = self.node.value
        if not isinstance(value, dict):
            raise self.problem(f"must be a mapping of keys, but is {kind(value)}", hint)
        return {key: Spot(self.name, node, key_path(self.path, key)) for key, node in value.items()}

    def items(self, hint: str = "") -> "list[Spot]":
        value = self.node.value
        if not isinstance(value, list):
            raise self.problem(f"must be a list, but is {kind(value)}", hint)
        nodes = enumerate(value, start=1)
        return [Spot(self.name, node, item_path(self.path, number)) for number, node in nodes]

    def text(self) -> str:
        """Text that is not blank."""
        match self.node.value:
            case str() as text if text.strip():
                return text
            case str() | None:
                raise self.problem("is empty", "write some text there")
            case bool() | int() | float():
                raise self._unquoted()
            case other:
                raise self.problem(
                    f"must be text, but is {kind(other)}",
                    'put text that holds ": " or begins with [ or { in quotes',
                )

    def _unquoted(self) -> UsageProblem:
        raw, meaning = one_line(self.node.raw, 40), kind(self.node.value)
        return self.problem(
            f"must be text, but {raw} without quotes is {meaning}", f'write it in quotes: "{raw}"'
        )

    def flag(self) -> bool:
        if not isinstance(self.node.value, bool):
            raise self.problem(
                f"must be true or false, but is {kind(self.node.value)}", "write true or false"
            )
        return self.node.value

    def number(self) -> float:
        value = self.node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.problem(
                f"must be a number, but is {kind(value)}", "write digits without quotes"
            )
        return float(value)

    def plain(self) -> Any:
        """The value as JSON would hold it; the depth was bounded when it was read."""
        return _plain(self.node)


def _plain(node: Node) -> Any:
    if isinstance(node.value, list):
        return [_plain(item) for item in node.value]
    if isinstance(node.value, dict):
        return {key: _plain(item) for key, item in node.value.items()}
    return node.value
