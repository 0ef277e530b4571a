"""`ouro init`: a configuration to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.wiring import project_option, repository


@click.command(
    "init", epilog="\b\nExample:\n  ouro init\n\nUndo: delete ouro.yaml. It is never overwritten."
)
@project_option
def command(project_dir: Path | None) -> None:
    """Find the coding agents that are here, and write a commented ouro.yaml."""
    from ouro.app.clients import write_configuration

    path, found = write_configuration(repository(project_dir).root)
    click.echo(f"wrote {path}", err=True)
    if found:
        click.echo(f"agents here: {', '.join(found)}; the first one is chosen", err=True)
    else:
        click.echo("no agent that ouro knows is here: name a command in it", err=True)
    click.echo("next: ouro seed new seed.yaml", err=True)
