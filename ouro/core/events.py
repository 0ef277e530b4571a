"""The events: past-tense facts, one line of the log each. Types only; `codec` has the bytes."""

from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ouro.core.policy import Given, Policy
from ouro.core.seed import Seed

VERSION = 1
"""Of the log's format."""

GENESIS = "0" * 64
"""`prev` of a log's first line."""


class Action(StrEnum):
    CONTINUE = "continue"
    STAGNATED = "stagnated"
    CONVERGED = "converged"
    EXHAUSTED = "exhausted"
    FAILED = "failed"


class Usage(Struct, frozen=True, kw_only=True, gc=False):
    """What one agent call took. None is "the client does not say", never 0. Cost in USD."""

    agent: str
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    seconds: float = 0.0


class Spent(Struct, frozen=True, gc=False):
    """What agents took in so many `calls`: sums of what their clients said. `unknown` of them did
    not say the cost, `silent` ones no tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    unknown: int = 0
    calls: int = 0
    silent: int = 0

    def plus(self, usage: Usage | None, seconds: float = 0.0) -> "Spent":
        """With one more call, and with `seconds` of mechanical checks."""
        if usage is None:
            return replace(self, seconds=self.seconds + seconds) if seconds else self
        return Spent(
            self.input_tokens + (usage.input_tokens or 0),
            self.output_tokens + (usage.output_tokens or 0),
            self.cost + (usage.cost or 0.0),
            self.seconds + usage.seconds + seconds,
            self.unknown + (usage.cost is None),
            self.calls + 1,
            self.silent + (usage.input_tokens is None and usage.output_tokens is None),
        )


class Fact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The base of every event's `data`. It is a tree, so the garbage collector need not look."""


class LineageCreated(Fact, frozen=True):
    """`hidden` is the blob id of the hidden checks, `base` the commit the lineage starts from
    (None: from an empty root), `given` what each source said of the policy."""

    seed: Seed
    hidden: str | None
    seed_sha256: str
    policy: Policy
    given: Given
    base: str | None


class LineageForked(Fact, frozen=True):
    """From here on the lines are another lineage's: it shares what stands before with `source`, up
    to the end of `generation` at `commit`. `seed` is the new one (None: it stays); `hidden` and
    `seed_sha256` are what holds from now on."""

    source: str
    generation: int
    commit: str
    seed: Seed | None
    hidden: str | None
    seed_sha256: str


class PolicyChanged(Fact, frozen=True):
    policy: Policy
    given: Given


class NoteAdded(Fact, frozen=True):
    text: str


class LateralThinkApplied(Fact, frozen=True):
    persona: str
    pattern: str
    advice: str


class Question(Fact, frozen=True):
    """`criteria` it challenges; none marks a gap. `subject` is the concept it is about."""

    question: str
    criteria: tuple[str, ...] = ()
    subject: str = ""


class WonderCompleted(Fact, frozen=True):
    questions: tuple[Question, ...]
    tensions: tuple[str, ...]
    usage: Usage


class Mutation(Fact, frozen=True):
    """`action` is add, modify or remove; None leaves that part of the field as it is."""

    action: str
    name: str
    field_type: str | None = None
    description: str | None = None
    reason: str = ""


class CriterionChange(Fact, frozen=True):
    """`action` is add, revise or note; the text of a note is its `description`."""

    action: str
    id: str
    description: str


class ReflectCompleted(Fact, frozen=True):
    mutations: tuple[Mutation, ...]
    criteria: tuple[CriterionChange, ...]
    learnings: tuple[str, ...]
    reasoning: str
    seed: Seed
    usage: Usage


class LeftOut(Fact, frozen=True):
    """A path that did not become part of the generation: it stayed on disk, or was put back as it
    had been where the reason is `protected`."""

    path: str
    reason: str


class ExecuteCompleted(Fact, frozen=True):
    """`tree` is the id of the code tree (the tree without `.ouro/`)."""

    summary: str
    files: tuple[str, ...]
    added: int
    removed: int
    adopted: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    tree: str
    usage: Usage


class Method(StrEnum):
    """How a verdict came about."""

    CHECK = "check"
    AGENT = "agent"
    OFFLINE = "offline"
    CARRIED = "carried"
    UNRESOLVED = "unresolved"


