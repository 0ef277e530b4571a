"""How `ouro push` and `ouro pull` tell what they did for each lineage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from ouro.cli.wiring import json_line

if TYPE_CHECKING:
    from ouro.app.pull import Pulled
    from ouro.app.push import Pushed
    from ouro.errors import OuroError

One = TypeVar("One", "Pulled", "Pushed")


def tell(
    done: Sequence[One], refusal: OuroError | None, text: Callable[[One], str], *, as_json: bool
) -> None:
    """Each lineage on stdout, refusals on stderr; the first one gives the exit code."""
    from ouro.render.sharing import refusal_text

    if as_json:
        click.echo(json_line(done))
    for one in done:
        if one.reason:
            click.echo(refusal_text(one.lineage_id, one.reason, one.hint), err=True)
        elif not as_json:
            click.echo(text(one))
    if refusal:
        raise SystemExit(int(refusal.exit_code))
