"""What every parser hands back, and the rule by which a call counts as a success."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from ouro.agents.parsers.objects import clean, objects, text_at
from ouro.core.brief import FailureKind
from ouro.errors import UsageProblem


class Parsed(Struct, frozen=True, kw_only=True):
    """A reply as read. None is "the client does not say", never 0. Cost in USD.

    `input_tokens` counts all that went in, read from a cache or not. `problem` None: the call
    succeeded, and then `text` is not empty. `message` is one line for people, without the client's
    name; `guessed` says that it was classified by a pattern on stderr, as the message says too.
    `resets_at` is UTC, ISO 8601. `denials` name the tools that the client was not allowed to use.
    """

    text: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    cost: float | None = None
    problem: FailureKind | None = None
    message: str = ""
    guessed: bool = False
    resets_at: str | None = None
    denials: tuple[str, ...] = ()


class Pattern(Struct, frozen=True):
    """Words on stderr that tell a kind of failure: a regular expression, whatever the case."""

    expression: str
    kind: FailureKind


class Hints(Struct, frozen=True, kw_only=True):
    """What helps to classify a failure that the client did not put in a structure: what its exit
    codes mean, and patterns of the user's own, which come before the known ones."""

    exits: Mapping[int, tuple[FailureKind, str]] = {}
    patterns: tuple[Pattern, ...] = ()


Parser = Callable[[str, str, int, Hints], Parsed]
"""stdout, stderr and exit code (negative: a signal's number) -> the reply. Pure; never raises."""

NO_HINTS = Hints()

LONGEST_MESSAGE = 300
"""Characters of a message."""

_LAST_LINES = 40
"""So many lines of stderr are looked at, the last ones: an error that ended a client is there."""
_LONGEST_LINE = 4_000

_KNOWN = (
    Pattern(
        r"rate.?limit|too many requests|quota (?:is )?(?:exceeded|exhausted)|insufficient.quota"
        r"|exceeded your (?:current )?quota|usage limit|credit balance|resource.exhausted",
        FailureKind.RATE_LIMITED,
    ),
    Pattern(
        r"not logged in|(?:invalid|incorrect|missing|no) (?:x-)?api.key|authentication.?error"
        r"|invalid auth|unauthorized|(?:failed|unable|not able) to authenticate|please log ?in"
        r"|api.key (?:is )?(?:not|missing|invalid)|missing environment variable: .*key",
        FailureKind.AUTH,
    ),
    Pattern(
        r"overloaded|high demand|service unavailable|internal server error|bad gateway"
        r"|gateway time-?out|stream (?:disconnected|ended|closed)"
        r"|connection (?:error|refused|reset|to the api was lost)"
        r"|\b(?:ECONNRESET|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOTFOUND)\b",
        FailureKind.OVERLOADED,
    ),
)
_STATUS = re.compile(
    r"(?:\bstatus(?: code)?:? |\bAPI Error: |\bHTTP |\(|^)([45]\d\d)\b", re.IGNORECASE
)


def reply(
    text: str,
    *,
    put_in: int | None = None,
    put_out: int | None = None,
    cost: float | None = None,
    model: str = "",
    denials: Sequence[str] = (),
) -> Parsed:
    """What a client said, before anything is known of problems.

    Clients say 0 where nothing was counted: no call takes in nothing, and a model without a known
    price is not free. Both are unknown.
    """
    return Parsed(
        text=text,
        input_tokens=put_in or None,
        output_tokens=put_out if put_in or put_out else None,
        model=one_line(model) or None,
        cost=cost or None,
        denials=tuple(one_line(denial) for denial in denials),
    )


# --- the rule ----------------------------------------------------------------------------------


def settled(parsed: Parsed, stderr: str, code: int, hints: Hints) -> Parsed:
    """`parsed` with its problem, where the parser itself saw none: a call succeeded when it exited
    0 and its final text is not empty."""
    if parsed.problem is None and code != 0:
        return _failed(parsed, stderr, code, hints)
    if parsed.problem is None and not parsed.text.strip():
        return _failed(parsed, stderr, 0, hints)
    return parsed


