"""Lateral thinking: the persona's advice is a text, no agent is asked for it."""

from ouro.core.events import LateralThinkApplied
from ouro.core.lateral import Pattern, Persona
from ouro.phases import Prompts
from ouro.phases.text import block

LONGEST_ADVICE = 4_000


def fact(persona: Persona, pattern: Pattern, prompts: Prompts) -> LateralThinkApplied:
    advice = block(prompts[f"personas/{persona}"], LONGEST_ADVICE)
    return LateralThinkApplied(persona=str(persona), pattern=str(pattern), advice=advice)
