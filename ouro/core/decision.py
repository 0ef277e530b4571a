"""Rule 1: what to do after a generation. Numbers and exit codes decide, never an agent's prose."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct

from ouro.core.events import Action, Delta, Spent
from ouro.core.lateral import Pattern
from ouro.core.lineage import Generation
from ouro.core.ontology import delta, normalise, similarity
from ouro.core.policy import Policy
from ouro.core.seed import Ontology

SPIN = 3
"""Executed generations running that leave the same code tree: spinning."""
REPEATED = 0.7
"""Share of questions that were asked in each of the two generations before: repetition."""
ALIKE_QUESTION = 90.0
"""rapidfuzz ratio from which two questions without a subject are the same."""
FLAT = 0.01
"""Greatest and least score of three generations closer than this: plateau."""


class Decision(Struct, frozen=True, kw_only=True):
    """`next_generation` None: the lineage ends. `pattern` is set when stagnated."""

    action: Action
    reason: str
    similarity: float | None
    delta: Delta
    pattern: Pattern | None = None
    next_generation: int | None = None


def decide(generations: Sequence[Generation], policy: Policy, spent: Spent) -> Decision:
    """The decision after the last of `generations` (numbered on end, all evaluated).

    What the last one itself has recorded as its decision is not looked at, so that a decision can
    be taken again under another policy. `spent` is the whole lineage's.
    """
    now = generations[-1]
    alike, changed = _compared(generations)

    def decision(action: Action, reason: str, **more: object) -> Decision:
        return Decision(action=action, reason=reason, similarity=alike, delta=changed, **more)  # type: ignore[arg-type]

    if reason := _converged(generations, policy, alike):
        return decision(Action.CONVERGED, reason)
    if reason := _exhausted(now.number, policy, spent):
        return decision(Action.EXHAUSTED, reason)
    if found := _stagnated(generations, policy, alike):
        pattern, reason = found
        count = _stagnations(generations, policy) + 1
        if count > policy.max_retries:
            reason += f"; stagnated {count} times without progress, max_retries is "
            reason += str(policy.max_retries)
            return decision(Action.STAGNATED, reason, pattern=pattern)
        reason += f"; lateral thinking next ({count} of {policy.max_retries})"
        return decision(Action.STAGNATED, reason, pattern=pattern, next_generation=now.number + 1)
    reason = _continue_reason(now, policy, alike)
    return decision(Action.CONTINUE, reason, next_generation=now.number + 1)


def _compared(generations: Sequence[Generation]) -> tuple[float | None, Delta]:
    if len(generations) < 2:
        return None, Delta()
    before, after = generations[-2].ontology, generations[-1].ontology
    return similarity(before, after), delta(before, after)


# --- converged and exhausted ---------------------------------------------------------------


def _converged(
    generations: Sequence[Generation], policy: Policy, alike: float | None
) -> str | None:
    """The reason, where the lineage has converged."""
    now = generations[-1]
    if now.approved(policy.qa) and policy.execute:
        if policy.freeze_ontology:
            return f"{standing(now)}; the ontology is frozen"
        if policy.stop_on_pass:
            return f"{standing(now)}; stop_on_pass"
    settled = alike is not None and alike >= policy.convergence_threshold
    if now.number < policy.min_generations or not settled:
        return None
    settling = f"similarity {alike} ≥ {policy.convergence_threshold}"
    if policy.execute:
        return f"{settling}, {standing(now)}" if now.approved(policy.qa) else None
    if not _last_change(generations) or not _no_known_failure(generations):
        return None
    return f"{settling}; ontology only, nothing executed"


def _no_known_failure(generations: Sequence[Generation]) -> bool:
    judged = next((g for g in reversed(generations) if g.verdicts), None)
    return judged is None or all(verdict.passed for verdict in judged.verdicts)


def standing(generation: Generation) -> str:
    """Criteria and QA of a generation, for people: `2/3 criteria passed, QA revise (55)`."""
    total = len(generation.seed.acceptance_criteria)
    passed = sum(verdict.passed for verdict in generation.verdicts)
    text = f"{passed}/{total} criteria passed"
    if generation.qa:
        text += f", QA {generation.qa.verdict} ({generation.qa.score:g})"
    return text


def _exhausted(number: int, policy: Policy, spent: Spent) -> str | None:
    if number >= policy.max_generations:
        return f"generation {number} is the last allowed: max_generations {policy.max_generations}"
    if policy.max_cost is not None and spent.cost >= policy.max_cost:
        return f"{spent.cost:.2f} USD spent, max_cost is {policy.max_cost:g}"
    if policy.max_runtime is not None and spent.seconds >= policy.max_runtime:
        return f"{spent.seconds:.0f} s of work, max_runtime is {policy.max_runtime:g}"
    return None


def _continue_reason(now: Generation, policy: Policy, alike: float | None) -> str:
    parts = [] if policy.execute else ["ontology only, nothing executed"]
    if policy.execute:
        parts.append(standing(now))
    if alike is not None:
        sign = "≥" if alike >= policy.convergence_threshold else "<"
        parts.append(f"similarity {alike} {sign} {policy.convergence_threshold}")
    return ", ".join(parts)


# --- stagnated -------------------------------------------------------------------------------


def _stagnated(
    generations: Sequence[Generation], policy: Policy, alike: float | None
) -> tuple[Pattern, str] | None:
    """The first pattern that fits, with its reason.

    Only generations from the one that the last lateral thinking opened count: a new way of
    working gets its chance before it is judged.
    """
    now = generations[-1]
    if now.approved(policy.qa) or (policy.execute and not now.evaluate):
        return None  # nothing was judged: a generation on paper, before execution was turned on
    best_at = _best_at(generations)
    if policy.execute and best_at and now.number - best_at < policy.stagnation_window:
        return None
    stretch = _since_lateral(generations)
    for pattern, detect in _DETECTORS:
        if reason := detect(stretch, policy, alike):
            return pattern, f"{pattern}: {reason}"
    return None


def _best_at(generations: Sequence[Generation]) -> int:
    """The number of the generation that last raised the share of passed criteria above its
    best before; 0 where none did."""
    best, at = 0.0, 0
    for generation in generations:
        if generation.share > best:
            best, at = generation.share, generation.number
    return at


def _since_lateral(generations: Sequence[Generation]) -> Sequence[Generation]:
    for index in range(len(generations) - 1, -1, -1):
        if generations[index].persona:
            return generations[index:]
    return generations


def _stagnations(generations: Sequence[Generation], policy: Policy) -> int:
    """Stagnations recorded before the last generation and since there was progress."""
    since = _best_at(generations) if policy.execute else _last_change(generations)
    return sum(
        g.number > since and g.completed is not None and g.completed.action is Action.STAGNATED
        for g in generations[:-1]
    )


def _last_change(generations: Sequence[Generation]) -> int:
    """The number of the newest generation that changed the ontology, 0 where none did."""
    pairs = reversed(list(pairwise(generations)))
    changed = (after.number for before, after in pairs if _differ(before.ontology, after.ontology))
    return next(changed, 0)


def _differ(before: Ontology, after: Ontology) -> bool:
    """Whether anything changed that similarity sees."""
    return before.fields != after.fields and delta(before, after) != Delta()


def _settled(stretch: Sequence[Generation], window: int, least: float, alike: float | None) -> bool:
    """The last `window` generations each left the ontology at least `least` alike."""
    if len(stretch) < window:
        return False
    recorded = [g.completed.similarity if g.completed else None for g in stretch[-window:-1]]
    return all(value is not None and value >= least for value in [*recorded, alike])


def _unchanged(stretch: Sequence[Generation], policy: Policy, alike: float | None) -> str | None:
    window = policy.stagnation_window
    if policy.execute or not _settled(stretch, window, 1.0, alike):
        return None
    return f"the ontology is as it was for {window} generations"


def _spinning(stretch: Sequence[Generation], policy: Policy, alike: float | None) -> str | None:
    trees = [g.execute.tree for g in stretch if g.execute][-SPIN:]
    if not policy.execute or len(trees) < SPIN or len(set(trees)) > 1:
        return None
    return f"the same code {SPIN} generations running"


def _oscillation(stretch: Sequence[Generation], policy: Policy, alike: float | None) -> str | None:
    if len(stretch) < 4 or alike is None or alike >= policy.convergence_threshold:
        return None
    third, second, first, now = (g.ontology for g in stretch[-4:])
    least = policy.convergence_threshold
    if similarity(second, now) < least or similarity(third, first) < least:
        return None
    return "the ontology goes back and forth between two forms"


def _blocked(stretch: Sequence[Generation], policy: Policy, alike: float | None) -> str | None:
    if not policy.execute or policy.freeze_ontology:
        return None
    window = policy.stagnation_window
    if not _settled(stretch, window, policy.convergence_threshold, alike):
        return None
    return f"the ontology has settled for {window} generations, the criteria have not passed"


def _repetition(stretch: Sequence[Generation], policy: Policy, alike: float | None) -> str | None:
    if len(stretch) < 3:
        return None
    two_before, before, now = (_questions(g) for g in stretch[-3:])
    if not now or _share_asked(now, before) < REPEATED or _share_asked(now, two_before) < REPEATED:
        return None
    return f"at least {REPEATED:.0%} of the questions are those of the two generations before"


Asked = tuple[str, str]
"""Subject (normalised) and text of a question."""


def _questions(generation: Generation) -> list[Asked]:
    wonder = generation.wonder
    return [(normalise(q.subject), q.question) for q in wonder.questions] if wonder else []


def _share_asked(questions: Sequence[Asked], earlier: Sequence[Asked]) -> float:
    return sum(_asked_in(question, earlier) for question in questions) / len(questions)


def _asked_in(question: Asked, earlier: Sequence[Asked]) -> bool:
    subject, text = question
    if subject:
        return any(subject == other for other, _ in earlier)
    from rapidfuzz import fuzz

    return any(fuzz.ratio(text, other) >= ALIKE_QUESTION for _, other in earlier)


def _plateau(stretch: Sequence[Generation], policy: Policy, alike: float | None) -> str | None:
    scores = [g.evaluate.score for g in stretch if g.evaluate][-3:]
    if not policy.execute or len(scores) < 3:
        return None
    # Rounded, because 0.09 - 0.08 is a little less than 0.01 in binary.
    if round(max(scores) - min(scores), 9) >= FLAT:
        return None
    return f"three generations score between {min(scores):g} and {max(scores):g}"


Detector = Callable[[Sequence[Generation], Policy, float | None], str | None]

_DETECTORS: tuple[tuple[Pattern, Detector], ...] = (
    (Pattern.UNCHANGED, _unchanged),
    (Pattern.SPINNING, _spinning),
    (Pattern.OSCILLATION, _oscillation),
    (Pattern.BLOCKED, _blocked),
    (Pattern.REPETITION, _repetition),
    (Pattern.PLATEAU, _plateau),
)
