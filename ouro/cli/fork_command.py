"""`ouro fork`: a new lineage off another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ouro.cli.completion import generations, lineages
from ouro.cli.wiring import bare_session, json_line, project_option

EPILOG = """\b
Examples:
  ouro fork greet greet2                          go on from the newest generation
  ouro fork greet greet2 --at 3                   from generation 3
  ouro fork greet greet2 --seed-file seed2.yaml   with another seed from there on

The next `ouro step --lineage-id greet2` goes on. The source is only read."""


@click.command("fork", epilog=EPILOG)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@click.argument("new", metavar="NEW")
@click.option(
    "--at",
    type=click.IntRange(min=0),
    metavar="N",
    help="The generation. [default: the newest]",
    shell_complete=generations,
)
@click.option("--seed-file", type=click.Path(path_type=Path), help="Another seed from there on.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line.")
@project_option
def command(lineage_id: str, new: str, as_json: bool, project_dir: Path | None, **how: Any) -> None:
    """Make the lineage NEW, which shares the history of ID up to generation N."""
    from ouro.app.fork import fork
    from ouro.core.ids import check_lineage_id
    from ouro.render.jumps import fork_text

    session = bare_session(new, project_dir)
    done = fork(session, check_lineage_id(lineage_id), **how)
    click.echo(json_line(done) if as_json else fork_text(done))
