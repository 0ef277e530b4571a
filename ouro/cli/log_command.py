"""`ouro log`: what happened, from the log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from ouro.cli.completion import lineages
from ouro.cli.wiring import looking, project_option
from ouro.errors import UsageProblem

if TYPE_CHECKING:
    from ouro.app.log import Wanted
    from ouro.git.repository import Repo
    from ouro.git.timeline import Recorded
    from ouro.render.screen import Screen


class Asked(Struct, frozen=True, kw_only=True):
    """The options, as they were given."""

    count: int | None
    types: tuple[str, ...]
    since: str | None
    details: bool
    oneline: bool
    as_json: bool
    raw: bool
    follow: bool
    generations: bool


@click.command(
    "log",
    epilog="\b\nExamples:\n  ouro log greet -n 5 -p\n"
    "  ouro log greet --oneline --since '2 hours ago'\n"
    "  ouro log greet --type evaluate.completed --json | jq .data.score\n"
    "  ouro log greet --follow\n\nThis changes nothing.",
)
@click.argument("lineage_id", metavar="ID", shell_complete=lineages)
@project_option
@click.option("-n", "count", type=click.IntRange(min=0), help="At most so many.")
@click.option("-p", "details", is_flag=True, help="All that an event holds, with its code diff.")
@click.option("--oneline", is_flag=True, help="A line for each event.")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only these; repeatable.")
@click.option("--since", metavar="WHEN", help="Not before: a date, or '2 hours ago', as in git.")
@click.option("--json", "as_json", is_flag=True, help="The events' own lines, as in the log.")
@click.option("--raw", is_flag=True, help="The log's bytes as committed, oldest first.")
@click.option("--follow", is_flag=True, help="The last 10 (or -n), then each new one: tail -f.")
@click.option("--generations", is_flag=True, help="A line for each generation, oldest first.")
def command(lineage_id: str, project_dir: Path | None, **options: Any) -> None:
    """The events of a lineage, newest first, as git log shows commits."""
    from ouro.app import log

    asked = Asked(**options)
    _refuse_mixtures(asked)
    _refuse_unknown(asked.types)
    repo, name = looking(lineage_id, project_dir)
    since = log.since(repo, asked.since) if asked.since is not None else ""
    wanted = log.Wanted(frozenset(asked.types), since, asked.count)
    if asked.raw:
        click.echo(log.raw(repo, name), nl=False)
    elif asked.generations:
        _generations(repo, name, asked.as_json)
    elif asked.follow:
        _follow(repo, name, wanted, asked)
    else:
        _events(repo, name, wanted, asked)


def _refuse_mixtures(asked: Asked) -> None:
    given = {
        "-n": asked.count is not None,
        "-p": asked.details,
        "--oneline": asked.oneline,
        "--type": bool(asked.types),
        "--since": asked.since is not None,
        "--json": asked.as_json,
        "--raw": asked.raw,
        "--follow": asked.follow,
        "--generations": asked.generations,
    }
    for alone, company in (("--raw", {"--raw"}), ("--generations", {"--generations", "--json"})):
        others = [name for name in given if given[name] and name not in company]
        if given[alone] and others:
            raise UsageProblem(
                f"{alone} does not go with {', '.join(others)}", f"leave out {alone} or the rest"
            )


def _refuse_unknown(types: tuple[str, ...]) -> None:
    from ouro.core.events import TYPES

    unknown = [name for name in types if name not in TYPES]
    if unknown:
        raise UsageProblem(
            f"--type: there are no events of the type {', '.join(map(repr, unknown))}",
            f"the types: {', '.join(TYPES)}",
        )


def _events(repo: Repo, name: str, wanted: Wanted, asked: Asked) -> None:
    from ouro.app import log
    from ouro.cli.paging import paged

    commits = not asked.as_json and (asked.details or not asked.oneline)
    found = log.events(repo, name, wanted, commits=commits)
    with paged(repo) as screen:
        for one in found:
            _tell(repo, one, asked, screen)


def _follow(repo: Repo, name: str, wanted: Wanted, asked: Asked) -> None:
    from msgspec.structs import replace

    from ouro.app import log
    from ouro.cli.paging import screen_of
    from ouro.cli.signals import Interrupt

    interrupt, screen = Interrupt().install(), screen_of(repo)
    told = replace(asked, oneline=not asked.details)
    for one in log.follow(repo, name, wanted, interrupt):
        _tell(repo, one, told, screen)
    raise SystemExit(128 + interrupt())


def _tell(repo: Repo, one: Recorded, asked: Asked, screen: Screen) -> None:
    from ouro.core.codec import encode
    from ouro.render.fact import event_line, event_text

    if asked.as_json:
        click.echo(encode(one.event))
    elif asked.details:
        click.echo(event_text(one, screen, details=True), color=screen.colour)
        _tell_code(repo, one, screen)
    elif asked.oneline:
        click.echo(event_line(one.event))
    else:
        click.echo(event_text(one, screen, details=False), color=screen.colour)


def _tell_code(repo: Repo, one: Recorded, screen: Screen) -> None:
    from ouro.app import diff

    patch = diff.of_event(repo, one, colour=screen.colour)
    if patch:
        click.echo(screen.patch(patch))


def _generations(repo: Repo, name: str, as_json: bool) -> None:
    from ouro.app import log
    from ouro.cli.paging import paged
    from ouro.core.report import to_json
    from ouro.render.tables import generation_line

    with paged(repo):
        if as_json:
            for report in log.reports(repo, name):
                click.echo(to_json(report))
        else:
            for one in log.generations(repo, name):
                click.echo(generation_line(one))
