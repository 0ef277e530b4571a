"""Texts of a lineage's result on its way out: the landing commit, and a pull request."""

import re
from collections.abc import Sequence

from ouro.core.decision import standing
from ouro.core.events import Method, Verdict
from ouro.core.ids import branch_ref, tag_name
from ouro.core.lineage import Generation, Lineage
from ouro.core.report import figures
from ouro.core.story import counted, cut, one_line

SUBJECT = 72
"""Longest subject of a landing commit, in characters."""
_LANDED = re.compile(r"^Ouro-Commit: ([0-9a-f]{40})\s*$", re.MULTILINE)
_BACKTICKS = re.compile(r"`+")


def title(lineage: Lineage) -> str:
    return cut(one_line(lineage.seed.goal), SUBJECT)


def message(lineage: Lineage, generation: Generation, commit: str) -> str:
    """The message of the commit that lands `generation`, whose code is that of `commit`."""
    met, left = _criteria(generation)
    parts = [title(lineage), f"Generation {generation.number} of the lineage {lineage.id}."]
    parts += [_listed("Criteria met", met)] if met else []
    parts += [_listed("Criteria open", left)] if left else []
    trailers = (
        f"Ouro-Lineage: {lineage.id}",
        f"Ouro-Generation: {generation.number}",
        f"Ouro-Commit: {commit}",
    )
    return "\n\n".join([*parts, "\n".join(trailers)]) + "\n"


def _criteria(generation: Generation) -> tuple[list[str], list[str]]:
    """The criteria that are met, and those that are not, a line each."""
    passed = {verdict.id for verdict in generation.verdicts if verdict.passed}
    met: list[str] = []
    left: list[str] = []
    for criterion in generation.seed.acceptance_criteria:
        line = f"{criterion.id}: {cut(one_line(criterion.description), 200)}"
        (met if criterion.id in passed else left).append(line)
    return met, left


def _listed(head: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{head}:", *(f"- {line}" for line in lines)])


def landed(text: str) -> list[str]:
    """The commits of lineages that a commit with the message `text` landed: also one into which
    several others, with their messages, were squashed."""
    return _LANDED.findall(text)


def objections(generation: Generation, qa: bool) -> tuple[str, ...]:
    """What keeps a generation from being approved, a line each; none where it is. `qa`: whether a
    reviewer has to pass it."""
    lines = [f"{line} (open)" for line in _criteria(generation)[1]]
    if qa and not lines and not generation.approved(qa):
        lines.append(f"QA {generation.qa.verdict}" if generation.qa else "QA has not looked at it")
    return tuple(lines)


# --- a pull request ----------------------------------------------------------------------------


def pull_request(lineage: Lineage, generation: Generation, commit: str) -> str:
    """What to say of `generation` in a pull request, in Markdown."""
    number = generation.number
    parts = [
        lineage.seed.goal.strip(),
        f"## Criteria\n\n{_checklist(generation)}",
        f"## Review\n\n{_review(generation)}",
        f"## How it came about\n\n{_table(lineage.generations[:number])}\n\n{_cost(generation)}",
        f"## Looking closer\n\n{_commands(lineage, number, commit)}",
    ]
    return "\n\n".join(parts) + "\n"


def _checklist(generation: Generation) -> str:
    verdicts = {verdict.id: verdict for verdict in generation.verdicts}
    return "\n".join(
        f"- [{'x' if (found := verdicts.get(c.id)) and found.passed else ' '}] **{c.id}** "
        f"{one_line(c.description)}{_evidence(found)}"
        for c in generation.seed.acceptance_criteria
    )


def _evidence(verdict: Verdict | None) -> str:
    if verdict is None:
        return "  \n  not judged"
    how = {
        Method.CHECK: "by its check",
        Method.AGENT: f"by an agent, score {verdict.score:g}",
        Method.OFFLINE: "by rules, no model",
        Method.CARRIED: "as in the generation before",
        Method.UNRESOLVED: "unresolved",
    }[verdict.method]
    said = one_line(verdict.evidence)
    return f"  \n  {how}" + (f": {literal(cut(said, 200))}" if said else "")


def literal(text: str) -> str:
    """`text` as code: what others wrote must neither be markup nor notify anybody."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _review(generation: Generation) -> str:
    qa = generation.qa
    if qa is None:
        return "No reviewer looked at it."
    said = f"QA: {qa.verdict} ({qa.score:g} of 100)"
    listed = "\n".join(f"- {literal(cut(one_line(text), 300))}" for text in qa.differences)
    return f"{said}\n\n{listed}" if listed else said


def _table(generations: Sequence[Generation]) -> str:
    head = "| generation | action | similarity | standing |\n| --- | --- | --- | --- |"
    return "\n".join([head, *map(_row, generations)])


def _row(generation: Generation) -> str:
    completed = generation.completed
    assert completed is not None, "only completed generations are in a lineage's row"
    alike = "" if completed.similarity is None else f"{completed.similarity:g}"
    return f"| {generation.number} | {completed.action} | {alike} | {standing(generation)} |"


def _cost(generation: Generation) -> str:
    total = figures(generation.total)
    cost = "cost unknown" if total.cost is None else f"{total.cost:.2f} USD"
    if total.cost is not None and total.unknown_calls:
        cost += f" known, {counted(total.unknown_calls, 'call')} of unknown cost"
    return f"In all {total.seconds:.0f} s of work, {cost}."


def _commands(lineage: Lineage, number: int, commit: str) -> str:
    branch, tag = branch_ref(lineage.id).removeprefix("refs/heads/"), tag_name(lineage.id, number)
    lines = [
        f"git log --first-parent --oneline {branch}    # every step",
        f"git show {tag}    # the decision",
        f"git log -p --first-parent {commit[:12]} -- . ':!.ouro'    # each step with its code",
    ]
    return "\n".join(f"    {line}" for line in lines)
