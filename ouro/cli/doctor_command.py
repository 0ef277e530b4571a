"""`ouro doctor`: is all well here?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from ouro.cli.wiring import bare_session, json_line, project_option
from ouro.errors import Exit

EPILOG = """\b
Examples:
  ouro doctor
  ouro doctor --fix

--fix makes again what derives from the log, and recovers what a dead step left, as the next step
would. It touches no rescue ref and nothing of yours, so there is nothing to undo.
Exit codes: 0 no problem is left, 1 one is. Without --fix nothing is changed."""


@click.command("doctor", epilog=EPILOG)
@project_option
@click.option("--fix", is_flag=True, help="Mend what is ouro's own.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line: what was fixed, and found.")
def command(project_dir: Path | None, fix: bool, as_json: bool) -> None:
    """Look over git, the agents, the repository and its lineages: what is well, what to know, what
    is wrong and what to do."""
    from ouro.app.doctor import examine
    from ouro.render.doctor import examined_text

    session = partial(bare_session, project_dir=project_dir)
    found = examine(project_dir or Path.cwd(), session, fix=fix)
    click.echo(json_line(found) if as_json else examined_text(found))
    if not found.well:
        raise SystemExit(int(Exit.ERROR))
