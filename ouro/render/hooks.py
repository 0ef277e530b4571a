"""A hook in a line."""

from __future__ import annotations

from ouro.git.hooks import Hook, State
from ouro.render.screen import printable

_STATES = {
    State.ABSENT: "not installed",
    State.OTHER: "a hook of yours, without ouro's",
    State.INSTALLED: "installed",
    State.OLDER: "installed by another ouro; install it again to renew it",
    State.EDITED: "changed since ouro installed it",
}


def hook_line(one: Hook) -> str:
    text = f"{one.name:<12} {_STATES[one.state]}  {one.path}"
    if one.ouro:
        text += f"  (verifies with {one.ouro}{'' if one.runs else ', which is gone'})"
    return printable(text + (f"  after {one.before.name}" if one.before else ""))
