"""gemini, `-o json`: one object on stdout, or one with an error at the end of stderr."""

from ouro.agents.parsers.objects import Json, mapping, objects, text_at, total, whole
from ouro.agents.parsers.result import (
    NO_HINTS,
    Hints,
    Parsed,
    classified,
    failed,
    reply,
    settled,
)
from ouro.core.brief import FailureKind


def parse(stdout: str, stderr: str, code: int, hints: Hints = NO_HINTS) -> Parsed:
    """An answer that broke off exits 0 and has its error on stdout."""
    said: Json = {}
    for found in objects(stdout):
        if "response" in found or "error" in found:
            said = found
    parsed = _reply(said)
    error = mapping(said, "error")
    for found in objects(stderr) if code != 0 else ():
        error = mapping(found, "error") or error
    if error:
        return _problem(parsed, error, hints)
    return settled(parsed, stderr, code, hints)


def _reply(said: Json) -> Parsed:
    models = mapping(said, "stats", "models")
    tokens = [mapping(model, "tokens") for model in models.values()]
    names = sorted(models, key=lambda name: whole(models, name, "tokens", "candidates") or 0)
    return reply(
        text_at(said, "response"),
        put_in=total(whole(count, "prompt") for count in tokens),
        # Thoughts are paid for as output, and counted beside the candidates.
        put_out=total(whole(count, name) for count in tokens for name in _OUTPUT),
        model=names[-1] if names else "",
    )


_OUTPUT = ("candidates", "thoughts")


def _problem(parsed: Parsed, error: Json, hints: Hints) -> Parsed:
    message = text_at(error, "message") or text_at(error, "type") or "an error without a word"
    code = whole(error, "code")
    # `code` is an HTTP status, or one of its own exit codes.
    kind, meaning = hints.exits.get(code or 0, (classified(code, message), ""))
    if text_at(error, "type") == "INVALID_STREAM":
        kind = FailureKind.OVERLOADED
    return failed(parsed, kind, f"{meaning}: {message}" if meaning else message)
