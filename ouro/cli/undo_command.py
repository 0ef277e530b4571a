"""`ouro undo`: the last rewind taken back."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import bare_session, json_line, project_option

EPILOG = """\b
Examples:
  ouro undo greet               the generations that the last rewind left are there again
  ouro undo greet --dry-run     what would happen

Undo: ouro undo greet once more, which does the rewind again."""


@click.command("undo", epilog=EPILOG)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--force", is_flag=True, help="Save what is in the way to a rescue ref, and go.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line.")
@project_option
def command(
    lineage_id: str, dry_run: bool, force: bool, as_json: bool, project_dir: Path | None
) -> None:
    """Go back to the tip that the last rewind left, with its whole log. Generations that came after
    the rewind are left behind in their turn, and kept."""
    from ouro.app.jump import undo
    from ouro.render.jumps import jump_text

    done = undo(bare_session(lineage_id, project_dir), dry_run=dry_run, force=force)
    click.echo(json_line(done) if as_json else jump_text(done))
