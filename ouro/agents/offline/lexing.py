"""A criterion's sentence as tokens: quoted texts, paths, calls, names, numbers and known words."""

import keyword
import re
from collections.abc import Iterator

from msgspec import Struct

from ouro.agents.offline.calls import CALL_HEAD, Call, read_call
from ouro.agents.offline.quotes import quoted
from ouro.agents.offline.words import FILLER, LANGUAGES, LONGEST_PHRASE, NUMBERS, PHRASES

_SPACE = re.compile(r"\s+")
_SEPARATOR = re.compile(r"[,;:()–—]|\.(?=\s|$)")
_OPERATOR = re.compile(r"==|=>|->|>=|[=→⇒≥&]")
_COMMAND = re.compile(r"(?:python3? -m )?pytest(?: -[qv]+)*(?!\w|\.\w)")
_QUOTED_COMMAND = re.compile(r"(?:python3? -m )?pytest(?: -[qv]+)*(?: [\w./-]+\.py)?")
_PLURAL = re.compile(r"(test|file|function|case)\(s\)", re.IGNORECASE)
_NUMBER = re.compile(r"(\d{1,4})(\+?)(?![\w.]*\w)")
_CHUNK = re.compile(r"[^\s,;:()\"`“”„«»=→⇒≥]+")
_PATH = re.compile(r"(?:\.\.?/|/|~/)?(?:[\w.@+-]+/)*[\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,9}")
_NAMES_WITHOUT_ENDING = frozenset(
    "makefile dockerfile license gemfile rakefile procfile justfile".split()
)
_ENDINGS = frozenset(
    "py md txt rst go js mjs cjs jsx ts tsx rs java kt swift c h cc cpp hpp cs rb php pl lua sh"
    " bash zsh json yaml yml toml ini cfg conf env csv tsv sql html htm css scss xml svg proto"
    " gitignore editorconfig lock mod sum tf ipynb r jl ex exs hs scala dart vue svelte".split()
)
# Products that are written like files.
_NO_FILES = frozenset(
    f"{name}.js"
    for name in "node vue next nuxt react express three d3 socket chart ember backbone".split()
)
_SPELLINGS = {"are": "is", "be": "is"}


class Token(Struct, frozen=True):
    """`kind` is a keyword of `words`, or: T a quoted text, P a path, C a call, N a quoted name,
    R a command that runs pytest, I a number, L a language, W any other word, SEP punctuation.
    `quote` is the opening quotation mark, "" where there is none."""

    kind: str
    raw: str
    quote: str = ""
    call: Call | None = None

    @property
    def identifier(self) -> str | None:
        """The name that this token can be; None where it cannot name anything."""
        ok = self.raw.isidentifier() and not keyword.iskeyword(self.raw)
        return self.raw if ok and self.kind not in {"T", "C"} else None


def tokens(text: str) -> tuple[Token, ...]:
    """All of `text`, nothing dropped but blanks and filler words."""
    return tuple(_phrases(tuple(_lexemes(text))))


