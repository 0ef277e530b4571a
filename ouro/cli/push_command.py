"""`ouro push`: lineages to a remote."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import desk, json_line, project_option

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
    from ouro.render.sharing import pushed_text, refusal_text

    done, refusal = push(desk(project_dir), remote, ids, dry_run=dry_run)
    if as_json:
        click.echo(json_line(done))
    for one in done:
        if one.reason:
            click.echo(refusal_text(one.lineage_id, one.reason, one.hint), err=True)
        elif not as_json:
            click.echo(pushed_text(one))
    if refusal:
        raise SystemExit(int(refusal.exit_code))
