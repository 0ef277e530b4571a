"""`ouro stop`: end a loop after the generation it is in."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import bare_session, project_option


@click.command(
    "stop",
    epilog="\b\nExample:\n  ouro stop greet\n\nUndo: start the same command again; it goes on.",
)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@project_option
def command(lineage_id: str, project_dir: Path | None) -> None:
    """Ask the step or loop that runs to end after its generation, with exit code 15."""
    from ouro.app import people

    found = people.stop(bare_session(lineage_id, project_dir))
    if found is None:
        click.echo(f"nothing of {lineage_id} runs here")
        return
    loop = f" of the loop {found.loop}" if found.loop else ""
    click.echo(f"asked step {found.pid}{loop} to end after this generation")
