"""Which persona a stagnation calls for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouro.core.lateral import Pattern, Persona, choose

ROUNDS = {
    Pattern.SPINNING: "hacker contrarian researcher simplifier architect",
    Pattern.BLOCKED: "hacker contrarian researcher simplifier architect",
    Pattern.PLATEAU: "researcher architect simplifier hacker contrarian",
    Pattern.OSCILLATION: "architect simplifier contrarian hacker researcher",
    Pattern.REPETITION: "contrarian researcher architect hacker simplifier",
    Pattern.UNCHANGED: "contrarian researcher architect hacker simplifier",
}


@pytest.mark.parametrize("pattern", Pattern)
def test_the_suited_ones_first_then_the_others_then_all_over_again(pattern: Pattern) -> None:
    used: list[str] = []
    for _ in range(12):
        used.append(choose(pattern, used))
    wanted = ROUNDS[pattern].split()
    assert used == [*wanted, *wanted, *wanted[:2]]


def test_what_another_pattern_used_counts() -> None:
    assert choose(Pattern.BLOCKED, ["hacker"]) is Persona.CONTRARIAN
    assert choose(Pattern.PLATEAU, ["researcher", "architect", "simplifier"]) is Persona.HACKER
    assert choose(Pattern.PLATEAU, ["hacker"]) is Persona.RESEARCHER


@given(st.sampled_from(Pattern), st.lists(st.sampled_from([*Persona, "a later one"])))
def test_there_is_always_one(pattern: Pattern, used: list[str]) -> None:
    assert choose(pattern, used) in Persona


@given(st.lists(st.sampled_from(Pattern), min_size=10, max_size=10))
def test_none_comes_again_before_all_had_their_turn(patterns: list[Pattern]) -> None:
    used: list[str] = []
    for pattern in patterns:
        used.append(choose(pattern, used))
    assert set(used[:5]) == set(used[5:]) == set(Persona)
