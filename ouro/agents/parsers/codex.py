"""codex, `exec --json`: one object a line."""

from ouro.agents.parsers.objects import Json, mapping, objects, text_at, total, whole
from ouro.agents.parsers.result import NO_HINTS, Hints, Parsed, classified, failed, reply, settled


def parse(stdout: str, stderr: str, code: int, hints: Hints = NO_HINTS) -> Parsed:
    """The last turn decides. `error` lines and items occur in runs that end well, so they only
    lend their words to a run that ended otherwise."""
    text, error, turn = "", "", ""
    usages: list[Json] = []
    for found in objects(stdout):
        match found.get("type"):
            case "item.completed" if text_at(found, "item", "type") == "agent_message":
                text = text_at(found, "item", "text")
            case "turn.completed":
                turn = "completed"
                usages.append(mapping(found, "usage"))
            case "turn.failed":
                turn, error = "failed", text_at(found, "error", "message") or error
            case "error":
                error = text_at(found, "message") or error
    parsed = reply(
        text,
        # What came from a cache is counted in `input_tokens` already.
        put_in=total(whole(usage, "input_tokens") for usage in usages),
        put_out=total(whole(usage, "output_tokens") for usage in usages),
    )
    if turn == "failed" or (code > 0 and error):
        return failed(parsed, classified(None, error), error or "the turn failed")
    return settled(parsed, stderr, code, hints)
