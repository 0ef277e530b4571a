"""`ouro status`: where a lineage stands."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import json_line, looking, now, project_option, repository


@click.command(
    "status",
    epilog="\b\nExamples:\n  ouro status\n  ouro status greet --json\n\nThis changes nothing.",
)
@click.argument("lineage_id", metavar="[ID]", required=False, shell_complete=lineages)
@project_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line: an object, or a list of all.")
def command(lineage_id: str | None, project_dir: Path | None, as_json: bool) -> None:
    """State, generation, criteria passed, similarity, what it took, workspace, what comes next."""
    from ouro.app import history
    from ouro.render.tables import standing_text

    if lineage_id is None:
        repo = repository(project_dir)
        names = history.ids(repo)
    else:
        repo, name = looking(lineage_id, project_dir)
        names = [name]
    found = [history.standing(repo, name, now()) for name in names]
    if as_json:
        click.echo(json_line(found[0] if lineage_id else found))
    elif found:
        click.echo("\n\n".join(standing_text(one, in_full=bool(lineage_id)) for one in found))
    else:
        click.echo("no lineages here; begin one: ouro step --lineage-id ID --seed-file FILE")
