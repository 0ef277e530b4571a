"""One lineage, many machines: what `push`, `pull` and a step with a remote have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ouro.app.console import Console
from ouro.app.session import Session
from ouro.config import Settings
from ouro.core import jumps
from ouro.core.events import Event
from ouro.git.refspecs import There
from ouro.git.remote import Line, Remote, Unreachable, choose
from ouro.git.repository import Repo

__all__ = ["NOTHING", "Desk", "Unreachable", "continues", "open_remote", "remote_of", "way_back"]

NOTHING = There(None, {}, {}, None, None)
"""A lineage that a remote does not have."""


class Desk(NamedTuple):
    """Where a command for several lineages works: `session` makes one for each; `person` says that
    somebody sits at a terminal."""

    repo: Repo
    settings: Settings
    console: Console
    session: Callable[[str], Session]
    person: bool


def open_remote(desk: Desk, given: str | None) -> Remote:
    """The remote to speak to; raises UsageProblem where there is none of that name."""
    name = choose(desk.repo, given or desk.settings.remote)
    watch = _patient(desk) if desk.person else _shown(desk.console, name)
    return Remote(desk.repo, name, Line(desk.settings.remote_limit, desk.person, watch))


def remote_of(session: Session) -> Remote | None:
    """The remote that a step shares its lineage with, None where it works alone."""
    settings = session.config.settings
    if not settings.remote:
        return None
    name = choose(session.repo, settings.remote)
    watch = _shown(session.console, f"{name}: {session.options.lineage_id}")
    return Remote(session.repo, name, Line(settings.remote_limit, watch=watch))


def continues(repo: Repo, tip: str, commit: str | None) -> bool:
    """Whether `tip` has all of a remote's `commit`, which may be one that is not here at all."""
    return commit is not None and repo.has(commit) and repo.descends(tip, commit)


def way_back(lineage_id: str, before: Sequence[Event], after: Sequence[Event]) -> str:
    """The command that brings a lineage, whose log is now `after`, back to where it was."""
    number, end = max(jumps.completions(before).items(), default=(0, before[0]))
    kept = end == before[0] or jumps.completions(after).get(number) == end
    return f"ouro rewind {lineage_id} --to {number}" if kept else f"ouro undo {lineage_id}"


def _shown(console: Console, what: str) -> Callable[[float, Path], None]:
    return lambda seconds, output: console.progress(what, seconds, output)


def _patient(desk: Desk) -> Callable[[float, Path], None]:
    """Says once that it takes long: git may be waiting for the person, so it is not ended."""
    told: list[float] = []

    def watch(seconds: float, _output: Path) -> None:
        if seconds > desk.settings.remote_limit and not told:
            told.append(seconds)
            desk.console.say(
                f"git is at it for {seconds:.0f} s now; Ctrl-C ends it, nothing is lost"
            )

    return watch
