"""copilot, `--output-format json`: one object a line."""

from ouro.agents.parsers.objects import Json, mapping, objects, text_at, whole
from ouro.agents.parsers.result import (
    NO_HINTS,
    Hints,
    Parsed,
    classified,
    failed,
    reply,
    settled,
)


def parse(stdout: str, stderr: str, code: int, hints: Hints = NO_HINTS) -> Parsed:
    """A `session.error` counts unless a message came after it: it tries again by itself."""
    text, model = "", ""
    error: Json = {}
    tools: dict[str, str] = {}
    denials: list[str] = []
    for found in objects(stdout):
        data = mapping(found, "data")
        match found.get("type"):
            case "assistant.message" if text_at(data, "content").strip():
                text, model, error = text_at(data, "content"), text_at(data, "model"), {}
            case "session.error":
                error = data
            case "tool.execution_start":
                tools[text_at(data, "toolCallId")] = text_at(data, "toolName")
            case "tool.execution_complete" if text_at(data, "error", "code") == "denied":
                denials.append(tools.get(text_at(data, "toolCallId")) or "a tool")
    parsed = reply(text, model=model, denials=denials)
    if error:
        message = text_at(error, "message") or text_at(error, "errorType") or "an error"
        return failed(parsed, classified(whole(error, "statusCode"), message), message)
    return settled(parsed, stderr, code, hints)
