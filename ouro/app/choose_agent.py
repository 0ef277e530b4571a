"""Which agent serves: the one that was named, else the offline rules where they suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ouro.agents import Agent
from ouro.errors import UsageProblem

if TYPE_CHECKING:
    from ouro.app.session import Session
    from ouro.core.lineage import Lineage
    from ouro.core.seed import Seed

OFFLINE = "offline"


def choose(session: Session, seed: Seed, lineage: Lineage | None) -> Agent:
    """Raises UsageProblem where no agent may serve, or where the settings cannot be met."""
    settings = session.config.settings
    named = settings.agent
    if named is None:
        _refuse_silent_choice(seed, lineage)
        named = OFFLINE
    default = _agent(session, named)
    if not settings.agents:
        return default
    from ouro.agents.command import PhaseAgents

    others = {phase: _agent(session, name) for phase, name in settings.agents.items()}
    return PhaseAgents(default, others)


def _agent(session: Session, named: str) -> Agent:
    if named == OFFLINE:
        from ouro.agents.offline import OfflineAgent

        return OfflineAgent(session.environment)
    from ouro.agents.command import CommandAgent, Ground
    from ouro.agents.parsers import pattern
    from ouro.agents.presets import Choice

    settings = session.config.settings
    choice = Choice(
        model=settings.model,
        max_turns=settings.max_turns,
        max_budget=settings.max_budget,
        extra=settings.agent_args,
        everything=settings.allow_everything,
    )
    ground = Ground(
        environment=session.environment,
        output=session.state / "output",
        limits=session.limits(),
        watch=session.watch(named.split(" ", 1)[0]),
        started_in=session.started_in,
        patterns=tuple(
            pattern(expression, kind)
            for kind, expressions in settings.patterns.items()
            for expression in expressions
        ),
    )
    return CommandAgent(named, choice, ground)


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
    from ouro.agents.command import installed

    names = ", ".join(preset.name for preset in installed())
    return f"; installed here: {names}" if names else ""
