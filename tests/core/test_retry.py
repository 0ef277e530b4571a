"""What a failure leads to: a pause that the log remembers, or a person."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from msgspec.structs import replace

from ouro.core.brief import FailureKind, Problem
from ouro.core.events import Data, EvolveStepFailed
from ouro.core.lineage import Lineage, evolve
from ouro.core.policy import Policy
from ouro.core.retry import failure, pause, timestamp
from tests.core.builders import ALONE, USAGE, executed, lineage, log_of, seal_all, wondered

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TRANSIENT = ["overloaded", "timeout", "agent_error", "bad_reply"]
FINAL = ["auth", "not_found", "git"]


def fails(
    state: Lineage, kind: str, now: datetime = NOW, resets_at: str | None = None
) -> EvolveStepFailed:
    problem = Problem(kind=FailureKind(kind), message="no", resets_at=resets_at)
    return failure(state, "execute", problem, now, None, None)


def after(state: Lineage, fact: Data, now: datetime = NOW) -> Lineage:
    (event,) = seal_all([fact], log_of())
    return evolve(state, replace(event, at=timestamp(now)))


def seconds(fact: EvolveStepFailed, now: datetime = NOW) -> float:
    assert fact.retry_at is not None
    return (datetime.fromisoformat(fact.retry_at) - now).total_seconds()


def test_every_kind_is_one_of_three() -> None:
    assert {*TRANSIENT, *FINAL, "rate_limited"} == set(FailureKind)


def test_a_timestamp_is_utc_with_microseconds_and_sorts() -> None:
    assert timestamp(NOW) == "2026-03-01T12:00:00.000000Z"
    there = datetime(2026, 3, 1, 21, 0, 0, 5, tzinfo=timezone(timedelta(hours=9)))
    assert timestamp(there) == "2026-03-01T12:00:00.000005Z"
    assert datetime.fromisoformat(timestamp(there)) == there


def test_the_event_holds_what_is_known() -> None:
    problem = Problem(kind=FailureKind.TIMEOUT, message="nothing for 10 min")
    rescue = "refs/ouro/rescue/greet/1"
    assert failure(lineage(), "qa", problem, NOW, rescue, USAGE) == EvolveStepFailed(
        phase="qa",
        kind="timeout",
        message="nothing for 10 min",
        attempt=1,
        retry_at="2026-03-01T12:00:02.000000Z",
        rescue=rescue,
        usage=USAGE,
    )


@pytest.mark.parametrize("kind", TRANSIENT)
def test_pauses_grow_and_the_fifth_failure_in_a_row_needs_a_person(kind: str) -> None:
    state, waits = lineage(), []
    for attempt in range(1, 6):
        fact = fails(state, kind)
        assert fact.attempt == attempt
        waits.append(fact.retry_at and seconds(fact))
        state = after(state, fact)
    assert waits == [2.0, 8.0, 32.0, 128.0, None]
    assert fails(state, kind).attempt == 1, "a later step starts its count anew"


def test_pauses_have_an_end() -> None:
    assert [pause(attempt) for attempt in (1, 5, 6, 7, 10**9)] == [2.0, 512.0, 900.0, 900.0, 900.0]


def test_the_policy_says_how_many() -> None:
    assert fails(lineage(policy=Policy(max_failures=1)), "timeout").retry_at is None
    assert fails(lineage(policy=Policy(max_failures=2)), "timeout").retry_at is not None


def test_a_committed_phase_sets_the_count_back() -> None:
    state = after(lineage(), fails(lineage(), "timeout"))
    assert fails(state, "timeout").attempt == 2
    assert fails(after(state, executed()), "timeout").attempt == 1


@pytest.mark.parametrize("kind", FINAL)
def test_some_failures_are_final_at_once(kind: str) -> None:
    assert (fails(lineage(), kind).attempt, fails(lineage(), kind).retry_at) == (1, None)


# --- limits


def test_a_limit_waits_for_its_reset_and_is_no_failure() -> None:
    fact = fails(lineage(), "rate_limited", resets_at="2026-03-01T17:00:00Z")
    assert (fact.attempt, fact.retry_at) == (0, "2026-03-01T17:00:00.000000Z")
    state = after(lineage(), fact)
    assert state.failures == 0
    assert fails(state, "timeout").attempt == 1


def test_a_limit_between_failures_keeps_their_count() -> None:
    state = after(lineage(), fails(lineage(), "timeout"))
    state = after(state, fails(state, "rate_limited"))
    assert fails(state, "timeout").attempt == 2


def test_a_limit_without_a_reset_is_asked_more_and_more_rarely() -> None:
    state, now, waits = lineage(), NOW, []
    for _ in range(7):
        fact = fails(state, "rate_limited", now)
        waits.append(seconds(fact, now))
        state = after(state, fact, now)
        now += timedelta(seconds=waits[-1])
    assert waits == [30, 30, 60, 120, 240, 480, 900]


@pytest.mark.parametrize(
    "told", ["2026-03-01T11:59:00Z", "2026-03-01T12:00:00Z", "", "tomorrow", "13:00"]
)
def test_a_reset_that_has_passed_or_says_nothing_is_not_trusted(told: str) -> None:
    """Else the agent would be asked again and again without a pause."""
    assert seconds(fails(lineage(), "rate_limited", resets_at=told)) == 30


@pytest.mark.parametrize(
    "told", ["2026-03-01T13:00:00", "2026-03-01T13:00:00.5+00:00", "2026-03-01T22:00:00+09:00"]
)
def test_a_reset_in_any_zone_is_understood_and_none_means_utc(told: str) -> None:
    assert seconds(fails(lineage(), "rate_limited", resets_at=told)) in (3600, 3600.5)


def test_waiting_for_a_limit_has_an_end() -> None:
    day = "2026-03-02T12:00:00Z"
    assert fails(lineage(), "rate_limited", resets_at=day).retry_at is not None
    late = "2026-03-02T12:00:01Z"
    assert fails(lineage(), "rate_limited", resets_at=late).retry_at is None
    state = after(lineage(), fails(lineage(), "rate_limited"))
    almost = NOW + timedelta(hours=23, minutes=50)
    assert fails(state, "rate_limited", almost).retry_at is None, "all in all more than a day"
    assert fails(lineage(), "rate_limited", almost).retry_at is not None
    patient = lineage(policy=replace(ALONE, max_limit_wait=90000.0))
    assert fails(patient, "rate_limited", resets_at=late).retry_at is not None


def test_a_row_of_limits_ends_with_anything_else() -> None:
    limited = after(lineage(), fails(lineage(), "rate_limited"))
    much_later = NOW + timedelta(days=2)
    for fact in (fails(limited, "timeout"), wondered(), executed()):
        state = after(limited, fact)
        assert fails(state, "rate_limited", much_later).retry_at is not None
    assert fails(limited, "rate_limited", much_later).retry_at is None


def test_a_clock_set_back_does_no_harm() -> None:
    state = after(lineage(), fails(lineage(), "rate_limited"))
    before = NOW - timedelta(days=3)
    assert seconds(fails(state, "rate_limited", before), before) == 30
