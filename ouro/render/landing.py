"""What landing did."""

from __future__ import annotations

from ouro.app.land import Landed
from ouro.core.story import counted
from ouro.render.screen import printable


def land_text(one: Landed) -> str:
    """What landing did, or would do, and the ways on and back."""
    what = f"{one.lineage_id} gen_{one.generation}"
    files = counted(one.files, "file")
    match one.state:
        case "nothing":
            return printable(f"{what}: nothing to land: {one.reason}")
        case "landed":
            head = f"{what} landed on {one.branch}: {files} changed"
        case "staged":
            head = f"{what} is staged, not committed: {one.reason}"
        case "conflicts":
            head = f"{what} and {one.branch} both changed {', '.join(one.conflicts)}"
        case _:
            head = f"{what} would land on {one.branch} ({one.mode}): {files} would change"
            if one.conflicts:
                head += f", with conflicts in {', '.join(one.conflicts)}"
    rows = [("commit", one.commit), ("go on", one.next), ("undo", one.undo)]
    return printable("\n".join([head, *(f"  {name:<9}{text}" for name, text in rows if text)]))
