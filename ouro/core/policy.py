"""The policy: the numbers and switches that decide, recorded in the log beside what they decided."""

from typing import Any

from msgspec import Struct

RULE = 1
"""The number of the decision rule that this version applies to new lineages."""


class Policy(Struct, frozen=True, kw_only=True):
    """Costs in USD, times in seconds; None is "no limit".

    Every key is written out in the log, so that a later default changes no old decision.
    """

    rule: int = RULE
    execute: bool = True
    qa: bool = True
    max_retries: int = 2
    max_generations: int = 30
    min_generations: int = 2
    convergence_threshold: float = 0.95
    stagnation_window: int = 3
    stop_on_pass: bool = False
    freeze_ontology: bool = False
    max_cost: float | None = None
    max_runtime: float | None = None
    max_failures: int = 5
    max_limit_wait: float = 86400.0


class Given(Struct, frozen=True, kw_only=True):
    """What the standing sources said of the policy when it was last recorded: key -> value."""

    file: dict[str, Any] = {}
    environment: dict[str, Any] = {}
