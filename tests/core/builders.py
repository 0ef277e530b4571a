"""Facts, and what follows from them: events, bytes, states and histories of decisions.

Single facts are those of `tests.phases.build`; here are whole lineages.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ouro.core.brief import FailureKind
from ouro.core.chain import extend, seal
from ouro.core.codec import EMPTY_LOG, Log
from ouro.core.decision import decide
from ouro.core.events import (
    Action,
    CriterionChange,
    Data,
    Delta,
    Event,
    EvolveStepCompleted,
    EvolveStepFailed,
    EvolveStepInterrupted,
    LateralThinkApplied,
    LeftOut,
    LineageCreated,
    LineageForked,
    LineageRestored,
    LineageRewound,
    Mutation,
    NoteAdded,
    PauseCleared,
    PolicyChanged,
    QaCompleted,
    QaVerdict,
    Question,
    ReflectCompleted,
    Spent,
    Usage,
)
from ouro.core.lateral import choose
from ouro.core.lineage import Generation, Lineage, fold
from ouro.core.policy import Given, Policy
from ouro.core.seed import Criterion, Field, Ontology, Seed
from tests.phases.build import USAGE, evaluated, executed, forked, reflected, verdict, wondered

ALONE = Policy(qa=False)
"""Without QA: what the criteria say is all."""
PAPER = Policy(execute=False)
"""The ontology only."""

TWO = Seed(
    goal="Greet people",
    acceptance_criteria=(
        Criterion(id="ac1", description="greets by name"),
        Criterion(id="ac2", description="greets nobody"),
    ),
    ontology_schema=Ontology(fields=(Field("name"), Field("greeting"))),
)


def created(policy: Policy = ALONE, seed: Seed = TWO, given: Given | None = None) -> LineageCreated:
    return LineageCreated(
        seed=seed,
        hidden=None,
        seed_sha256="ab" * 32,
        policy=policy,
        given=given or Given(),
        base="c0" * 20,
    )


def completed(
    action: Action = Action.CONTINUE, next_generation: int | None = 2
) -> EvolveStepCompleted:
    return EvolveStepCompleted(
        action=action,
        reason="because",
        pattern=None,
        similarity=None,
        delta=Delta(),
        lateral_think_applied=False,
        next_generation=next_generation,
    )


def failed(
    kind: FailureKind = FailureKind.OVERLOADED,
    attempt: int = 1,
    retry_at: str | None = "2026-02-01T00:00:00.000000Z",
    usage: Usage | None = None,
) -> EvolveStepFailed:
    return EvolveStepFailed(
        phase="execute",
        kind=kind,
        message="too busy",
        attempt=attempt,
        retry_at=retry_at,
        rescue=None,
        usage=usage,
    )


def qa(score: float, carried: bool = False) -> QaCompleted:
    word = QaVerdict.PASS if score >= 80 else QaVerdict.FAIL if score < 40 else QaVerdict.REVISE
    return QaCompleted(
        verdict=word,
        score=float(score),
        differences=(),
        suggestions=(),
        error=None,
        carried=carried,
        usage=None if carried else USAGE,
    )


def persona(name: str = "hacker", pattern: str = "spinning") -> LateralThinkApplied:
    return LateralThinkApplied(persona=name, pattern=pattern, advice="try another way")


def judged(*passed: bool) -> Data:
    """A verdict on ac1, ac2, …"""
    return evaluated(*(verdict(f"ac{at}", ok) for at, ok in enumerate(passed, start=1)))


def jump(
    kind: type[LineageRewound] | type[LineageRestored],
    n: int = 1,
    left: str = "1e" * 20,
    spent: Spent | None = None,
) -> Data:
    return kind(
        n=n,
        from_generation=2,
        to_generation=1,
        commit="c0" * 20,
        left=left,
        spent=spent or Spent(20, 10, 1.0, 4.0),
    )


EVERYTHING: tuple[Data, ...] = (
    NoteAdded(text="be kind"),
    executed(),
    judged(True, False),
    qa(55.0),
    completed(),
    PolicyChanged(policy=Policy(max_retries=5), given=Given(file={"max_retries": 5})),
    persona(),
    wondered(Question(question="Why?", criteria=("ac2",), subject="greeting"), tensions=("a/b",)),
    ReflectCompleted(
        mutations=(Mutation(action="add", name="tone", field_type="string"),),
        criteria=(CriterionChange(action="note", id="ac2", description="nobody is a name too"),),
        learnings=("names are optional",),
        reasoning="so",
        seed=TWO,
        usage=USAGE,
    ),
    EvolveStepInterrupted(phase="execute", rescue="refs/ouro/rescue/greet/1"),
    failed(usage=USAGE),
    PauseCleared(),
    jump(LineageRewound),
    jump(LineageRestored, n=2),
    replace(
        executed(tree="t2"),
        adopted=("ad" * 20,),
        left_out=(LeftOut(path=".env", reason="a secret"),),
    ),
)
"""One of every kind at least, in an order that could be."""


def seal_all(
    facts: Iterable[Data], log: Log = EMPTY_LOG, lineage_id: str = "greet"
) -> tuple[Event, ...]:
    """`facts` as the next events of `log`, a second apart; a completion ends a generation."""
    state = fold(log.events)
    generation, start = state.number if state else 0, len(log.events)
    for data in facts:
        at = len(log.events)
        number = generation
        if isinstance(data, LineageForked):
            lineage_id, number = f"{lineage_id}_forked", generation - 1
        identity = (f"{at:026}", stamp(at))
        events = seal([(number, data)], log, lineage_id, lambda identity=identity: identity)
        log = extend(log, events)
        generation += isinstance(data, EvolveStepCompleted | LineageCreated)
    return log.events[start:]


def stamp(second: int) -> str:
    """The time of the event number `second`, from 0."""
    return f"2026-01-01T00:{second // 60:02}:{second % 60:02}.000000Z"


def log_of(*facts: Data, first: LineageCreated | None = None) -> Log:
    return extend(EMPTY_LOG, seal_all((first or created(), *facts)))


def lineage(*facts: Data, policy: Policy = ALONE, seed: Seed = TWO) -> Lineage:
    """The state after `facts`, which follow the creation."""
    folded = fold(log_of(*facts, first=created(policy, seed)).events)
    assert folded is not None
    return folded


# --- histories of decisions --------------------------------------------------------------------


class Turn(NamedTuple):
    """One generation in brief. `passed` None: on paper; `score` replaces the mean; `review` is
    QA's score."""

    fields: str = "name greeting"
    passed: tuple[bool, ...] | None = (True, False)
    tree: str | None = None
    questions: tuple[Question, ...] = ()
    score: float | None = None
    review: float | None = None
    descriptions: str = ""


