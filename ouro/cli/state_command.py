"""`ouro state`: what the log adds up to."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import generations, lineages
from ouro.cli.wiring import looking, project_option


@click.command(
    "state",
    epilog="\b\nExamples:\n  ouro state greet --at gen_2\n  ouro state greet --json | sha256sum\n\n"
    "Two clones with the same log print the same bytes. This changes nothing.",
)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@project_option
@click.option(
    "--at",
    metavar="GEN",
    help="When this generation was completed: gen_2, @-.",
    shell_complete=generations,
)
@click.option("--json", "as_json", is_flag=True, help="All of it, in one canonical JSON line.")
def command(lineage_id: str, project_dir: Path | None, at: str | None, as_json: bool) -> None:
    """The state that a lineage's events lead to."""
    from ouro.app import show
    from ouro.core.lineage import canonical
    from ouro.core.overview import overview
    from ouro.render.overview import overview_text
    from ouro.render.screen import PLAIN

    repo, name = looking(lineage_id, project_dir)
    found = show.state(repo, name, at)
    click.echo(canonical(found) if as_json else overview_text(overview(found), PLAIN))
