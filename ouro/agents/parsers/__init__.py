"""How the reply of a coding agent is read: pure functions from what it printed to `Parsed`.

A parser never raises and never guesses from the text of the work. What a client does not say is
None.
"""

from collections.abc import Mapping

from ouro.agents.parsers import claude, codex, copilot, gemini, opencode, plain
from ouro.agents.parsers.result import Hints, Parsed, Parser, Pattern, pattern
from ouro.agents.presets import Preset

__all__ = ["PARSERS", "Hints", "Parsed", "Parser", "Pattern", "pattern", "read_reply"]

PARSERS: Mapping[str, Parser] = {
    "raw": plain.parse,
    "aider": plain.parse_aider,
    "claude": claude.parse,
    "codex": codex.parse,
    "copilot": copilot.parse,
    "gemini": gemini.parse,
    "llm": plain.parse_llm,
    "opencode": opencode.parse,
}
"""The name in a preset -> its parser."""


def read_reply(
    preset: Preset | None, stdout: str, stderr: str, code: int, patterns: tuple[Pattern, ...] = ()
) -> Parsed:
    """The reply of `preset`'s client (None: of any other command); `patterns` are the user's."""
    if preset is None:
        return plain.parse(stdout, stderr, code, Hints(patterns=patterns))
    exits = {number: (known.kind, known.meaning) for number, known in preset.exits.items()}
    return PARSERS[preset.parser](stdout, stderr, code, Hints(exits=exits, patterns=patterns))
