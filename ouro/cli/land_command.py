"""`ouro land`: the result, on a branch of the user's."""

from __future__ import annotations

from pathlib import Path

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import bare_session, json_line, looking, project_option
from ouro.errors import Exit

EPILOG = """\b
Examples:
  ouro land greet --dry-run           what would happen
  ouro land greet                     one commit on the branch that is checked out
  ouro land greet --into release      on another branch, which need not be checked out
  ouro land greet --at gen_3 --merge  a merge commit: the history of the lineage comes along
  gh pr create --body "$(ouro land greet --pr-body)"

It is a merge of what the lineage changed, without .ouro/. Landing again brings what came since.
Conflicts are left in the checkout, as git leaves them (exit 1). How to undo it is printed."""


@click.command("land", epilog=EPILOG)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@click.option("--into", metavar="BRANCH", help="The branch. [default: the one checked out here]")
@click.option(
    "--at", default="@", metavar="GEN", help="gen_3, or @-2. [default: @, the newest completed one]"
)
@click.option(
    "--merge/--squash",
    help="A merge commit, or one plain commit, which keeps your history readable. "
    "[default: --squash]",
)
@click.option("--pr-body", is_flag=True, help="Only print a text for a pull request, in Markdown.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line.")
@project_option
@click.pass_context
def command(
    context: click.Context,
    /,
    lineage_id: str,
    at: str,
    pr_body: bool,
    as_json: bool,
    project_dir: Path | None,
    **how: object,
) -> None:
    """Bring the code of a lineage onto a branch of yours."""
    from ouro.app.land import land, pull_request
    from ouro.render.landing import land_text

    looking(lineage_id, project_dir)
    session = bare_session(lineage_id, project_dir)
    if pr_body:
        text = pull_request(session, at)
        click.echo(json_line(text) if as_json else text.body, nl=as_json)
        return
    done = land(session, at=at, **how)  # type: ignore[arg-type]
    click.echo(json_line(done) if as_json else land_text(done))
    if done.state in ("conflicts", "staged"):
        context.exit(Exit.ERROR)
