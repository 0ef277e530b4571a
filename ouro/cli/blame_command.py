"""`ouro blame`: which generation brought, met and broke what."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import json_line, looking, project_option


@click.command(
    "blame",
    epilog="\b\nA place is a generation (0: the creation) and the commit that recorded it.\n\n"
    "\b\nExample:\n  ouro blame greet\n\nThis changes nothing.",
)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@project_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line.")
def command(lineage_id: str, project_dir: Path | None, as_json: bool) -> None:
    """For each criterion and ontology field: what brought it, changed it last, met it, broke it."""
    from ouro.app import blame
    from ouro.cli.paging import paged
    from ouro.render.blame import blame_text

    repo, name = looking(lineage_id, project_dir)
    found = blame.of(repo, name)
    with paged(repo) as screen:
        click.echo(
            json_line(found) if as_json else blame_text(found, screen),
            color=screen.colour,
        )
