"""Repair: one more try after a reply that did not fit."""

from msgspec.structs import replace

from ouro.core.brief import Request
from ouro.phases import Prompts
from ouro.phases.template import fill
from ouro.phases.text import clean, cut, material, one_line

LONGEST_REPLY = 8_000


def request(failed: Request, reply_text: str, problem: str, prompts: Prompts) -> Request:
    """`failed` again (the agent starts fresh and has forgotten it), then what was wrong with
    its reply, that reply, and the format. `problem` is the message of the BadReply."""
    values = {
        "problem": one_line(problem, 500),
        "reply": material(cut(clean(reply_text).strip(), LONGEST_REPLY)),
        "reply_format": prompts[f"reply/{failed.brief.phase}"].strip(),
    }
    again = fill(prompts["repair"], values)
    return replace(failed, prompt=f"{failed.prompt.rstrip()}\n\n{again}")
