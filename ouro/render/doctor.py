"""What the doctor fixed and found."""

from __future__ import annotations

from ouro.app.doctor import Examined
from ouro.render.screen import printable


def examined_text(one: Examined) -> str:
    """A line for each thing, with what to do below it."""
    lines = [f"fixed    {text}" for text in one.fixed]
    for found in one.findings:
        lines.append(f"{found.level:<8} {found.about}: {found.text}")
        lines += [f"         {found.advice}"] if found.advice else []
        lines += [f"         --fix would {found.fix}"] if found.fix else []
    return printable("\n".join(lines))
