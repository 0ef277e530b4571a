"""One thing in a line or a small block: lineages, generations, clients, seeds."""

from __future__ import annotations

from ouro.app.clients import Client
from ouro.app.history import Standing
from ouro.app.seeds import Checkup
from ouro.core.decision import standing as standing_of
from ouro.core.lineage import Generation
from ouro.core.report import Spending
from ouro.core.story import counted
from ouro.render.screen import printable


def standing_text(one: Standing, *, in_full: bool = False) -> str:
    """A lineage's standing as a small block of lines; `in_full` with what each generation took."""
    rows = [
        ("state", one.state),
        ("goal", " ".join(one.goal.split())),
        ("generation", str(one.generation)),
        ("criteria", f"{one.passed}/{one.total} passed" + (f", QA {one.qa}" if one.qa else "")),
        ("similarity", "none yet" if one.similarity is None else f"{one.similarity:g}"),
        ("tokens", _tokens(one.input_tokens, one.output_tokens)),
        ("cost", _cost(one.cost, one.unknown_calls)),
        ("time", f"{one.seconds:.0f} s of work"),
        ("workspace", one.workspace or "not checked out"),
        ("next", one.next),
    ]
    if in_full:
        rows += [(f"gen {spent.generation}", _usage(spent.usage)) for spent in one.spending]
    return printable("\n".join([one.lineage_id, *(f"  {name:<11}{text}" for name, text in rows)]))


def _usage(usage: Spending) -> str:
    tokens = _tokens(usage.input_tokens, usage.output_tokens)
    cost = _cost(usage.cost, usage.unknown_calls)
    return f"{usage.seconds:.0f} s, tokens: {tokens}, cost: {cost}"


def _tokens(given: int | None, received: int | None) -> str:
    return "unknown" if given is None else f"{given:,} in, {received:,} out"


def _cost(cost: float | None, unknown: int) -> str:
    """Money as far as it is known: a client that does not say is unknown, not free."""
    if cost is None:
        return "unknown"
    known = f"{cost:.2f} USD"
    return f"{known} known, {counted(unknown, 'call')} unknown" if unknown else known


def standing_line(one: Standing) -> str:
    alike = "" if one.similarity is None else f"  similarity {one.similarity:g}"
    text = f"{one.lineage_id:<20} {one.state:<10} gen {one.generation}  "
    return printable(f"{text}{one.passed}/{one.total} passed{alike}")


def client_line(one: Client) -> str:
    state = (one.version or "says no version") if one.path else "not installed"
    only = "" if one.edits else "  (only answers, edits nothing)"
    return printable(f"{one.name:<10} {state:<40} measured with {one.seen}{only}")


def checkup_text(one: Checkup) -> str:
    """What there is to say of a seed: warnings and advice, a line each, then the sums."""
    lines = [f"warning: {text}" for text in one.warnings]
    lines += [f"{remark.where}: {remark.text}" for remark in one.advice]
    hidden = f", {one.hidden} hidden" if one.hidden else ""
    noun = "criterion" if one.criteria == 1 else "criteria"
    lines.append(f"{one.criteria} {noun}, {one.checked} with a visible check{hidden}")
    covered = "all of them" if not one.uncovered else f"all but {', '.join(one.uncovered)}"
    if len(one.uncovered) == one.criteria:
        covered = "none of them"
    lines.append(f"the offline agent can meet and verify {covered}")
    return printable("\n".join(lines))


def generation_line(one: Generation) -> str:
    """A completed generation in one line."""
    assert one.completed is not None, "only completed generations have a line"
    alike = one.completed.similarity
    shown = "   –  " if alike is None else f"{alike:.4f}"
    text = f"gen {one.number:>3}  {one.completed.action:<10} {shown}  {standing_of(one)}"
    return printable(text + (f"  [{one.persona.persona}]" if one.persona else ""))
