"""From the command line's words to a session."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ouro.app.console import Console
    from ouro.app.session import Options, Session
    from ouro.git.repository import Repo

if TYPE_CHECKING:
    from ouro.app.sync import Desk


def session(
    options: Options,
    *,
    project_dir: Path | None,
    flags: dict[str, Any],
    console: Console,
    interrupt: Callable[[], int],
) -> Session:
    """A session on the repository around `project_dir` (None: the current folder)."""
    from ouro.app.session import Session
    from ouro.config import load
    from ouro.git.repository import Repo

    repo = Repo(project_dir or Path.cwd())
    return Session(
        options=options,
        repo=repo,
        config=load(repo.root, os.environ, flags),
        console=console,
        environment=dict(os.environ),
        started_in=Path.cwd(),
        interrupt=interrupt,
    )


project_option = click.option(
    "--project-dir", type=click.Path(path_type=Path), help="The repository. [default: here]"
)


def repository(project_dir: Path | None) -> Repo:
    from ouro.git.repository import Repo

    return Repo(project_dir or Path.cwd())


def json_line(value: Any) -> str:
    """`value`, a struct or a list of them, as one line of JSON."""
    import msgspec

    return msgspec.json.encode(value).decode()


def looking(lineage_id: str, project_dir: Path | None) -> tuple[Repo, str]:
    """Repository and name of a lineage that is only looked at; says so where it is a remote's."""
    from ouro.app import history
    from ouro.core.ids import check_lineage_id

    repo, name = repository(project_dir), check_lineage_id(lineage_id)
    found = history.find(repo, name)
    if found.is_remote:
        click.echo(f"ouro: there is no branch ooo/{name} here; this is {found.ref}", err=True)
    return repo, name


def now() -> str:
    """The time as in `Event.at`."""
    from datetime import UTC, datetime

    from ouro.core.retry import timestamp

    return timestamp(datetime.now(UTC))


def desk(project_dir: Path | None) -> Desk:
    """Where a command for several lineages works."""
    from ouro.app.sync import Desk
    from ouro.config import load
    from ouro.render.terminal import Terminal

    repo = repository(project_dir)
    return Desk(
        repo=repo,
        settings=load(repo.root, os.environ, {}).settings,
        console=Terminal(sys.stderr),
        session=lambda lineage_id: bare_session(lineage_id, project_dir),
        person=sys.stdin.isatty() and sys.stderr.isatty(),
    )


def bare_session(lineage_id: str, project_dir: Path | None) -> Session:
    """A session for a command that has no options of a step."""
    from ouro.app.session import Options
    from ouro.core.ids import check_lineage_id
    from ouro.render.terminal import Terminal

    return session(
        Options(check_lineage_id(lineage_id)),
        project_dir=project_dir,
        flags={},
        console=Terminal(sys.stderr),
        interrupt=lambda: 0,
    )
