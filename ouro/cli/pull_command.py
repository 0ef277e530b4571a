"""`ouro pull`: lineages from a remote."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import desk, json_line, project_option

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
    from ouro.render.sharing import pulled_text, refusal_text

    done, refusal = pull(desk(project_dir), remote, ids)
    if as_json:
        click.echo(json_line(done))
    for one in done:
        if one.reason:
            click.echo(refusal_text(one.lineage_id, one.reason, one.hint), err=True)
        elif not as_json:
            click.echo(pulled_text(one))
    if refusal:
        raise SystemExit(int(refusal.exit_code))
