"""What the machine has to offer: git, and coding agents."""

from __future__ import annotations

from ouro.app.clients import survey
from ouro.app.doctor import Finding, note, ok, problem
from ouro.git.survey import GIT_NEEDED, git_version


def findings() -> list[Finding]:
    return [_git(), _agents()]


def _git() -> Finding:
    needed = f"install git {'.'.join(map(str, GIT_NEEDED))} or newer"
    found = git_version()
    if found is None:
        return problem("git", "the program git was not found", needed)
    version, enough = found
    return ok("git", version) if enough else problem("git", f"{version} is too old", needed)


def _agents() -> Finding:
    here = [f"{one.name} ({one.version or 'says no version'})" for one in survey() if one.path]
    if here:
        return ok("agents", ", ".join(here))
    return note(
        "agents",
        "none that ouro knows by name is installed",
        "any command can be one: --agent COMMAND; without one the offline rules serve some seeds",
    )
