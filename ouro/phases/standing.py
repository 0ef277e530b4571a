"""The sections of a prompt that say how things stand: facts from the log only."""

from collections.abc import Sequence

from ouro.core.events import QaCompleted, Question, Verdict
from ouro.core.lineage import MAX_LEARNINGS, Generation, Lineage
from ouro.core.seed import Criterion, Seed
from ouro.phases import Prompts
from ouro.phases.template import fill
from ouro.phases.text import bullets, clean, cut, fence, keep_end, material, one_line, section

LONGEST_EVIDENCE = 3_000
SHORT_EVIDENCE = 300
_ALL_EVIDENCE = 40_000
_LEAST_EVIDENCE = 500
_LONGEST_SUMMARY = 3_000
_MOST_LEFT_OUT = 50


def judged(lineage: Lineage) -> Generation | None:
    """The newest completed generation that was evaluated on what is asked for now."""
    return next((g for g in reversed(lineage.counted) if g.evaluate), None)


def known_verdicts(lineage: Lineage) -> tuple[Verdict, ...]:
    """The newest verdicts, but for criteria that demand something else now than when judged."""
    before, seed = judged(lineage), lineage.current.seed
    if before is None:
        return ()
    return tuple(v for v in before.verdicts if _same_demand(v.id, before.seed, seed))


def _same_demand(criterion_id: str, before: Seed, now: Seed) -> bool:
    old, new = before.criterion(criterion_id), now.criterion(criterion_id)
    if old is None or new is None:
        return False
    return (old.description, old.checks) == (new.description, new.checks)


def persona(lineage: Lineage) -> str:
    """The advice of the persona that opened this generation."""
    applied = lineage.current.persona
    if applied is None:
        return ""
    stuck = (
        f"The work has not got on ({applied.pattern}), so this generation goes about it otherwise."
    )
    rule = "Follow this; it changes the way, never the specification."
    return section("Another way, for this generation", f"{stuck} {rule}\n\n{applied.advice}")


def standing(lineage: Lineage, prompts: Prompts) -> str:
    values = {
        "generation": str(lineage.current.number),
        "lineage_id": lineage.id,
        "history": _history(lineage.latest),
    }
    return "\n\n".join(
        filter(None, (fill(prompts["standing"], values).strip(), _left_out(lineage)))
    )


def _left_out(lineage: Lineage) -> str:
    """What of the newest execute phase's work did not become part of its generation."""
    before = next((g for g in reversed(lineage.generations) if g.execute), None)
    if before is None or before.execute is None or not before.execute.left_out:
        return ""
    told = [f"`{one_line(left.path, 200)}`: {left.reason}" for left in before.execute.left_out]
    more = len(told) - _MOST_LEFT_OUT
    told = told[:_MOST_LEFT_OUT] + ([f"and {more} more"] if more > 0 else [])
    intro = f"Of what generation {before.number} did, this was not taken over"
    meaning = "(`protected`: it was put back as it had been)"
    return f"{intro} {meaning}:\n\n{material(bullets(told))}"


def _history(latest: Generation | None) -> str:
    if latest is None or latest.completed is None:
        return "It is the first."
    done = latest.completed
    return f"Generation {latest.number} ended with `{done.action}`: {one_line(done.reason, 500)}."


def verdicts(title: str, seed: Seed, given: Sequence[Verdict], passing: int) -> str:
    """The open criteria first, with their evidence; that of passing ones up to `passing`
    characters, none at all for 0."""
    if not given:
        return ""
    by_id = {verdict.id: verdict for verdict in given}
    passed = [c for c in seed.acceptance_criteria if c.id in by_id and by_id[c.id].passed]
    still_open = [c for c in seed.acceptance_criteria if c not in passed]
    limit = min(LONGEST_EVIDENCE, max(_LEAST_EVIDENCE, _ALL_EVIDENCE // max(1, len(still_open))))
    parts = [_open(c, by_id.get(c.id), limit) for c in still_open]
    parts += _passing([by_id[c.id] for c in passed], passing)
    count = f"{len(passed)} of {len(seed.acceptance_criteria)} criteria passed"
    return section(f"{title}: {count}", "\n\n".join(parts))


def _open(criterion: Criterion, verdict: Verdict | None, limit: int) -> str:
    if verdict is None:
        return f"### Open: `{criterion.id}`, not judged yet as it stands"
    title = f"### Open: `{criterion.id}`, score {verdict.score:g}"
    return _with_evidence(title, verdict, limit)


def _passing(passed: Sequence[Verdict], limit: int) -> list[str]:
    if not passed:
        return []
    if not limit:
        names = ", ".join(f"`{verdict.id}`" for verdict in passed)
        return [f"### Passing, to be kept so: {names}"]
    return [_with_evidence(f"### Passing: `{v.id}`", v, limit) for v in passed]


def _with_evidence(title: str, verdict: Verdict, limit: int) -> str:
    evidence = verdict.evidence.strip()
    return f"{title}\n\n{material(cut(evidence, limit))}" if evidence else title


def review(lineage: Lineage) -> str:
    """What QA said of the newest generation that was evaluated."""
    before = judged(lineage)
    if before is None or before.qa is None or before.qa.error:
        return ""
    title = f"Review of generation {before.number}: {before.qa.verdict}, "
    title += f"{before.qa.score:g} of 100"
    return section(title, _findings(before.qa) or "No differences were named.")


def _findings(qa: QaCompleted) -> str:
    lists = {"Differences:": qa.differences, "Suggestions:": qa.suggestions}
    parts = [f"{name}\n{bullets(items)}" for name, items in lists.items() if items]
    return material("\n\n".join(parts)) if parts else ""


def questions(title: str, asked: Sequence[Question]) -> str:
    lines = [_question(number, question) for number, question in enumerate(asked, 1)]
    return section(title, material("\n".join(lines)) if lines else "")


def _question(number: int, question: Question) -> str:
    challenged = ", ".join(question.criteria) or "gap"
    subject = f" (subject: {question.subject})" if question.subject else ""
    return f"{number}. [{challenged}] {question.question}{subject}"


def tensions(found: Sequence[str]) -> str:
    return section("Tensions", material(bullets(found)) if found else "")


def summary(lineage: Lineage) -> str:
    """The end of what the newest execute phase said of its work."""
    before = next((g for g in reversed(lineage.counted) if g.execute), None)
    said = keep_end(before.execute.summary, _LONGEST_SUMMARY) if before and before.execute else ""
    title = f"What generation {before.number} said of its work" if before else ""
    return section(title, material(said) if said else "")


def learnings(lineage: Lineage) -> str:
    newest = lineage.learnings[-MAX_LEARNINGS:]
    return section("Learnings so far, newest last", material(bullets(newest)) if newest else "")


def notes(lineage: Lineage) -> str:
    """The user's notes, word for word."""
    blocks = [fence(clean(note), "note") for note in lineage.notes]
    said = "The user wrote these while the loop ran. Follow them, within the specification."
    body = "\n\n".join([said, *blocks]) if blocks else ""
    return section("Notes from the user, word for word, newest last", body)
