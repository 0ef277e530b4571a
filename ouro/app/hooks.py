"""ouro's own hooks: which there are, and what of them is installed.

What is installed is a copy of the script, not a call of it: it still guards when ouro was moved or
removed, and costs no process on a push without a lineage. It names the ouro that verifies by path,
which a new version at the same place keeps; a seal in its last line tells a copy that somebody
edited from one that may be replaced.
"""

from __future__ import annotations

from ouro.app.installation import program, script
from ouro.git import hooks
from ouro.git.hooks import Hook
from ouro.git.repository import Repo

CLIENT, SERVER = "pre-push", hooks.SERVER_HOOK


def install(repo: Repo, *, server: bool) -> tuple[Hook, bool]:
    """Put the hook in; as it stands then, and whether anything was changed. Raises OuroError where
    that would overwrite what somebody edited, or reach other repositories."""
    name = SERVER if server else CLIENT
    before = hooks.look(repo, name, _wanted(name))
    after = hooks.install(repo, name, _wanted(name))
    return after, before.state != after.state


def uninstall(repo: Repo) -> list[Hook]:
    """Take out what is installed, and put back what was there before; what was taken out."""
    found = [hooks.uninstall(repo, name, _wanted(name)) for name in (CLIENT, SERVER)]
    return [hook for hook in found if hook]


def status(repo: Repo) -> list[Hook]:
    """Both hooks as they stand."""
    return [hooks.look(repo, name, _wanted(name)) for name in (CLIENT, SERVER)]


def _wanted(name: str) -> bytes:
    return hooks.seal(script(f"hooks/{name}").read_bytes(), program())
