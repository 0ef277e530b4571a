"""What `ouro verify` found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ouro.core.story import counted
from ouro.render.screen import printable

if TYPE_CHECKING:
    from ouro.core.verify.history import Finding, Verified


def finding_line(one: Finding) -> str:
    where = f" {one.file}:{one.line}" if one.file else ""
    return printable(f"{one.commit[:12]}{where}: {one.what}")


def verified_line(one: Verified) -> str:
    parts = ((one.commits, "commit"), (one.events, "event"), (one.generations, "generation"))
    return f"{one.lineage_id}: {', '.join(counted(*part) for part in parts)} verified"
