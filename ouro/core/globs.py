"""Globs as git's pathspecs have them: from the repository's top, `*` crosses `/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ouro.core.yaml_nodes import Spot

HINT = "write it from the repository's top, as tests/** or *.lock"


def fault(glob: str) -> str | None:
    """What is wrong with a glob, for people; None where it is one."""
    if not glob.strip() or "\0" in glob:
        return "is empty"
    if glob.startswith(("/", "~")) or ".." in glob.split("/"):
        return "must lie inside the repository"
    if glob.startswith(":"):
        return "begins with ':', which git takes for more than a glob"
    return None


def read_globs(spot: Spot | None) -> tuple[str, ...]:
    """The globs listed at `spot`; raises UsageProblem that names the line of a wrong one."""
    items = [] if spot is None or spot.empty else spot.items("begin each with '- '")
    for item in items:
        if wrong := fault(item.text()):
            raise item.problem(wrong, HINT)
    return tuple(item.text() for item in items)
