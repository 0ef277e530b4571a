"""opencode, `run --format json`: one object a line."""

import re

from ouro.agents.parsers.objects import (
    Json,
    amount,
    mapping,
    objects,
    text_at,
    total,
    total_amount,
    whole,
)
from ouro.agents.parsers.result import (
    NO_HINTS,
    Hints,
    Parsed,
    classified,
    failed,
    moment,
    reply,
    settled,
)
from ouro.core.brief import FailureKind

_BROKEN = {"unknown": "the answer broke off", "length": "the answer reached the limit of tokens"}


def parse(stdout: str, stderr: str, code: int, hints: Hints = NO_HINTS) -> Parsed:
    """The final text is what the last message said after its last tool; an error after it, or an
    answer that did not end, is a failure even at exit 0."""
    said = _Said()
    for found in objects(stdout):
        said.hear(found)
    parsed = reply(
        "".join(said.texts),
        put_in=total(whole(t, *path) for t in said.tokens for path in _INPUT),
        put_out=total(whole(t, name) for t in said.tokens for name in _OUTPUT),
        cost=total_amount(said.costs),
        denials=said.denials,
    )
    if said.error:
        return _problem(parsed, said.error)
    if code == 0 and said.reason in _BROKEN:
        kind = FailureKind.OVERLOADED if said.reason == "unknown" else FailureKind.AGENT_ERROR
        return failed(parsed, kind, _BROKEN[said.reason])
    return settled(parsed, stderr, code, hints)


_INPUT = (("input",), ("cache", "read"), ("cache", "write"))
_OUTPUT = ("output", "reasoning")


class _Said:
    """What the lines so far add up to."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.tokens: list[Json] = []
        self.costs: list[float | None] = []
        self.denials: list[str] = []
        self.error: Json = {}
        self.reason = ""
        self._message = ""

    def hear(self, found: Json) -> None:
        part = mapping(found, "part")
        match found.get("type"):
            case "text":
                self._text(part)
            case "tool_use":
                self.texts.clear()
                self._tool(part)
            case "step_finish":
                self.tokens.append(mapping(part, "tokens"))
                self.costs.append(amount(part, "cost"))
                self.reason, self.error = text_at(part, "reason"), {}
            case "error":
                self.error = found

    def _text(self, part: Json) -> None:
        if (message := text_at(part, "messageID")) != self._message:
            self.texts.clear()
            self._message = message
        self.texts.append(text_at(part, "text"))

    def _tool(self, part: Json) -> None:
        error = text_at(part, "state", "error")
        if "rule which prevents" in error or "rejected permission" in error:
            self.denials.append(text_at(part, "tool") or "a tool")


def _problem(parsed: Parsed, found: Json) -> Parsed:
    data = mapping(found, "error", "data")
    name = text_at(found, "error", "name")
    message = text_at(data, "message") or name or "an error without a word"
    kind = classified(whole(data, "statusCode"), message)
    if name == "ProviderAuthError":
        kind = FailureKind.AUTH
    limited = kind is FailureKind.RATE_LIMITED
    return failed(parsed, kind, message, resets_at=_resets_at(found, data) if limited else None)


def _resets_at(found: Json, data: Json) -> str | None:
    """When the server said to come again: so long after the time of the line."""
    headers = {str(k).lower(): v for k, v in mapping(data, "responseHeaders").items()}
    after = text_at(headers, "retry-after").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", after):
        said_at = amount(found, "timestamp")
        return None if said_at is None else moment(said_at / 1000 + float(after))
    from email.utils import parsedate_to_datetime

    try:
        return moment(parsedate_to_datetime(after).timestamp())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
