"""`ouro path`: for `cd "$(ouro path ID)"`."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import looking, project_option
from ouro.errors import OuroError


@click.command("path", epilog='\b\nExample:\n  cd "$(ouro path greet)"\n\nThis changes nothing.')
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@project_option
def command(lineage_id: str, project_dir: Path | None) -> None:
    """The folder of a lineage's workspace."""
    from ouro.app import history

    repo, name = looking(lineage_id, project_dir)
    found = history.workspace(repo, name)
    if found is None:
        raise OuroError(
            f"{name} is checked out nowhere now", f"the next step makes it: git show ooo/{name}:"
        )
    click.echo(found)