def _lexemes(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        if space := _SPACE.match(text, at):
            at = space.end()
            continue
        found, at = _lexeme(text, at)
        yield from found


def _lexeme(text: str, at: int) -> tuple[tuple[Token, ...], int]:
    for read in (_quote, _command, _call, _separator, _number, _operator):
        if hit := read(text, at):
            return hit
    match = _CHUNK.match(text, at)
    if not match:  # a quotation mark that nothing closes
        return (Token("W", text[at]),), at + 1
    return _chunk(match[0]), match.end()


Hit = tuple[tuple[Token, ...], int] | None


def _quote(text: str, at: int) -> Hit:
    start = at + 1 if text[at] in "fF" and text[at + 1 : at + 2] in {"'", '"'} else at
    hit = quoted(text, start)
    if hit is None:
        return None
    content, end = hit
    return _inside_quotes(content, text[start]), end


def _inside_quotes(content: str, mark: str) -> tuple[Token, ...]:
    if _QUOTED_COMMAND.fullmatch(content):
        return (Token("R", content, mark),)
    if _is_path(content):
        return (Token("P", content, mark),)
    if content.isidentifier():
        return (Token("N", content, mark),)
    call, end = read_call(content, 0) or (None, 0)
    if call and end == len(content):
        return (Token("C", content, mark, call),)
    if call and mark == "`" and content[end:].lstrip().startswith(("==", "->")):
        return tuple(_lexemes(content))
    return (Token("T", content, mark),)


def _command(text: str, at: int) -> Hit:
    match = _COMMAND.match(text, at)
    return ((Token("R", match[0]),), match.end()) if match else None


def _call(text: str, at: int) -> Hit:
    if plural := _PLURAL.match(text, at):
        return (Token("W", plural[1] + "s"),), plural.end()
    if not CALL_HEAD.match(text, at):
        return None
    hit = read_call(text, at)
    return ((Token("C", text[at : hit[1]], "", hit[0]),), hit[1]) if hit else None


def _separator(text: str, at: int) -> Hit:
    match = _SEPARATOR.match(text, at)
    return ((Token("SEP", match[0]),), match.end()) if match else None


def _operator(text: str, at: int) -> Hit:
    match = _OPERATOR.match(text, at)
    return ((Token("W", match[0]),), match.end()) if match else None


def _number(text: str, at: int) -> Hit:
    match = _NUMBER.match(text, at)
    if not match:
        return None
    more = (Token("ORMORE", "+"),) if match[2] else ()
    return (Token("I", match[1]), *more), match.end()


def _chunk(chunk: str) -> tuple[Token, ...]:
    word = chunk.rstrip(".!?") if chunk.strip(".!?") else chunk
    end = (Token("SEP", chunk[len(word) :]),) if word != chunk else ()
    owner = re.fullmatch(r"(.+)['’]s", word)
    if owner and _is_bare_path(owner[1]):
        return (Token("P", owner[1]), Token("HAS", "'s"), *end)
    return (Token("P" if _is_bare_path(word) else "W", word), *end)


def _is_path(text: str) -> bool:
    name = text.rpartition("/")[2].casefold()
    return bool(_PATH.fullmatch(text)) or name in _NAMES_WITHOUT_ENDING


def _is_bare_path(word: str) -> bool:
    """Without quotes only well-known endings make a path: `e.g`, `Node.js` and `app.run` do not."""
    lower = word.casefold()
    ending = lower.rpartition(".")[2]
    known = ending in _ENDINGS or lower in _NAMES_WITHOUT_ENDING
    return _is_path(word) and lower not in _NO_FILES and known


def _phrases(found: tuple[Token, ...]) -> Iterator[Token]:
    found = tuple(t for t in found if not (t.kind == "W" and t.raw.casefold() in FILLER))
    at = 0
    while at < len(found):
        token, length = _phrase(found, at)
        yield token
        at += length


def _phrase(found: tuple[Token, ...], at: int) -> tuple[Token, int]:
    """The longest phrase that begins at `at`, else the word there; and how many tokens it took."""
    words: list[str] = []
    for token in found[at : at + LONGEST_PHRASE]:
        if token.kind != "W":
            break
        words.append(_SPELLINGS.get(token.raw.casefold(), token.raw.casefold()))
    for length in range(len(words), 0, -1):
        if meaning := PHRASES.get(tuple(words[:length])):
            raw = " ".join(token.raw for token in found[at : at + length])
            return Token(meaning, raw), length
    return _word(found[at]), 1


def _word(token: Token) -> Token:
    lower = token.raw.casefold()
    if token.kind != "W":
        return token
    if lower in NUMBERS:
        return Token("I", str(NUMBERS[lower]))
    return Token("L", token.raw) if lower in LANGUAGES else token
