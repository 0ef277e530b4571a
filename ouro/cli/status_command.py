"""`ouro status`: where a lineage stands."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.wiring import now, project_option, repository


@click.command(
    "status",
    epilog="\b\nExamples:\n  ouro status\n  ouro status greet --json\n\nThis changes nothing.",
)
@click.argument("lineage_id", metavar="[ID]", required=False)
@project_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line: an object, or a list of all.")
def command(lineage_id: str | None, project_dir: Path | None, as_json: bool) -> None:
    """State, generation, criteria passed, similarity, cost, workspace, and what comes next."""
    from ouro.app import history
    from ouro.core.ids import check_lineage_id
    from ouro.render import standing_text

    repo = repository(project_dir)
    names = [check_lineage_id(lineage_id)] if lineage_id else history.ids(repo)
    found = [history.standing(repo, name, now()) for name in names]
    if as_json:
        click.echo(history.to_json(found[0] if lineage_id else found))
    elif found:
        click.echo("\n\n".join(standing_text(one) for one in found))
    else:
        click.echo("no lineages here; begin one: ouro step --lineage-id ID --seed-file FILE")
