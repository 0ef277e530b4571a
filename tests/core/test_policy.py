"""The policy: what may be set, and which source wins when."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouro.core.policy import KEYS, Given, Policy, Sources, changed_policy, checked, first_policy
from ouro.errors import Exit, UsageProblem


def test_the_defaults_of_the_design() -> None:
    """Recorded whole in every log: a default that changes here changes the rule's number."""
    assert msgspec.to_builtins(Policy()) == {
        "rule": 1,
        "execute": True,
        "qa": True,
        "max_retries": 2,
        "max_generations": 30,
        "min_generations": 2,
        "convergence_threshold": 0.95,
        "stagnation_window": 3,
        "stop_on_pass": False,
        "freeze_ontology": False,
        "max_cost": None,
        "max_runtime": None,
        "max_failures": 5,
        "max_limit_wait": 86400.0,
    }
    assert set(KEYS) == set(msgspec.to_builtins(Policy())) - {"rule"}


# --- single values


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("max_generations", 1, 1),
        ("min_generations", 1, 1),
        ("max_retries", 0, 0),
        ("stagnation_window", 2, 2),
        ("max_failures", 1, 1),
        ("convergence_threshold", 1, 1.0),
        ("convergence_threshold", 0.5, 0.5),
        ("max_cost", None, None),
        ("max_cost", 3, 3.0),
        ("max_runtime", 0.1, 0.1),
        ("max_limit_wait", 60, 60.0),
        ("qa", False, False),
    ],
)
def test_taken(key: str, value: object, wanted: object) -> None:
    found = checked(key, value, "ouro.yaml")
    assert (found, type(found)) == (wanted, type(wanted))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("max_generations", 0, "max_generations is 0, the least is 1"),
        ("min_generations", 0, "min_generations is 0, the least is 1"),
        ("max_retries", -1, "max_retries is -1, the least is 0"),
        ("stagnation_window", 1, "stagnation_window is 1, the least is 2"),
        ("max_failures", 0, "max_failures is 0, the least is 1"),
        ("max_cost", 0, "max_cost is 0.0, it must be above 0"),
        ("max_cost", float("nan"), "max_cost is nan, it must be above 0"),
        ("max_runtime", float("inf"), "max_runtime is inf, it must be above 0"),
        ("max_limit_wait", -5, "max_limit_wait is -5.0, it must be above 0"),
        ("convergence_threshold", 0, "convergence_threshold is 0.0, it must be above 0"),
        ("convergence_threshold", 1.01, "convergence_threshold is 1.01, the most is 1"),
        ("max_generations", True, "max_generations cannot be True: expected `int`, got `bool`"),
        ("max_generations", 2.5, "max_generations cannot be 2.5: expected `int`, got `float`"),
        ("qa", "yes", "qa cannot be 'yes': expected `bool`, got `str`"),
        ("max_limit_wait", None, "max_limit_wait cannot be None: expected `float`, got `null`"),
        ("max_cost", [1], "max_cost cannot be [1]: expected `float | null`, got `array`"),
        ("max_cost", 10**400, "out of range"),
    ],
)
def test_refused_with_the_source_named(key: str, value: object, said: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        checked(key, value, "OURO_X")
    assert caught.value.message.startswith(f"OURO_X: {key} ")
    assert said in caught.value.message
    assert caught.value.exit_code is Exit.USAGE


# --- sources


def test_nothing_given_is_the_defaults() -> None:
    assert first_policy(Sources()) == (Policy(), Given())


def test_flag_beats_environment_beats_file() -> None:
    sources = Sources(
        file={"max_retries": 1, "qa": False, "max_generations": 7},
        environment={"max_retries": 3, "qa": True},
        flags={"max_retries": 4},
    )
    policy, given_now = first_policy(sources)
    assert (policy.max_retries, policy.qa, policy.max_generations) == (4, True, 7)
    assert given_now == Given(file=sources.file, environment=sources.environment)


def later(
    steps: list[Sources], policy: Policy | None = None, given_now: Given | None = None
) -> tuple[Policy, Given]:
    """Policy after one step with each of the sources."""
    now = (policy or Policy(), given_now or Given())
    for sources in steps:
        now = changed_policy(*now, sources)
    return now


def retries(*steps: Sources) -> int:
    return later(list(steps))[0].max_retries


FILE_5 = Sources(file={"max_retries": 5})
FLAG_0 = Sources(flags={"max_retries": 0})


def test_a_flag_stays_in_force_although_the_file_still_says_otherwise() -> None:
    both = Sources(file={"max_retries": 5}, flags={"max_retries": 0})
    assert retries(both, FILE_5) == 0
    assert retries(FILE_5, FLAG_0, FILE_5) == 0


def test_a_changed_file_counts_after_a_flag() -> None:
    assert retries(FILE_5, FLAG_0, Sources(file={"max_retries": 6})) == 6


def test_a_missing_file_or_flag_changes_nothing() -> None:
    assert retries(FILE_5, Sources()) == 5
    assert retries(FLAG_0, Sources()) == 0
    assert retries(FILE_5, Sources(), FILE_5, FLAG_0, Sources(), FILE_5) == 0


def test_the_environment_beats_what_the_file_says_newly() -> None:
    environment = {"max_retries": 3}
    before = Sources(file={"max_retries": 5}, environment=environment)
    after = Sources(file={"max_retries": 6}, environment=environment)
    assert retries(before, after) == 3
    assert retries(before, after, Sources(file={"max_retries": 6})) == 3  # nothing is news in it
    assert retries(before, Sources(file={"max_retries": 6})) == 6


def test_other_keys_are_left_alone() -> None:
    policy, _ = later([Sources(flags={"qa": False}), FILE_5])
    assert policy == Policy(qa=False, max_retries=5)


@pytest.mark.parametrize(
    "sources",
    [
        Sources(flags={"freeze_ontology": True, "execute": False}),
        Sources(file={"freeze_ontology": True}, environment={"execute": False}),
    ],
)
def test_frozen_and_not_executed_is_nothing_to_do(sources: Sources) -> None:
    with pytest.raises(UsageProblem, match="nothing to do"):
        first_policy(sources)
    with pytest.raises(UsageProblem, match="nothing to do"):
        changed_policy(Policy(freeze_ontology=True), Given(), Sources(flags={"execute": False}))


SAID = st.dictionaries(st.sampled_from(["max_retries", "max_failures"]), st.integers(1, 4))


@given(st.lists(st.builds(Sources, flags=SAID, environment=SAID, file=SAID), max_size=4))
def test_saying_the_same_again_changes_nothing(steps: list[Sources]) -> None:
    policy, given_now = later(steps)
    if steps:
        again: dict[str, Any] = {"file": steps[-1].file, "environment": steps[-1].environment}
        assert later([Sources(**again)], policy, given_now) == (policy, given_now)
    assert later([Sources()], policy, given_now) == (policy, given_now)
