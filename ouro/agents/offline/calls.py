"""Calls as criteria write them: `greet(name)`, `greet(name: str) -> str`, `greet('Ada', 3)`."""

import keyword
import re

from msgspec import Struct

from ouro.agents.offline.quotes import quoted

Value = str | int | bool | None

CALL_HEAD = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\(", re.ASCII)
_RETURNS_TEXT = re.compile(r"\s*(?:->|→)\s*str\b(?!\s*[('\"])")
_PARAMETER = re.compile(r"[<{]?([A-Za-z_]\w*)[>}]?(?:\s*:\s*str)?", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,15}")
_CONSTANTS: dict[str, Value] = {"True": True, "False": False, "None": None}


class Call(Struct, frozen=True):
    """`params` of a signature or `args` of a call; both where the brackets are empty.

    `module` is the dotted part before the name, "" where there is none.
    """

    module: str
    name: str
    params: tuple[str, ...] | None
    args: tuple[Value, ...] | None


def read_call(text: str, at: int) -> tuple[Call, int] | None:
    """The call that begins at `at`, and where it ends; None where it is none of the known forms."""
    head = CALL_HEAD.match(text, at)
    split = _split(text, head.end()) if head else None
    if head is None or split is None:
        return None
    pieces, end = split
    params, args = _params(pieces), _args(pieces)
    if params is None and args is None:
        return None
    module, _, name = head[1].rpartition(".")
    if keyword.iskeyword(name):
        return None
    arrow = _RETURNS_TEXT.match(text, end) if params is not None else None
    return Call(module, name, params, args), arrow.end() if arrow else end


def _split(text: str, at: int) -> tuple[list[str], int] | None:
    """What stands between the commas up to the closing bracket, and where that ends."""
    pieces, start = [], at
    while at < len(text):
        if hit := quoted(text, at):
            at = hit[1]
            continue
        if text[at] == "(":
            return None
        if text[at] in ",)":
            pieces.append(text[start:at].strip())
            start = at + 1
        if text[at] == ")":
            return ([] if pieces == [""] else pieces), at + 1
        at += 1
    return None


def _params(pieces: list[str]) -> tuple[str, ...] | None:
    matches = [_PARAMETER.fullmatch(piece) for piece in pieces]
    names = tuple(match[1] for match in matches if match)
    ok = len(set(names)) == len(pieces) and not any(map(keyword.iskeyword, names))
    return names if ok else None


def _args(pieces: list[str]) -> tuple[Value, ...] | None:
    values = [_literal(piece) for piece in pieces]
    found = tuple(value[0] for value in values if value is not None)
    return found if len(found) == len(pieces) else None


def _literal(piece: str) -> tuple[Value] | None:
    hit = quoted(piece, 0)
    if hit and hit[1] == len(piece) and "\\" not in hit[0]:
        return (hit[0],)
    if _NUMBER.fullmatch(piece):
        return (int(piece),)
    return (_CONSTANTS[piece],) if piece in _CONSTANTS else None
