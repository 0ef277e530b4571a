"""`ouro pull`: lineages from a remote."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.sharing import tell
from ouro.cli.wiring import desk, project_option

EPILOG = """\b
Examples:
  ouro pull                       every lineage at the only remote, or origin
  ouro pull origin greet          one

Branch, tags and workspace only go forward. Where both sides went on, the remote's stays ID, and
yours becomes a lineage of its own, ID-<host>-g<generation>: nothing is lost."""


@click.command("pull", epilog=EPILOG)
@click.argument("remote", required=False, metavar="[REMOTE]")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=lineages)
@click.option("--json", "as_json", is_flag=True, help="One JSON line: a list.")
@project_option
def command(
    remote: str | None, ids: tuple[str, ...], as_json: bool, project_dir: Path | None
) -> None:
    """Take up what a remote has of lineages."""
    from ouro.app.pull import pull
    from ouro.render.sharing import pulled_text

    done, refusal = pull(desk(project_dir), remote, ids)
    tell(done, refusal, pulled_text, as_json=as_json)
