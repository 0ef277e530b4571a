"""YAML as plain data: text, numbers, true and false, null, lists and mappings; nothing else.

PyYAML's parser gives events; what they mean is decided here, so that tags never make objects,
dates stay text, and depth, aliases and size are refused while they are read.
"""

import math
import re
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ouro.core.yaml_nodes import Node, Spot, item_path, key_path, one_line, problem, show_key
from ouro.errors import UsageProblem

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_VALUES = 20_000
MAX_KEY = 200
ALIAS_BUDGET = 200_000
"""Values and characters that all aliases of a file together may stand for."""

_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_UNFIT_RAW = re.compile(_UNFIT.pattern[:-1] + "\u2028\u2029\ufeff]")
_TAG_DIRECTIVE = re.compile("^%TAG", re.MULTILINE)
_ISSUE_NUMBER = re.compile(r"\s+#\d")
_TAB_INDENT = re.compile(r" *\t")

_NULLS = frozenset(["", "~", "null", "Null", "NULL"])
_BOOLS = {
    spelling: word in ("true", "yes", "on")
    for word in ("true", "false", "yes", "no", "on", "off")
    for spelling in (word, word.title(), word.upper())
}
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LONGEST_NUMBER = 40

_YAML = "tag:yaml.org,2002:"
_KNOWN_TAGS = frozenset([None, "!", _YAML + "str", _YAML + "seq", _YAML + "map"])

_QUOTE = "put the text in quotes"
_HINTS = (
    ("mapping values are not allowed", 'put text that holds ": " in quotes'),
    ("nesting depth", f"at most {MAX_DEPTH} levels of lists and mappings are read"),
    ("escape", "in double quotes \\ begins an escape: write \\\\, or use single quotes"),
    ("quoted scalar", "a closing quote is missing, or a quote inside the text ends it too soon"),
    ("alphabetic or numeric", "text that begins with * or & must stand in quotes"),
    ("cannot start any token", "text that begins with @, ` or % must stand in quotes"),
)


def read_yaml(data: bytes, name: str) -> tuple[Spot, tuple[str, ...]]:
    """The one document in `data`, and remarks on what it may not have meant.

    `name` is the file's name for messages. Raises UsageProblem, and nothing else, for all that
    is no plain YAML in UTF-8 within the limits above.
    """
    text = _decode(data, name)
    builder = _Builder(name, text.split("\n"))
    _parse(text, name, builder)
    if builder.root is None:
        raise problem(name, 1, "", "the file is empty, or holds comments only", "fill it in")
    return Spot(name, builder.root), tuple(builder.remarks)


def _decode(data: bytes, name: str) -> str:
    if len(data) > MAX_BYTES:
        raise problem(name, None, "", f"has {len(data)} bytes; at most 1 MiB (1048576) is read")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]:
        raise problem(name, 1, "", "is UTF-16, UTF-32 or binary, not UTF-8", "save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"is not UTF-8: byte 0x{data[error.start]:02x}"
        raise problem(name, line, "", what, "save it as UTF-8") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    _refuse_raw(text, name, _UNFIT_RAW, "remove it; inside double quotes it can be escaped")
    _refuse_raw(text, name, _TAG_DIRECTIVE, "remove the line: tags are not used here")
    return text


def _refuse_raw(text: str, name: str, pattern: re.Pattern[str], hint: str) -> None:
    if found := pattern.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise problem(name, line, "", f"holds {found.group()!a}, which is not allowed", hint)


def _parse(text: str, name: str, builder: "_Builder") -> None:
    import yaml  # late: a step that reads no seed does not pay for it

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, loader):
            builder.take(event)
    # The pure loader lets chr() and int() fail on escapes and version numbers out of range.
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise _syntax_problem(name, text, error) from error


