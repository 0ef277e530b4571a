"""Reading tokens from left to right: the phrases that sentences are made of."""

import ast
import builtins
from collections.abc import Mapping

from ouro.agents.offline.calls import Value
from ouro.agents.offline.lexing import Token
from ouro.agents.offline.texts import Unclear
from ouro.agents.offline.words import LANGUAGES

_NOT_NAMES = frozenset(
    "no none nothing any some several other another optional single positional keyword default"
    " itself alone itself there here below above only never not if unless when while or but"
    " without all both either neither self".split()
)
_CONSTANTS: dict[str, Value] = {"True": True, "False": False, "None": None}


class Cursor:
    """A place in `tokens`. Methods whose name begins with `take` move on only over what fits."""

    def __init__(self, tokens: tuple[Token, ...], known: Mapping[str, tuple[str, ...] | None]):
        self.tokens = tokens
        self.known = known
        self.at = 0

    def peek(self, ahead: int = 0) -> Token | None:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def sees(self, *kinds: str, ahead: int = 0) -> bool:
        token = self.peek(ahead)
        return token is not None and token.kind in kinds

    def take(self, *kinds: str) -> Token | None:
        token = self.peek()
        if token is None or token.kind not in kinds:
            return None
        self.at += 1
        return token

    def rest(self) -> str:
        return " ".join(token.raw for token in self.tokens[self.at :])

    def unclear(self) -> Unclear:
        return Unclear(f"not understood: {self.rest() or 'the end'}")

    def take_path(self) -> tuple[str, bool] | None:
        """A file by its path, and whether it is to be empty: `an empty file named notes.txt`."""
        start, empty, language = self.at, False, None
        while token := self.take("EMPTY", "L", "FILE", "NAMED"):
            empty = empty or token.kind == "EMPTY"
            language = token if token.kind == "L" else language
        path = self.take("P")
        if path is None:
            self.at = start
            return None
        self.take("FILE")
        return checked_path(path.raw, language), empty

    def take_name(self) -> Token | None:
        """The name of a function or parameter; a word that only could be one is none."""
        token = self.peek()
        if token is None or not (token.kind == "N" or (token.kind == "W" and not token.quote)):
            return None
        if token.identifier is None or token.raw.casefold() in _NOT_NAMES:
            return None
        self.at += 1
        return token

    def take_text(self) -> str | None:
        """A quoted text, with what may introduce it: `exactly the text "Hello"`."""
        start = self.at
        introduced = False
        while token := self.take("EXACT", "TEXTWORD"):
            introduced = introduced or token.kind == "TEXTWORD"
        token = self.peek()
        if token is not None and token.quote and token.kind in {"T", "N", "P", "C", "R"}:
            self.at += 1
            return _unwrapped(token, introduced, self.known)
        self.at = start
        return None

    def take_value(self) -> tuple[Value] | None:
        """A text, a whole number, `True`, `False` or `None`, in a tuple of its own."""
        text = self.take_text()
        if text is not None:
            return (text,)
        token = self.peek()
        start = self.at
        if token and token.kind == "N" and token.raw in _CONSTANTS:
            self.at += 1
            return (_CONSTANTS[token.raw],)
        while self.take("EXACT", "TEXTWORD"):
            pass
        token = self.take("I", "W")
        if token and token.kind == "I":
            return (int(token.raw),)
        if token and token.raw in _CONSTANTS:
            return (_CONSTANTS[token.raw],)
        self.at = start
        return None

    def take_count(self) -> tuple[int, bool] | None:
        """How many, and whether exactly so many; a bare number is meant exactly."""
        if self.take("MULTIPLE"):
            return 2, False
        start = self.at
        before = self.take("ATLEAST", "MORETHAN", "EXACT")
        number = self.take("I")
        after = self.take("ORMORE")
        if number is None or (before and after):
            self.at = start
            return None
        bound = before.kind if before else ""
        exact = after is None and bound in {"", "EXACT"}
        return int(number.raw) + (bound == "MORETHAN"), exact


def checked_path(raw: str, language: Token | None = None) -> str:
    """A path inside the tree; raises Unclear for any other, and for ouro's and git's own."""
    path = raw.removeprefix("./")
    parts = path.split("/")
    own = {".git", ".ouro", "ouro.yaml"} & {part.casefold() for part in parts}
    if own or "\\" in path or any(part in {"", ".", "..", "~"} for part in parts):
        raise Unclear(f"{raw} is not a path for work in this tree")
    if language and not path.casefold().endswith(LANGUAGES[language.raw.casefold()]):
        raise Unclear(f"{raw} is no {language.raw} file")
    return path


def _unwrapped(token: Token, introduced: bool, known: Mapping[str, tuple[str, ...] | None]) -> str:
    """The text meant. Between backticks also stands code: a quoted string there is its content,
    any other code is refused."""
    if token.quote != "`":
        return token.raw
    try:
        tree = ast.parse(token.raw.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return token.raw
    match tree:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return token.raw.strip().lstrip("fF")[1:-1]
        case ast.Name(id=name) if introduced and name not in known and not hasattr(builtins, name):
            return name
        case ast.Tuple() if _only_words(tree):
            return token.raw
    raise Unclear(f"`{token.raw}` is code")


def _only_words(tree: ast.Tuple) -> bool:
    """`Hello, {name}` happens to be Python too."""
    return all(isinstance(item, ast.Name | ast.Set) for item in tree.elts) and any(
        isinstance(item, ast.Set) for item in tree.elts
    )
