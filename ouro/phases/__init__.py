"""The phases, pure: from the folded state to a request, from the reply to facts for the log."""

from collections.abc import Mapping

from ouro.phases.text import one_line

Prompts = Mapping[str, str]
"""Template name (`wonder`, `reply/wonder`, `personas/hacker`, …) -> its text. The package's own are
`ouro/prompts/<name>.md`; every name that is there has to be in the mapping."""


class BadReply(Exception):
    """A reply that does not fit; the message is one line that tells the agent what did not."""

    def __init__(self, problem: str) -> None:
        super().__init__(one_line(problem, 400))
