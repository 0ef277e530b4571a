"""Which agent serves: the one that was named, else the offline rules where they suffice."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ouro.agents import Agent
from ouro.errors import UsageProblem

if TYPE_CHECKING:
    from ouro.app.session import Session
    from ouro.core.lineage import Lineage
    from ouro.core.seed import Seed

OFFLINE = "offline"
KNOWN = ("claude", "codex", "gemini", "opencode", "qwen", "pi", "copilot", "aider", "llm")
"""Programs looked for on PATH when none was named."""


def choose(session: Session, seed: Seed, lineage: Lineage | None) -> Agent:
    named = session.config.settings.agent
    if named is None:
        _refuse_silent_choice(seed, lineage)
        named = OFFLINE
    if named == OFFLINE:
        from ouro.agents.offline import OfflineAgent

        return OfflineAgent(session.environment)
    from ouro.agents.command import CommandAgent

    return CommandAgent(
        named,
        environment=session.environment,
        output=session.state / "output",
        limits=session.limits(),
        watch=session.watch("agent"),
        started_in=session.started_in,
    )


def _refuse_silent_choice(seed: Seed, lineage: Lineage | None) -> None:
    """Without a word from the user only the offline rules may serve, and only where they can."""
    from ouro.agents.offline import uncovered

    others = [name for name in lineage.agents if name != OFFLINE] if lineage else []
    if others:
        raise UsageProblem(
            f"this lineage was last served by {others[-1]}, and no agent is named",
            f"name one: --agent {others[-1]} (or its command line), or --agent offline{_found()}",
        )
    if lineage and lineage.agents:
        return
    open_ends = uncovered(seed)
    if open_ends:
        raise UsageProblem(
            f"no agent is named, and the offline rules cannot meet {', '.join(open_ends)}",
            f"name one: --agent COMMAND, or try what the rules can do: --agent offline{_found()}",
        )


def _found() -> str:
    installed = [name for name in KNOWN if shutil.which(name)]
    return f"; installed here: {', '.join(installed)}" if installed else ""
