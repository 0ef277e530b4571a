"""`ouro list`: a line for each lineage."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.wiring import json_line, now, project_option, repository


@click.command("list", epilog="\b\nExample:\n  ouro list --json\n\nThis changes nothing.")
@project_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line: a list.")
def command(project_dir: Path | None, as_json: bool) -> None:
    """The lineages of this repository, one line each."""
    from ouro.app import history
    from ouro.render.tables import standing_line

    repo = repository(project_dir)
    found = [history.standing(repo, name, now()) for name in history.ids(repo)]
    if as_json:
        click.echo(json_line(found))
    for one in found if not as_json else ():
        click.echo(standing_line(one))