def turned(turn: Turn, number: int, persona_now: LateralThinkApplied | None) -> Generation:
    fields = tuple(Field(name, description=turn.descriptions) for name in turn.fields.split())
    generation = Generation(
        number=number,
        seed=TWO.with_ontology(fields),
        persona=persona_now,
        wonder=wondered(*turn.questions) if number > 1 else None,
        reflect=None,
    )
    if turn.passed is None:
        return generation
    evaluate = evaluated(*(verdict(f"ac{at}", ok) for at, ok in enumerate(turn.passed, start=1)))
    if turn.score is not None:
        evaluate = replace(evaluate, score=turn.score)
    return replace(
        generation,
        execute=executed(tree=turn.tree or f"tree {number}"),
        evaluate=evaluate,
        qa=None if turn.review is None else qa(turn.review),
    )


def played(turns: Sequence[Turn], policy: Policy = ALONE) -> list[Generation]:
    """The generations that `turns` make, each with the decision that rule 1 takes after it, and
    each opened by the lateral thinking that the one before called for."""
    generations: list[Generation] = []
    used: list[str] = []
    called: LateralThinkApplied | None = None
    for number, turn in enumerate(turns, start=1):
        generations.append(turned(turn, number, called))
        decision = decide(generations, policy, Spent())
        called = None
        if decision.pattern:
            used.append(choose(decision.pattern, used))
            called = persona(used[-1], decision.pattern)
        generations[-1] = replace(
            generations[-1],
            completed=EvolveStepCompleted(
                action=decision.action,
                reason=decision.reason,
                pattern=decision.pattern,
                similarity=decision.similarity,
                delta=decision.delta,
                lateral_think_applied=generations[-1].persona is not None,
                next_generation=decision.next_generation,
            ),
        )
    return generations


def verdicts_of(generations: Sequence[Generation]) -> list[str]:
    """What was decided after each generation, in a word: the pattern where it stagnated."""
    done = [generation.completed for generation in generations]
    return [str(each.pattern or each.action) for each in done if each]


__all__ = [
    "ALONE",
    "EVERYTHING",
    "PAPER",
    "TWO",
    "USAGE",
    "Turn",
    "completed",
    "created",
    "evaluated",
    "executed",
    "failed",
    "forked",
    "judged",
    "jump",
    "lineage",
    "log_of",
    "persona",
    "played",
    "qa",
    "reflected",
    "seal_all",
    "stamp",
    "verdict",
    "verdicts_of",
    "wondered",
]
