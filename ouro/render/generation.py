"""A generation as a page: what it asked, changed, did, and how it was judged."""

from __future__ import annotations

from ouro.app.show import GenerationView
from ouro.core.events import Spent, Usage
from ouro.core.lineage import Generation
from ouro.core.story import counted
from ouro.render.comparison import seed_change_lines
from ouro.render.fact import indented, named_lines, usage_text
from ouro.render.screen import TITLE, Screen, printable


def generation_text(view: GenerationView, screen: Screen) -> str:
    one = view.generation
    state = one.completed.action if one.completed else "in progress"
    title = f"generation {one.number} of {view.lineage_id}: {state}"
    lines = [
        f"commit: {view.commit}",
        f"tag: {view.tag or 'none here'}",
        *_decision(one),
        *_titled("seed", seed_change_lines(view.changes)),
        *named_lines(f"ontology {one.ontology.name}".rstrip(), one.ontology.fields),
        *named_lines("persona", one.persona),
        *_thinking(one),
        *_work(one),
        *_judgement(one),
        *_usage(one),
    ]
    return "\n".join(
        [screen.painted(printable(title), TITLE), *(printable(line) for line in lines)]
    )


def _titled(title: str, lines: list[str]) -> list[str]:
    return [f"{title}:", *indented(lines)] if lines else []


def _decision(one: Generation) -> list[str]:
    if one.completed is None:
        return []
    alike = one.completed.similarity
    return [
        *named_lines("reason", one.completed.reason),
        *named_lines("similarity", alike),
        *named_lines("next generation", one.completed.next_generation),
    ]


def _thinking(one: Generation) -> list[str]:
    lines: list[str] = []
    if one.wonder:
        lines += named_lines("questions", one.wonder.questions)
        lines += named_lines("tensions", one.wonder.tensions)
    if one.reflect:
        lines += named_lines("mutations", one.reflect.mutations)
        lines += named_lines("criteria changes", one.reflect.criteria)
        lines += named_lines("learnings", one.reflect.learnings)
        lines += named_lines("reasoning", one.reflect.reasoning)
    return lines


def _work(one: Generation) -> list[str]:
    done = one.execute
    if done is None:
        return []
    changed = f"{counted(len(done.files), 'file')} changed (+{done.added} −{done.removed})"
    return [
        f"work: {changed}",
        *indented(done.files),
        *named_lines("summary", done.summary),
        *named_lines("commits of the agent", done.adopted),
        *named_lines("left out", done.left_out),
    ]


def _judgement(one: Generation) -> list[str]:
    lines = named_lines("verdicts", one.verdicts)
    if one.qa:
        carried = ", carried over" if one.qa.carried else ""
        lines.append(f"QA: {one.qa.verdict} ({one.qa.score:g}{carried})")
        lines += indented(named_lines("error", one.qa.error))
        lines += indented(named_lines("differences", one.qa.differences))
        lines += indented(named_lines("suggestions", one.qa.suggestions))
    return lines


def _usage(one: Generation) -> list[str]:
    phases = (("wonder", one.wonder), ("reflect", one.reflect), ("execute", one.execute))
    judges = (("evaluate", one.evaluate), ("qa", one.qa))
    calls = [(name, done.usage) for name, done in (*phases, *judges) if done]
    lines = [f"{name}: {_call(usage)}" for name, usage in calls]
    return _titled("usage", [*lines, f"as far as known: {_sum(one.spent)}"] if lines else [])


def _call(usage: Usage | None) -> str:
    return usage_text(usage) if usage else "no agent was asked"


def _sum(spent: Spent) -> str:
    unknown = f"; {counted(spent.unknown, 'call')} of unknown cost" if spent.unknown else ""
    tokens = f"{spent.input_tokens} tokens in, {spent.output_tokens} out"
    return f"{tokens}, {spent.cost:.4f} USD, {spent.seconds:.1f} s{unknown}"
