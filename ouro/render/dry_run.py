"""What the next step would do, for people."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ouro.render.screen import printable

if TYPE_CHECKING:
    from ouro.app.dry_run import DryRun, Planned


def dry_run_text(found: DryRun) -> str:
    """What the next step would do: a line each, the first prompt in full, then what follows."""
    lines = [f"{found.lineage_id}, generation {found.generation}: next is {found.next}"]
    lines += [f"  first: {remark}" for remark in found.remarks]
    for number, phase in enumerate(found.phases):
        lines += _planned_lines(phase)
        if number == 0 and phase.prompt is not None:
            lines += ["--- prompt ---", phase.prompt.rstrip("\n"), "--- end of prompt ---"]
    return printable("\n".join([*lines, "nothing was started, nothing was changed"]))


def _planned_lines(phase: Planned) -> list[str]:
    lines = [str(phase.phase)]
    for check in phase.checks:
        command = check.command or "a hidden check, or a look into the tree"
        lines.append(f"  check {check.criterion}: {command} (at most {check.limit:g} s)")
    call = phase.call
    if call is None:
        return [*lines, "  no agent is asked"]
    lines.append(f"  {call.agent}: {shlex.join(call.command) or 'built in, starts no program'}")
    if call.wall_limit is not None:
        limits = f"at most {call.wall_limit:g} s, and {call.idle_limit:g} s without output"
        lines.append(f"  {limits}")
    return lines
