"""What the Tab key offers: lineages and generations, by their refs alone.

Outside of a repository, and whatever else is wrong, nothing is offered and nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem


def lineages(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The lineages of the repository that the command line is about."""
    names = _refs(ctx, "refs/heads/ooo/")
    return _items((name.removeprefix("refs/heads/ooo/") for name in names), incomplete)


def generations(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The generations of the lineage on the command line: `3` where the parameter is a number,
    else `gen_3`."""
    # click hands out arguments unread where the option before the cursor still wants its value.
    lineage = ctx.params.get("lineage_id") or next(iter(ctx.args), "*")
    names = _refs(ctx, f"refs/tags/ooo/{lineage}/gen_*")
    numbers = sorted({int(n) for n in (name.rpartition("_")[2] for name in names) if n.isdecimal()})
    prefix = "" if isinstance(param.type, click.IntRange) else "gen_"
    return _items((f"{prefix}{number}" for number in numbers), incomplete)


def _refs(ctx: click.Context, pattern: str) -> list[str]:
    from ouro.git.program import ref_names

    return ref_names(Path(ctx.params.get("project_dir") or "."), pattern)


def _items(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]
