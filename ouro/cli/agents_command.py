"""`ouro agents`: which clients ouro knows, and which are here."""

from __future__ import annotations

import click


@click.command("agents", epilog="\b\nExample:\n  ouro agents --json\n\nThis changes nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line: a list.")
def command(as_json: bool) -> None:
    """The coding agents that --agent knows by name, and the version of those that are installed."""
    import msgspec

    from ouro.app.clients import survey
    from ouro.render.tables import client_line

    found = survey()
    if as_json:
        click.echo(msgspec.json.encode(found))
    for client in found if not as_json else ():
        click.echo(client_line(client))
