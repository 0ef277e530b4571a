"""From the command line's words to a session."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ouro.app.console import Console
from ouro.app.session import Options, Session
from ouro.config import load
from ouro.core.ids import check_lineage_id
from ouro.core.retry import timestamp
from ouro.git.repository import Repo
from ouro.render.terminal import Terminal


def session(
    options: Options,
    *,
    project_dir: Path | None,
    flags: dict[str, Any],
    console: Console,
    interrupt: Callable[[], int],
) -> Session:
    """A session on the repository around `project_dir` (None: the current folder)."""
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
    return Repo(project_dir or Path.cwd())


def json_line(value: Any) -> str:
    """`value`, a struct or a list of them, as one line of JSON."""
    import msgspec

    return msgspec.json.encode(value).decode()


def looking(lineage_id: str, project_dir: Path | None) -> tuple[Repo, str]:
    """Repository and name of a lineage that is only looked at; says so where it is a remote's."""
    from ouro.app import history

    repo, name = repository(project_dir), check_lineage_id(lineage_id)
    found = history.find(repo, name)
    if found.is_remote:
        click.echo(f"ouro: there is no branch ooo/{name} here; this is {found.ref}", err=True)
    return repo, name


def now() -> str:
    """The time as in `Event.at`."""
    return timestamp(datetime.now(UTC))


def bare_session(lineage_id: str, project_dir: Path | None) -> Session:
    """A session for a command that has no options of a step."""
    return session(
        Options(check_lineage_id(lineage_id)),
        project_dir=project_dir,
        flags={},
        console=Terminal(sys.stderr),
        interrupt=lambda: 0,
    )