class Verdict(Fact, frozen=True):
    """On one criterion; `score` from 0 to 1."""

    id: str
    passed: bool
    score: float
    method: Method
    evidence: str


class EvaluateCompleted(Fact, frozen=True):
    """`score` is the mean over `verdicts`, 0 where there are none. `usage` is None where only
    mechanical checks ran or the verdicts were carried over; `seconds` is what the checks took."""

    verdicts: tuple[Verdict, ...]
    score: float
    seconds: float
    usage: Usage | None


class QaVerdict(StrEnum):
    PASS = "pass"
    REVISE = "revise"
    FAIL = "fail"


class QaCompleted(Fact, frozen=True):
    """`score` from 0 to 100. `carried` marks a verdict taken over unchanged."""

    verdict: QaVerdict
    score: float
    differences: tuple[str, ...]
    suggestions: tuple[str, ...]
    error: str | None
    carried: bool
    usage: Usage | None


class Delta(Fact, frozen=True):
    """Names of ontology fields, before against after."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()


class EvolveStepCompleted(Fact, frozen=True):
    """`pattern` names the stagnation, where `action` is stagnated."""

    action: Action
    reason: str
    pattern: str | None
    similarity: float | None
    delta: Delta
    lateral_think_applied: bool
    next_generation: int | None


class EvolveStepFailed(Fact, frozen=True):
    """`retry_at` None: a person is needed. `usage` is what the failed call took."""

    phase: str
    kind: str
    message: str
    attempt: int
    retry_at: str | None
    rescue: str | None
    usage: Usage | None


class EvolveStepInterrupted(Fact, frozen=True):
    phase: str
    rescue: str | None


class PauseCleared(Fact, frozen=True):
    pass


class _Jump(Fact, frozen=True):
    """What stands before is the whole log at `commit`; `left` is the tip that was left for it.

    `n` is one more than the highest in the log at `left`: it names the archived tags. `spent` is
    the lineage's at `left`: going back takes no money back.
    """

    n: int
    from_generation: int
    to_generation: int
    commit: str
    left: str
    spent: Spent


class LineageRewound(_Jump, frozen=True):
    """Back to the end of a generation, to the creation or to the fork."""


class LineageRestored(_Jump, frozen=True):
    """Back to the tip that the last jump left."""


Jump = LineageRewound | LineageRestored

Data = (
    LineageCreated
    | LineageForked
    | PolicyChanged
    | NoteAdded
    | LateralThinkApplied
    | WonderCompleted
    | ReflectCompleted
    | ExecuteCompleted
    | EvaluateCompleted
    | QaCompleted
    | EvolveStepCompleted
    | EvolveStepFailed
    | EvolveStepInterrupted
    | PauseCleared
    | LineageRewound
    | LineageRestored
)

TYPES: dict[str, type[Data]] = {
    "lineage.created": LineageCreated,
    "lineage.forked": LineageForked,
    "policy.changed": PolicyChanged,
    "note.added": NoteAdded,
    "lateral_think.applied": LateralThinkApplied,
    "wonder.completed": WonderCompleted,
    "reflect.completed": ReflectCompleted,
    "execute.completed": ExecuteCompleted,
    "evaluate.completed": EvaluateCompleted,
    "qa.completed": QaCompleted,
    "evolve_step.completed": EvolveStepCompleted,
    "evolve_step.failed": EvolveStepFailed,
    "evolve_step.interrupted": EvolveStepInterrupted,
    "pause.cleared": PauseCleared,
    "lineage.rewound": LineageRewound,
    "lineage.restored": LineageRestored,
}
"""The `type` of a line -> the shape of its `data`."""

TYPE_OF: dict[type[Data], str] = {shape: name for name, shape in TYPES.items()}


D = TypeVar("D")


class Line(Struct, Generic[D], frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One line, its keys in their order: `seq` from 1 without a gap, `at` UTC with microseconds,
    `type` that of `data` in TYPES, `prev` the SHA-256 (hex) of the line before. Order is `seq`,
    never `at`."""

    v: int = VERSION
    seq: int
    id: str
    at: str
    lineage_id: str
    generation: int
    type: str
    data: D
    prev: str


Event = Line[Data]