def _failed(parsed: Parsed, stderr: str, code: int, hints: Hints) -> Parsed:
    if code in hints.exits:
        kind, meaning = hints.exits[code]
        return failed(parsed, kind, f"{how_it_ended(code)}: {meaning}")
    lines = [line for line in stderr.splitlines() if line.strip()][-_LAST_LINES:]
    for line in reversed(lines):
        if kind_seen := kind_of_words(line, hints.patterns):
            message = f"{how_it_ended(code)}; a guess from stderr: {one_line(line)}"
            return failed(parsed, kind_seen, message, guessed=True)
    last = f": {one_line(lines[-1])}" if lines else ""
    return failed(parsed, FailureKind.AGENT_ERROR, f"{how_it_ended(code)}{last}")


def failed(
    parsed: Parsed,
    kind: FailureKind,
    message: str,
    *,
    guessed: bool = False,
    resets_at: str | None = None,
) -> Parsed:
    """`parsed` with this problem."""
    return replace(
        parsed, problem=kind, message=one_line(message), guessed=guessed, resets_at=resets_at
    )


def how_it_ended(code: int) -> str:
    """An exit code in words."""
    if code == 0:
        return "exited 0 without a reply"
    return f"failed, exit {code}" if code > 0 else f"failed, signal {-code}"


# --- kinds -------------------------------------------------------------------------------------


def classified(status: int | None, message: str) -> FailureKind:
    """The kind of an error that a client reports in a structure, by HTTP status and its message."""
    words = kind_of_words(message, ())
    # Some answer 400 or 403 where a limit is reached; what they say goes before the number.
    if status in {400, 403} and words is not None:
        return words
    return kind_of_status(status) or words or FailureKind.AGENT_ERROR


def kind_of_status(status: int | None) -> FailureKind | None:
    """What an HTTP status says by itself."""
    match status:
        case 401 | 403:
            return FailureKind.AUTH
        case 402 | 429:
            return FailureKind.RATE_LIMITED
        case 408:
            return FailureKind.OVERLOADED
        case int() if 500 <= status <= 599:
            return FailureKind.OVERLOADED
        case _:
            return None


def kind_of_words(line: str, patterns: tuple[Pattern, ...]) -> FailureKind | None:
    """What the words of an error say; the given patterns come first."""
    line = line[:_LONGEST_LINE]
    if kind := _first(patterns, line):
        return kind
    if (found := _STATUS.search(line)) and (kind := kind_of_status(int(found[1]))):
        return kind
    return _first(_KNOWN, line)


def _first(patterns: tuple[Pattern, ...], line: str) -> FailureKind | None:
    fits = (p.kind for p in patterns if re.search(p.expression, line, re.IGNORECASE))
    return next(fits, None)


def pattern(expression: str, kind: str) -> Pattern:
    """A user's own pattern. Raises UsageProblem where it cannot be one."""
    try:
        re.compile(expression)
    except re.error as problem:
        raise UsageProblem(f"pattern {expression!r}: {problem}", "check the expression") from None
    try:
        return Pattern(expression, FailureKind(kind))
    except ValueError:
        known = ", ".join(FailureKind)
        raise UsageProblem(
            f"pattern {expression!r}: unknown kind {kind!r}", f"one of: {known}"
        ) from None


# --- texts and times ---------------------------------------------------------------------------


def one_line(text: str) -> str:
    """`text` on one line, not too long; of a message that is JSON again, the message inside."""
    for inner in objects(text):
        text = text_at(inner, "error", "message") or text_at(inner, "message") or text
        break
    line = " ".join(clean(text).split())
    return line if len(line) <= LONGEST_MESSAGE else f"{line[: LONGEST_MESSAGE - 1]}…"


def moment(seconds: float | None) -> str | None:
    """Seconds since 1970 as UTC, ISO 8601; None where that is no time."""
    if seconds is None:
        return None
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
