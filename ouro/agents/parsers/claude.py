"""claude, `--output-format stream-json`: one object a line; `json`: one alone, or an array."""

import re

from ouro.agents.parsers.objects import (
    Json,
    amount,
    inside,
    items,
    mapping,
    objects,
    text_at,
    total,
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

_LIMITS = {
    "error_max_turns": "the limit of turns is reached",
    "error_max_budget_usd": "the limit of cost is reached",
}
_OLD_LIMIT = re.compile(r"[\w ]*limit reached\|(\d{9,11})")
"""How earlier versions told of a limit: with the second at which it is lifted."""


def parse(stdout: str, stderr: str, code: int, hints: Hints = NO_HINTS) -> Parsed:
    """An API error still has `subtype` "success": `is_error` and the status tell."""
    result: Json = {}
    limit: Json = {}
    model = ""
    for found in objects(stdout):
        match found.get("type"):
            case "result":
                result = found
            case "system":
                model = text_at(found, "model") or model
            case "rate_limit_event":
                limit = mapping(found, "rate_limit_info")
    parsed = _reply(result, model)
    if result.get("is_error") is True or text_at(result, "subtype").startswith("error"):
        return _problem(parsed, result, limit)
    return settled(parsed, stderr, code, hints)


def _reply(result: Json, model: str) -> Parsed:
    models = {name: m for name, m in mapping(result, "modelUsage").items() if isinstance(m, dict)}
    if models:
        # `usage` leaves out the last request of some runs, and other models than the main one.
        put_in = [whole(m, name) for m in models.values() for name in _MODEL_INPUT]
        put_out = [whole(m, "outputTokens") for m in models.values()]
    else:
        put_in = [whole(result, "usage", name) for name in _INPUT]
        put_out = [whole(result, "usage", "output_tokens")]
    return reply(
        text_at(result, "result"),
        put_in=total(put_in),
        put_out=total(put_out),
        model=_main(models) or model,
        cost=amount(result, "total_cost_usd"),
        denials=[_denial(d) for d in items(result, "permission_denials")],
    )


_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_MODEL_INPUT = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")


def _main(models: Json) -> str:
    """The model that wrote most: small ones do side work."""
    names = sorted(models, key=lambda name: whole(models, name, "outputTokens") or 0)
    return names[-1] if names else ""


def _denial(denial: Json) -> str:
    name = text_at(denial, "tool_name") or "a tool"
    about = text_at(denial, "tool_input", "file_path") or text_at(denial, "tool_input", "command")
    return f"{name}: {about}" if about else name


def _problem(parsed: Parsed, result: Json, limit: Json) -> Parsed:
    errors = inside(result, "errors")
    listed = [e for e in errors if isinstance(e, str)] if isinstance(errors, list) else []
    said = parsed.text or "; ".join(listed)
    subtype = text_at(result, "subtype")
    if subtype in _LIMITS:
        message = f"{_LIMITS[subtype]} ({said})" if said else _LIMITS[subtype]
        return failed(parsed, FailureKind.AGENT_ERROR, message)
    if old := _OLD_LIMIT.fullmatch(said.strip()):
        resets_at = moment(float(old[1]))
        return failed(parsed, FailureKind.RATE_LIMITED, "limit reached", resets_at=resets_at)
    kind = classified(whole(result, "api_error_status"), said)
    resets_at = moment(amount(limit, "resetsAt")) if kind is FailureKind.RATE_LIMITED else None
    return failed(parsed, kind, said or subtype or "an error without a word", resets_at=resets_at)
