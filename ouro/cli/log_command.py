"""`ouro log`: what happened, from the log."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.wiring import project_option, repository


@click.command(
    "log",
    epilog="\b\nExamples:\n  ouro log greet\n  ouro log greet --generations\n"
    "  ouro log greet --json | jq .type\n\nThis changes nothing.",
)
@click.argument("lineage_id", metavar="ID")
@project_option
@click.option("--generations", is_flag=True, help="A line for each generation, not each event.")
@click.option("--json", "as_json", is_flag=True, help="The events' own lines, as in the log.")
def command(lineage_id: str, project_dir: Path | None, generations: bool, as_json: bool) -> None:
    """The events of a lineage, oldest first, a line each."""
    from ouro.app import history
    from ouro.core.ids import check_lineage_id
    from ouro.render import event_line, generation_line

    repo, name = repository(project_dir), check_lineage_id(lineage_id)
    if generations:
        from ouro.core.report import of_generation, to_json

        for one in history.generations(repo, name):
            report = of_generation(name, one, history.commit_of(repo, name, one.number))
            click.echo(to_json(report) if as_json else generation_line(one))
        return
    for event, line in history.lines(repo, name):
        click.echo(line if as_json else event_line(event))
