"""What judging one demand found."""

import json

from msgspec import Struct

from ouro.agents.offline.calls import Value

_LONGEST = 160


class Finding(Struct, frozen=True):
    """`met` None: it could not be established either way."""

    met: bool | None
    text: str


def shown(value: Value) -> str:
    """A value for people: one line, cut where it is long, no lone surrogates."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def combined(findings: list[Finding]) -> Finding:
    """All of them as one: a demand that is not met decides, then one that is not known."""
    for wanted in (False, None):
        found = [finding for finding in findings if finding.met is wanted]
        if found:
            return Finding(wanted, "; ".join(finding.text for finding in found))
    return Finding(True, "; ".join(dict.fromkeys(finding.text for finding in findings)))
