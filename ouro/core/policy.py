"""The policy: the numbers and switches that decide, in the log beside what they decided."""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ouro.errors import UsageProblem

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


KEYS: tuple[str, ...] = tuple(name for name in Policy.__struct_fields__ if name != "rule")
"""What a user can set, by flag, environment or file."""

_LEAST = {
    "max_retries": 0,
    "max_generations": 1,
    "min_generations": 1,
    "stagnation_window": 2,
    "max_failures": 1,
}
_ABOVE_ZERO = ("max_cost", "max_runtime", "max_limit_wait", "convergence_threshold")


class Given(Struct, frozen=True, kw_only=True):
    """What the standing sources said of the policy when it was last recorded: key -> value."""

    file: dict[str, Any] = {}
    environment: dict[str, Any] = {}


class Sources(Struct, frozen=True, kw_only=True):
    """What each source says of the policy now: key -> value, keys of KEYS only."""

    flags: dict[str, Any] = {}
    environment: dict[str, Any] = {}
    file: dict[str, Any] = {}


def checked(key: str, value: object, source: str) -> Any:
    """`value` as the policy's `key` takes it; raises UsageProblem that names `source`."""
    shape = {field.name: field.type for field in msgspec.structs.fields(Policy)}[key]
    try:
        found = msgspec.convert(value, shape)
    except msgspec.ValidationError as problem:
        said = str(problem).lower().removesuffix(" - at `$`")
        raise UsageProblem(f"{source}: {key} cannot be {value!r}: {said}") from problem
    least = _LEAST.get(key)
    if least is not None and found < least:
        raise UsageProblem(f"{source}: {key} is {found}, the least is {least}")
    if key in _ABOVE_ZERO and found is not None and not 0 < found < float("inf"):
        raise UsageProblem(f"{source}: {key} is {found}, it must be above 0")
    if key == "convergence_threshold" and found > 1:
        raise UsageProblem(f"{source}: {key} is {found}, the most is 1")
    return found


def first_policy(sources: Sources) -> tuple[Policy, Given]:
    """The policy of a new lineage: defaults, file, environment, flags, the later ones winning."""
    return changed_policy(Policy(), Given(), sources)


def changed_policy(policy: Policy, given: Given, sources: Sources) -> tuple[Policy, Given]:
    """The policy that `sources` ask for, and what to remember of them.

    A flag changes the policy whenever it is given; a key of the file or the environment only where
    it differs from what that source said when it was last recorded. So a flag once given stays in
    force although the file still says otherwise, and a missing source changes nothing. What the
    file says newly of a key that the environment sets is remembered, and has no effect.
    """
    file = _news(sources.file, given.file)
    unset = {key: value for key, value in file.items() if key not in sources.environment}
    wanted = unset | _news(sources.environment, given.environment) | sources.flags
    changed = replace(policy, **wanted)
    if changed.freeze_ontology and not changed.execute:
        raise UsageProblem(
            "with the ontology frozen and execution off there is nothing to do",
            "leave out --freeze-ontology or --no-execute",
        )
    return changed, Given(
        file=given.file | sources.file, environment=given.environment | sources.environment
    )


def _news(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in now.items() if key not in before or before[key] != value}
