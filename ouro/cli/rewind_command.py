"""`ouro rewind`: back to a generation."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import generations, lineages
from ouro.cli.wiring import bare_session, json_line, project_option

EPILOG = """\b
Examples:
  ouro rewind greet --to 2 --dry-run     what would happen
  ouro rewind greet --to 2               code and log of generation 2 again
  ouro rewind greet --to 0               back to the seed

Undo: ouro undo greet. A rewind is a commit on top of ooo/<id>: nothing is lost, and the tags of
the generations left behind are kept below ooo/<id>/rewound_<n>/."""


@click.command("rewind", epilog=EPILOG)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@click.option(
    "--to",
    "to",
    type=click.IntRange(min=0),
    required=True,
    metavar="N",
    help="The generation.",
    shell_complete=generations,
)
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--force", is_flag=True, help="Save what is in the way to a rescue ref, and go.")
@click.option("--checkout", is_flag=True, help="Put your own clean checkout there, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line.")
@project_option
def command(
    lineage_id: str, to: int, checkout: bool, as_json: bool, project_dir: Path | None, **how: bool
) -> None:
    """Go back to the end of generation N: its code exactly, and the log up to there."""
    from ouro.app.jump import rewind
    from ouro.render.jumps import jump_text

    session = bare_session(lineage_id, project_dir)
    done = rewind(session, to, detach=checkout, **how)
    if as_json:
        click.echo(json_line(done))
    elif done is None:
        click.echo(f"{lineage_id} is at generation {to} already: nothing to do")
    else:
        click.echo(jump_text(done))