def _syntax_problem(name: str, text: str, error: Any) -> UsageProblem:
    context = getattr(error, "context", None) or ""
    mark = getattr(error, "problem_mark", None)
    # What was opened and never closed is noticed far below the line that needs mending.
    if "quoted" in context or "flow" in context:
        mark = error.context_mark
    what = one_line(f"{context} {getattr(error, 'problem', None) or error}")
    line = None if mark is None else mark.line + 1
    return problem(name, line, "", f"is not valid YAML: {what}", _syntax_hint(text, line, what))


def _syntax_hint(text: str, line: int | None, what: str) -> str:
    if line is not None and _TAB_INDENT.match([*text.split("\n"), ""][line - 1]):
        return "indent with spaces: YAML allows no tabs there"
    hints = (hint for words, hint in _HINTS if words in what)
    return next(hints, "check the indentation, and put unusual text in quotes")


class _Frame(Struct):
    """A list or mapping that is still open. `key` is the one whose value comes next."""

    value: list[Node] | dict[str, Node]
    line: int
    anchor: str | None
    key: str | None = None
    key_line: int = 0
    weight: int = 1
    height: int = 1


class _Builder:
    """Takes events one by one; `root` is there once the document has ended."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name = name
        self.lines = lines
        self.root: Node | None = None
        self.remarks: list[str] = []
        self._stack: list[_Frame] = []
        self._anchors: dict[str, Node | None] = {}  # None: begun, not yet ended
        self._values = 0
        self._aliased = 0

    def take(self, event: Any) -> None:
        """One event of PyYAML; which loader made it does not matter."""
        match type(event).__name__:
            case "ScalarEvent":
                self._scalar(event)
            case "SequenceStartEvent":
                self._open(event, [])
            case "MappingStartEvent":
                self._open(event, {})
            case "SequenceEndEvent" | "MappingEndEvent":
                self._close()
            case "AliasEvent":
                self._alias(event)
            case "DocumentStartEvent":
                self._document(event)

    def _problem(self, event: Any, what: str, hint: str = "") -> UsageProblem:
        return problem(self.name, event.start_mark.line + 1, self._path(), what, hint)

    def _path(self) -> str:
        path = ""
        for frame in self._stack:
            if isinstance(frame.value, list):
                path = item_path(path, len(frame.value) + 1)
            elif frame.key is not None:
                path = key_path(path, frame.key)
        return path

    def _document(self, event: Any) -> None:
        if self.root is not None:
            raise self._problem(event, "a second document begins", "keep one document a file")

    def _count(self, event: Any) -> None:
        self._values += 1
        if self._values > MAX_VALUES:
            raise self._problem(event, f"more than {MAX_VALUES} values in one file")

    def _expects_key(self) -> bool:
        frame = self._stack[-1] if self._stack else None
        return frame is not None and isinstance(frame.value, dict) and frame.key is None

    def _open(self, event: Any, value: list[Node] | dict[str, Node]) -> None:
        self._count(event)
        self._check_tag(event)
        if self._expects_key():
            raise self._problem(event, "a list or mapping stands where a key belongs", _QUOTE)
        if len(self._stack) >= MAX_DEPTH:
            raise self._problem(event, f"nested deeper than {MAX_DEPTH} levels")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._stack.append(_Frame(value, event.start_mark.line + 1, event.anchor))

    def _close(self) -> None:
        frame = self._stack.pop()
        node = Node(frame.value, frame.line, weight=frame.weight, height=frame.height)
        if frame.anchor is not None:
            self._anchors[frame.anchor] = node
        self._add(node)

    def _add(self, node: Node) -> None:
        if not self._stack:
            self.root = node
            return
        frame = self._stack[-1]
        frame.weight += node.weight
        frame.height = max(frame.height, node.height + 1)
        if isinstance(frame.value, list):
            frame.value.append(node)
        else:
            frame.value[str(frame.key)] = replace(node, line=frame.key_line)
            frame.key = None

    def _check_tag(self, event: Any) -> None:
        if event.tag not in _KNOWN_TAGS:
            tag = one_line(event.tag.replace(_YAML, "!!"), 60)
            raise self._problem(
                event, f"the tag {tag} is not allowed", f"remove the tag, or {_QUOTE}"
            )

    def _alias(self, event: Any) -> None:
        self._count(event)
        shown = show_key(event.anchor)
        if event.anchor not in self._anchors:
            raise self._problem(event, f"*{shown} names no anchor", f"to begin with *, {_QUOTE}")
        node = self._anchors[event.anchor]
        if node is None:
            raise self._problem(event, f"*{shown} stands inside itself", "write the value out")
        if self._expects_key():
            raise self._problem(event, f"*{shown} stands where a key belongs", _QUOTE)
        self._spend(event, node)
        self._add(replace(node, line=event.start_mark.line + 1))

    def _spend(self, event: Any, node: Node) -> None:
        self._aliased += node.weight
        if self._aliased > ALIAS_BUDGET:
            raise self._problem(event, "the aliases stand for too much data", "write it out")
        if len(self._stack) + node.height > MAX_DEPTH:
            raise self._problem(event, f"nested deeper than {MAX_DEPTH} levels, by an alias")

    def _scalar(self, event: Any) -> None:
        self._count(event)
        self._check_tag(event)
        if found := _UNFIT.search(event.value):
            what = f"holds the character {found.group()!a}, which is not allowed"
            raise self._problem(event, what, "remove it")
        plain = event.tag is None and event.implicit[0]
        value = self._resolve(event) if plain else event.value
        line = event.start_mark.line + 1
        node = Node(value, line, raw=event.value, weight=1 + len(event.value))
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        if self._expects_key():
            self._key(event, node, plain)
            return
        self._remark_on_cut(event, plain)
        self._add(node)

    def _resolve(self, event: Any) -> str | int | float | bool | None:
        """What a scalar without quotes means; the words are those of YAML 1.1, so `yes` is true.

        Dates, `0x1f`, `1_000` and `12:30` stay text.
        """
        text: str = event.value
        if text in _NULLS:
            return None
        if text in _BOOLS:
            return _BOOLS[text]
        if _NOT_FINITE.fullmatch(text):
            raise self._problem(event, f"{text} is no finite number", _QUOTE)
        if _INT.fullmatch(text) or _FLOAT.fullmatch(text):
            return self._number(event, text)
        return text

    def _number(self, event: Any, text: str) -> int | float:
        if len(text) <= _LONGEST_NUMBER:
            number = int(text) if _INT.fullmatch(text) else float(text)
            if -(2**63) <= number < 2**63 or (isinstance(number, float) and math.isfinite(number)):
                return number
        raise self._problem(event, f"the number {one_line(text, 24)} is too long or large", _QUOTE)

    def _key(self, event: Any, node: Node, plain: bool) -> None:
        frame = self._stack[-1]
        key = self._key_text(event, node, plain)
        if key in frame.value:
            raise self._problem(event, f"the key {show_key(key)} stands twice", "keep one of them")
        frame.key, frame.key_line = key, node.line
        frame.weight += node.weight

    def _key_text(self, event: Any, node: Node, plain: bool) -> str:
        if not isinstance(node.value, str):
            raw = one_line(node.raw, 40)
            raise self._problem(event, f"the key {raw!r} is not text", f'write "{raw}": …')
        if plain and node.value == "<<":
            raise self._problem(event, "merge keys (<<) are not allowed", "write the keys out")
        if len(node.value) > MAX_KEY:
            what = f"the key {show_key(node.value)} is longer than {MAX_KEY} characters"
            raise self._problem(event, what, "put text that holds a colon in quotes")
        return node.value

    def _remark_on_cut(self, event: Any, plain: bool) -> None:
        """`Fix issue #12` without quotes is `Fix issue`, and a comment: say so."""
        end = event.end_mark
        if plain and event.value and _ISSUE_NUMBER.match(self.lines[end.line], end.column):
            where = f"line {event.start_mark.line + 1}: {self._path()}"
            self.remarks.append(f'{where}: the text ends before " #"; quotes would keep the rest')
