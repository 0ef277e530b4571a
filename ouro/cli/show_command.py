"""`ouro show`: one lineage, generation or event, whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ouro.cli.completion import generations, lineages
from ouro.cli.wiring import json_line, looking, project_option

if TYPE_CHECKING:
    from ouro.app.show import GenerationView
    from ouro.core.overview import Overview
    from ouro.git.timeline import Recorded
    from ouro.render.screen import Screen


@click.command(
    "show",
    epilog="\b\nWHAT is\n"
    "  gen_3             that generation, also while it is in progress\n"
    "  @, @-, @-2        the newest completed one, the first and second before it\n"
    "  17, 01KG7Q3Z      an event: its number, or at least 4 characters of its id\n\n"
    "\b\nExamples:\n  ouro show greet\n  ouro show greet @\n  ouro show greet 17 --json\n\n"
    "This changes nothing.",
)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@click.argument("what", metavar="[WHAT]", required=False, shell_complete=generations)
@project_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line; an event as in the log.")
def command(lineage_id: str, what: str | None, project_dir: Path | None, as_json: bool) -> None:
    """A lineage: goal, constraints, criteria, ontology; or one generation or event of it."""
    from ouro.app import show
    from ouro.cli.paging import paged

    repo, name = looking(lineage_id, project_dir)
    found = show.named(repo, name, what) if what is not None else show.lineage(repo, name)
    with paged(repo) as screen:
        click.echo(_json(found) if as_json else _text(found, screen), color=screen.colour)


def _json(found: Overview | GenerationView | Recorded) -> str:
    from ouro.core.codec import encode
    from ouro.git.timeline import Recorded

    return encode(found.event).decode() if isinstance(found, Recorded) else json_line(found)


def _text(found: Overview | GenerationView | Recorded, screen: Screen) -> str:
    from ouro.core.overview import Overview
    from ouro.git.timeline import Recorded
    from ouro.render.fact import event_text
    from ouro.render.generation import generation_text
    from ouro.render.overview import overview_text

    match found:
        case Overview():
            return overview_text(found, screen)
        case Recorded():
            return event_text(found, screen, details=True).rstrip("\n")
        case _:
            return generation_text(found, screen)
