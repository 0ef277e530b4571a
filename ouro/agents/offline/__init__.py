"""The built-in agent: deterministic rules, no model. It does what criteria name literally, checks
what it can establish, and says of everything else that it cannot.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ouro.agents import Call
from ouro.agents.offline.limits import Limits
from ouro.core.brief import Brief, FailureKind, Phase, Problem, Reply, Request
from ouro.core.events import Usage
from ouro.core.seed import Seed

__all__ = ["Limits", "OfflineAgent", "uncovered"]


def uncovered(seed: Seed) -> tuple[str, ...]:
    """The ids of criteria that no rule both writes and checks, in the seed's order. Pure.

    Whatever rules write they can check too; so this is what no rule writes. A `verify_command`
    counts for nothing here: it checks, but nothing tells how to write what it wants.
    """
    from ouro.agents.offline.plan import plan_for

    plan = plan_for(seed)
    return tuple(c.id for c in seed.acceptance_criteria if plan.trouble(c.id))


class OfflineAgent:
    """Satisfies `ouro.agents.Agent`. It reads a request's brief and never its prompt.

    `environment` is that of the processes it starts to judge; `limits` are theirs, in seconds.
    """

    name = "offline"

    def __init__(self, environment: Mapping[str, str], limits: Limits | None = None) -> None:
        self._environment = dict(environment)
        self._limits = limits or Limits()

    def call(self, phase: Phase, prompt: str | None) -> Call:
        return Call(agent=self.name)

    def run(self, request: Request, workspace: Path, mark: str) -> Reply:
        """The reply in the format that every agent uses; the same request and tree give the same
        text. Only `execute` writes, only `evaluate` starts processes."""
        start = time.monotonic()
        text, problem = "", None
        try:
            text = self._text(request.brief, workspace, mark)
        except OSError as error:
            problem = Problem(kind=FailureKind.AGENT_ERROR, message=f"offline: {error}")
        usage = Usage(
            agent="offline",
            model="rules, no model",
            input_tokens=0,
            output_tokens=0,
            cost=0.0,
            seconds=round(time.monotonic() - start, 6),
        )
        return Reply(text=text, usage=usage, problem=problem)

    def _text(self, brief: Brief, workspace: Path, mark: str) -> str:
        from ouro.agents.offline import replies

        match brief.phase:
            case Phase.WONDER:
                return _json(replies.wonder(brief))
            case Phase.REFLECT:
                return _json(replies.reflect(brief))
            case Phase.EXECUTE:
                return _execute(brief, workspace)
            case Phase.EVALUATE:
                return _json(self._evaluate(brief, workspace, mark))
            case Phase.QA:
                return _json(replies.qa(brief))

    def _evaluate(self, brief: Brief, workspace: Path, mark: str) -> dict[str, Any]:
        from ouro.agents.offline.children import Children
        from ouro.agents.offline.judge import Judge
        from ouro.agents.offline.plan import plan_for

        children = Children(workspace, self._environment, mark, self._limits)
        judge = Judge(plan_for(brief.seed), children)
        return {"criteria": [judge.verdict(name) for name in dict.fromkeys(brief.asked)]}


def _execute(brief: Brief, workspace: Path) -> str:
    from ouro.agents.offline.plan import plan_for
    from ouro.agents.offline.writer import write

    return write(plan_for(brief.seed), workspace)


def _json(reply: dict[str, Any]) -> str:
    return msgspec.json.encode(reply).decode()
