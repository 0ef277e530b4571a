"""What a failure leads to: another try after a pause that the log remembers, or a person."""

from datetime import UTC, datetime, timedelta

from ouro.core.brief import FailureKind, Problem
from ouro.core.events import EvolveStepFailed, Usage
from ouro.core.lineage import Lineage
from ouro.core.policy import Policy

FIRST_PAUSE = 2.0
GROWTH = 4.0
LONGEST_PAUSE = 900.0
"""Seconds: 2, 8, 32, 128, 512, then 15 minutes each."""

_FINAL = frozenset({FailureKind.AUTH, FailureKind.NOT_FOUND, FailureKind.GIT})


def timestamp(moment: datetime) -> str:
    """UTC with microseconds, as in `Event.at`: such texts sort by time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def failure(
    lineage: Lineage,
    phase: str,
    problem: Problem,
    now: datetime,
    rescue: str | None,
    usage: Usage | None,
) -> EvolveStepFailed:
    """The event for `problem`, with the time of the next try where there is to be one."""
    limited = problem.kind is FailureKind.RATE_LIMITED
    attempt = attempts(lineage, problem.kind)
    return EvolveStepFailed(
        phase=phase,
        kind=problem.kind,
        message=problem.message,
        attempt=attempt,
        retry_at=_limit_ends(lineage, problem, now)
        if limited
        else _next_try(lineage, problem, attempt, now),
        rescue=rescue,
        usage=usage,
    )


def attempts(lineage: Lineage, kind: str) -> int:
    """How many failures in a row one more of that `kind` makes: a limit is none."""
    return lineage.failures + (0 if kind == FailureKind.RATE_LIMITED else 1)


def is_final(kind: str, attempt: int, policy: Policy) -> bool:
    """Whether a failure that is no limit needs a person."""
    return kind in _FINAL or attempt >= policy.max_failures


def _next_try(lineage: Lineage, problem: Problem, attempt: int, now: datetime) -> str | None:
    if is_final(problem.kind, attempt, lineage.policy):
        return None
    return timestamp(now + timedelta(seconds=pause(attempt)))


def pause(attempt: int) -> float:
    """Seconds before try number `attempt` + 1."""
    return float(min(FIRST_PAUSE * GROWTH ** min(attempt - 1, 10), LONGEST_PAUSE))


def _limit_ends(lineage: Lineage, problem: Problem, now: datetime) -> str | None:
    """When a limit is tried again; None once the waiting would exceed what the policy allows."""
    since = datetime.fromisoformat(lineage.limited_since) if lineage.limited_since else now
    waited = (now - since).total_seconds()
    # The row of limits so far grows the pause: the longer it lasts, the rarer it is asked again.
    later = now + timedelta(seconds=min(max(30.0, waited), LONGEST_PAUSE))
    told = _told(problem)
    # A time that has passed tells nothing: to trust it would be to ask without a pause.
    again = told if told and told > now else later
    if (again - since).total_seconds() > lineage.policy.max_limit_wait:
        return None
    return timestamp(again)


def _told(problem: Problem) -> datetime | None:
    """When the agent said that its limit ends; None where that cannot be read."""
    try:
        told = datetime.fromisoformat(problem.resets_at or "")
    except ValueError:
        return None
    return told if told.tzinfo else told.replace(tzinfo=UTC)
