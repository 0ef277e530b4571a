"""Who brought what: the log of a lineage, with its commits, told part by part of the spec."""

from __future__ import annotations

from ouro.app import history
from ouro.core.blame import Blame, blame
from ouro.git.repository import Repo
from ouro.git.timeline import Timeline


def of(repo: Repo, lineage_id: str) -> Blame:
    found = history.find(repo, lineage_id)
    return blame(reversed([*Timeline(repo, lineage_id, found.commit).recorded()]))
