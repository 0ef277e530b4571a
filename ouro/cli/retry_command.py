"""`ouro retry`: end a pause by hand."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import bare_session, project_option


@click.command(
    "retry",
    epilog="\b\nExample:\n  ouro retry greet\n\nThe log keeps that the pause was ended by hand.",
)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@project_option
def command(lineage_id: str, project_dir: Path | None) -> None:
    """End the pause after a failure or a rate limit: the next step tries at once."""
    from ouro.app import people

    until = people.retry(bare_session(lineage_id, project_dir))
    if until is None:
        click.echo(f"{lineage_id} is not paused")
    else:
        click.echo(f"ended the pause of {lineage_id} (it would have lasted until {until})")
