"""What a phase asks of an agent: the text for a model, and the same as data for rules."""

from enum import StrEnum

from msgspec import Struct

from ouro.core.events import Question, Usage, Verdict
from ouro.core.seed import Seed


class Phase(StrEnum):
    WONDER = "wonder"
    REFLECT = "reflect"
    EXECUTE = "execute"
    EVALUATE = "evaluate"
    QA = "qa"


class Brief(Struct, frozen=True, kw_only=True):
    """The state that a request was made from.

    `verdicts` are the newest known ones (of this generation in qa, of the one before in
    wonder, reflect and execute; empty in generation 1), `questions` this generation's, for reflect.
    `asked` are the ids of the criteria that evaluate is to judge.
    """

    phase: Phase
    lineage_id: str
    generation: int
    seed: Seed
    verdicts: tuple[Verdict, ...] = ()
    questions: tuple[Question, ...] = ()
    asked: tuple[str, ...] = ()


class Request(Struct, frozen=True, kw_only=True):
    brief: Brief
    prompt: str


class FailureKind(StrEnum):
    """Kinds of failure; DESIGN: the first four are transient, `rate_limited` waits, the rest
    need a person."""

    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    AGENT_ERROR = "agent_error"
    BAD_REPLY = "bad_reply"
    RATE_LIMITED = "rate_limited"
    AUTH = "auth"
    NOT_FOUND = "not_found"
    GIT = "git"


class Problem(Struct, frozen=True, kw_only=True):
    """Why a call failed: a kind of `FailureKind`, one line for people, and where the agent
    said so the time (UTC, ISO 8601) at which its limit is lifted."""

    kind: FailureKind
    message: str
    resets_at: str | None = None


class Reply(Struct, frozen=True, kw_only=True):
    """What came back. `problem` is empty when the call succeeded; then `text` is not empty.
    `denied` names tools that the client was not allowed to use."""

    text: str
    usage: Usage
    problem: Problem | None = None
    denied: tuple[str, ...] = ()
