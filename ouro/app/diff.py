"""What changed between two generations: their events, and their code."""

from __future__ import annotations

from msgspec import Struct

from ouro.app import history, show
from ouro.core.comparison import Comparison, compare
from ouro.core.events import ExecuteCompleted
from ouro.core.selector import require_generation
from ouro.git import changes
from ouro.git.changes import FileChange
from ouro.git.repository import Repo
from ouro.git.timeline import Recorded, Timeline


class Difference(Struct, frozen=True, kw_only=True):
    lineage_id: str
    commit_before: str
    commit_after: str
    comparison: Comparison
    files: tuple[FileChange, ...]


def between(repo: Repo, lineage_id: str, before: str, after: str) -> Difference:
    """`before` and `after` are names of generations (see `core.selector`)."""
    stream, lineage = history.look(repo, lineage_id)
    timeline = Timeline(repo, lineage_id, stream.revision or "")
    old, new = require_generation(before, lineage), require_generation(after, lineage)
    commits = show.commit_of(timeline, old), show.commit_of(timeline, new)
    return Difference(
        lineage_id=lineage_id,
        commit_before=commits[0],
        commit_after=commits[1],
        comparison=compare(old, new),
        files=changes.files(repo, *commits),
    )


def patch(repo: Repo, one: Difference, *, colour: bool) -> bytes:
    """The code as `git diff` prints it."""
    return changes.patch(repo, one.commit_before, one.commit_after, colour=colour)


def stat(repo: Repo, one: Difference, *, colour: bool, width: int) -> bytes:
    return changes.stat(repo, one.commit_before, one.commit_after, colour=colour, width=width)


def of_event(repo: Repo, one: Recorded, *, colour: bool) -> bytes:
    """The code that came with an event, as a patch; only an execution brings any."""
    if not isinstance(one.event.data, ExecuteCompleted):
        return b""
    return changes.patch(repo, f"{one.commit}^", one.commit, colour=colour)
