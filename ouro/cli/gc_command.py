"""`ouro gc`: remove what is left over."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import json_line, project_option, session

EPILOG = """\b
Examples:
  ouro gc              what could go, what stays, and why: this changes nothing
  ouro gc greet        of one lineage
  ouro gc --yes        remove it

It finds workspaces of ended lineages (clean, and pushed or landed), the agents' output of older
generations and of ended lineages, rescue refs older than 30 days but the newest, and what is left
of lineages that are gone. Branches, logs, tags and your own checkouts are never removed."""


@click.command("gc", epilog=EPILOG)
@click.argument("lineage_ids", metavar="[ID]...", nargs=-1, shell_complete=lineages)
@click.option("--yes", is_flag=True, help="Remove what is listed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line.")
@project_option
def command(
    lineage_ids: tuple[str, ...], yes: bool, as_json: bool, project_dir: Path | None
) -> None:
    """List what is left over, and with --yes remove it."""
    from ouro.app.gc import collect
    from ouro.app.session import Options
    from ouro.render.collection import collection_text
    from ouro.render.terminal import Terminal

    here = session(
        Options(""),
        project_dir=project_dir,
        flags={},
        console=Terminal(sys.stderr),
        interrupt=lambda: 0,
    )
    done = collect(here, lineage_ids, yes=yes)
    click.echo(json_line(done) if as_json else collection_text(done))
