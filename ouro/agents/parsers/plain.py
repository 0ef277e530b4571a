"""Clients whose stdout is the reply: any command, and two that tell a little more."""

import re

from ouro.agents.parsers.objects import clean
from ouro.agents.parsers.result import NO_HINTS, Hints, Parsed, failed, reply, settled
from ouro.core.brief import FailureKind


def parse(stdout: str, stderr: str, code: int, hints: Hints = NO_HINTS) -> Parsed:
    """Any command: its text is never searched for errors, it may well speak of rate limits."""
    return settled(reply(clean(stdout)), stderr, code, hints)


# --- llm, `-u` ---------------------------------------------------------------------------------

_LLM_USAGE = re.compile(
    r"^Token usage: (?:([\d,]{1,19}) input)?(?:, )?(?:([\d,]{1,19}) output)?", re.MULTILINE
)


def parse_llm(stdout: str, stderr: str, code: int, hints: Hints = NO_HINTS) -> Parsed:
    """`Token usage: 1,234 input, 56 output` is a line of stderr."""
    put_in = put_out = None
    for found in _LLM_USAGE.finditer(stderr):
        put_in, put_out = _count(found[1]), _count(found[2])
    parsed = reply(clean(stdout), put_in=put_in, put_out=put_out)
    return settled(parsed, stderr, code, hints)


def _count(digits: str | None) -> int | None:
    bare = (digits or "").replace(",", "")
    return int(bare) if bare and len(bare) <= 15 else None


# --- aider -------------------------------------------------------------------------------------

_HEAD = re.compile(r"\A.*?^Repo-map: [^\n]*\n", re.MULTILINE | re.DOTALL)
_USED = re.compile(
    # The bounds keep a long line of the work from costing the square of its length.
    r"^Tokens: ([\d.,]{1,12}[kM]?) sent,[^\n]{0,99}? ([\d.,]{1,12}[kM]?) received\."
    r"(?:[^\n]{0,99}\$([\d.,]{1,15}) session\.)?[^\n]{0,99}$",
    re.MULTILINE,
)
_LITELLM = re.compile(r"^litellm\.(\w{1,60}): *([^\n]*)", re.MULTILINE)
_EMPTY = "Empty response received from LLM."
_KINDS = {
    "AuthenticationError": FailureKind.AUTH,
    "PermissionDeniedError": FailureKind.AUTH,
    "RateLimitError": FailureKind.RATE_LIMITED,
    "APIConnectionError": FailureKind.OVERLOADED,
    "InternalServerError": FailureKind.OVERLOADED,
    "ServiceUnavailableError": FailureKind.OVERLOADED,
    "BadGatewayError": FailureKind.OVERLOADED,
    "Timeout": FailureKind.OVERLOADED,
}


def parse_aider(stdout: str, stderr: str, code: int, hints: Hints = NO_HINTS) -> Parsed:
    """It exits 0 whatever happened. A line of the library that it asks models with is an error,
    unless a line that counts tokens comes after it: then it tried again and got an answer."""
    stdout = clean(stdout)
    used = list(_USED.finditer(stdout))
    text = _HEAD.sub("", _USED.sub("", stdout)).strip()
    parsed = reply(
        "" if text.startswith(_EMPTY) else text,
        put_in=_rounded(used[-1][1]) if used else None,
        put_out=_rounded(used[-1][2]) if used else None,
        cost=_dollars(used[-1][3]) if used else None,
    )
    after = used[-1].end() if used else 0
    for error in reversed(list(_LITELLM.finditer(stdout, after))):
        kind = _KINDS.get(error[1], FailureKind.AGENT_ERROR)
        return failed(parsed, kind, f"{error[1]}: {error[2]}")
    return settled(parsed, stderr, code, hints)


def _rounded(count: str) -> int | None:
    """`1.2k` is all that it tells of 1234."""
    factor = {"k": 1_000, "M": 1_000_000}.get(count[-1], 1)
    number = _dollars(count.rstrip("kM"))
    return None if number is None else round(number * factor)


def _dollars(digits: str | None) -> float | None:
    try:
        return float((digits or "").replace(",", ""))
    except ValueError:
        return None
