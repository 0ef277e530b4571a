"""`ouro diff`: what changed between two generations."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import generations, lineages
from ouro.cli.wiring import json_line, looking, project_option


@click.command(
    "diff",
    epilog="\b\nA and B are gen_3, @ (the newest completed generation), @-, @-2.\n\n"
    "\b\nExamples:\n  ouro diff greet @-\n  ouro diff greet gen_2 gen_5 -p\n\n"
    "This changes nothing.",
)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@click.argument("before", metavar="A", shell_complete=generations)
@click.argument("after", metavar="[B]", default="@", shell_complete=generations)
@project_option
@click.option("-p", "patch", is_flag=True, help="The code as a patch, not as a summary.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line; of the code the files.")
def command(
    lineage_id: str, before: str, after: str, project_dir: Path | None, patch: bool, as_json: bool
) -> None:
    """Generation A against B (the newest completed one): ontology, criteria, QA and code."""
    from ouro.app import diff
    from ouro.cli.paging import paged
    from ouro.render.comparison import difference_text

    repo, name = looking(lineage_id, project_dir)
    found = diff.between(repo, name, before, after)
    with paged(repo) as screen:
        if as_json:
            click.echo(json_line(found))
            return
        click.echo(difference_text(found, screen), color=screen.colour)
        code = (
            diff.patch(repo, found, colour=screen.colour)
            if patch
            else diff.stat(repo, found, colour=screen.colour, width=screen.width)
        )
        if code:
            click.echo(b"\n" + screen.patch(code), nl=False)
