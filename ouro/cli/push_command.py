"""`ouro push`: lineages to a remote."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.sharing import tell
from ouro.cli.wiring import desk, project_option

EPILOG = """\b
Examples:
  ouro push                       every lineage that is here, to the only remote or origin
  ouro push origin greet          one
  ouro push --dry-run             what would be pushed

A lineage goes with its branch, tags, archived tags and hidden checks, all or nothing. What is at
the remote and not here is never replaced: then `ouro pull` comes first."""


@click.command("push", epilog=EPILOG)
@click.argument("remote", required=False, metavar="[REMOTE]")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=lineages)
@click.option("--dry-run", is_flag=True, help="Only say what would be pushed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line: a list.")
@project_option
def command(
    remote: str | None,
    ids: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    project_dir: Path | None,
) -> None:
    """Push lineages to a remote."""
    from ouro.app.push import push
    from ouro.render.sharing import pushed_text

    done, refusal = push(desk(project_dir), remote, ids, dry_run=dry_run)
    tell(done, refusal, pushed_text, as_json=as_json)
