"""Lateral thinking: which change of persona a stagnation calls for."""

from collections.abc import Sequence
from enum import StrEnum


class Persona(StrEnum):
    HACKER = "hacker"
    RESEARCHER = "researcher"
    SIMPLIFIER = "simplifier"
    ARCHITECT = "architect"
    CONTRARIAN = "contrarian"


class Pattern(StrEnum):
    """The kinds of stagnation, in the order in which they are looked for."""

    UNCHANGED = "unchanged"
    SPINNING = "spinning"
    OSCILLATION = "oscillation"
    BLOCKED = "blocked"
    REPETITION = "repetition"
    PLATEAU = "plateau"


_STUCK = (Persona.HACKER, Persona.CONTRARIAN, Persona.RESEARCHER)
_STALE = (Persona.CONTRARIAN, Persona.RESEARCHER, Persona.ARCHITECT)
_SUITED = {
    Pattern.UNCHANGED: _STALE,
    Pattern.SPINNING: _STUCK,
    Pattern.OSCILLATION: (Persona.ARCHITECT, Persona.SIMPLIFIER, Persona.CONTRARIAN),
    Pattern.BLOCKED: _STUCK,
    Pattern.REPETITION: _STALE,
    Pattern.PLATEAU: (Persona.RESEARCHER, Persona.ARCHITECT, Persona.SIMPLIFIER),
}


def choose(pattern: Pattern, used: Sequence[str]) -> Persona:
    """The persona for `pattern`, given those `used` in the log, oldest first.

    The first suited one that was not used yet, then any other; when all five were used, the
    round starts over.
    """
    order: tuple[Persona, ...] = (*_SUITED[pattern], *Persona)
    this_round = used[len(used) - len(used) % len(Persona) :]
    return next(persona for persona in order if persona not in this_round)
