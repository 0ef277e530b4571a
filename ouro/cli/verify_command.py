"""`ouro verify`: prove that nobody changed a lineage's history."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ouro.cli.completion import lineages
from ouro.cli.wiring import json_line, project_option, repository
from ouro.errors import UsageProblem

if TYPE_CHECKING:
    from ouro.core.verify.history import Verified
    from ouro.git.repository import Repo


@click.command(
    "verify",
    epilog="\b\nExamples:\n  ouro verify greet\n  ouro verify --all --json\n"
    "  ouro verify origin/ooo/greet..ooo/greet\n\n"
    "Exits 0 where nothing was found, 1 where something was, 75 where it cannot be told (a shallow "
    "or partial clone, a log of a newer ouro). This changes nothing.",
)
@click.argument("what", metavar="[ID | OLD..NEW]", required=False, shell_complete=lineages)
@project_option
@click.option("--all", "every", is_flag=True, help="Every lineage that has a branch here.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, for each lineage.")
def command(what: str | None, project_dir: Path | None, every: bool, as_json: bool) -> None:
    """Check every commit, line, decision and tag of a lineage's history.

    OLD..NEW checks what came after the commit OLD, which is trusted (forty zeros: everything), and
    no tags. Without a name the one lineage there is.
    """
    from ouro.app import verify

    results = _verified(repository(project_dir), what, every)
    for result in results:
        if as_json:
            click.echo(json_line(result))
        else:
            _tell(result)
    sys.exit(verify.exit_code(results))


def _verified(repo: Repo, what: str | None, every: bool) -> list[Verified]:
    from ouro.app import verify
    from ouro.core.ids import check_lineage_id

    if what and every:
        raise UsageProblem(f"{what} and --all", "give one of them")
    if every:
        return verify.every(repo)
    if what is None:
        return [verify.only(repo)]
    if ".." not in what:
        return [verify.one(repo, check_lineage_id(what))]
    old, _, new = what.partition("..")
    if not old or not new or new.startswith("."):
        raise UsageProblem(f"{what!r} is no range", "give OLD..NEW, two commits")
    return [verify.between(repo, old, new)]


def _tell(result: Verified) -> None:
    from ouro.render.terminal import Terminal
    from ouro.render.verified import finding_line, verified_line

    for finding in result.findings:
        click.echo(finding_line(finding))
    person = Terminal(sys.stderr)
    for notice in result.notices:
        person.say(notice)
    if result.unknown:
        person.warn(f"{result.lineage_id}: {result.unknown}".removeprefix(": "))
    elif not result.findings:
        click.echo(verified_line(result))
