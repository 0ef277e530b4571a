"""`ouro note`: a word to the next prompts."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import bare_session, project_option
from ouro.errors import UsageProblem


@click.command(
    "note",
    epilog="\b\nExample:\n  ouro note greet 'the tests need TZ=UTC'\n\n"
    "A note stays in the log: it cannot be taken back, but a later one can correct it.",
)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@click.argument("text")
@project_option
def command(lineage_id: str, text: str, project_dir: Path | None) -> None:
    """Tell the agents something: the step that runs, or the next one, puts it into the log before
    its next request, and every later prompt has it."""
    from ouro.app import people

    if not text.strip():
        raise UsageProblem("the note is empty", "say what the agents are to know")
    people.note(bare_session(lineage_id, project_dir), text)
    click.echo(f"queued; the next request of {lineage_id} carries it", err=True)
