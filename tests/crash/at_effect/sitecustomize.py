"""Python imports this by itself, before the program: it kills a step at the n-th effect of a kind.

Effects are calls of C functions that write, sync, rename, remove, make, lock or start something,
those of pygit2 among them. The step dies just before the effect: after one is before the next.
"""

import os
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

STAND = os.environ.get("STAND", "")
MARKER = Path(os.environ.get("STAND_MARKER", os.devnull))
KIND, _, POINT = os.environ.get("STAND_POINT", "").partition(":")

EFFECTS = frozenset(
    """
    create_blob create_commit flock fork_exec fsync ftruncate mkdir replace rmdir unlink write
    write_bytes
    """.split()
)
seen: Counter[str] = Counter()


def phase() -> str:
    """As the shim of git says it: what is marked, `recovery` where a dead step marked it."""
    try:
        text = MARKER.read_text()
    except OSError:
        return "idle"
    if f'"pid":{os.getpid()},' not in text:
        return "recovery"
    return text.partition('"phase":"')[2].partition('"')[0]


def look(_frame: FrameType, event: str, called: object) -> None:
    if event != "c_call" or (name := called.__name__) not in EFFECTS:  # type: ignore[attr-defined]
        return
    if str(getattr(getattr(called, "__self__", None), "name", "")).startswith("<std"):
        return
    place = f"{phase()}/{name}"
    seen[place] += 1
    point = f"{place}/{seen[place]}"
    if KIND == "effect" and point == POINT:
        os.kill(os.getpid(), signal.SIGKILL)
    if os.environ.get("STAND_TRACE"):
        with Path(STAND, "effects").open("a") as file:
            file.write(f"{point}\n")


if STAND and "OURO_RUN" not in os.environ and (KIND == "effect" or "STAND_TRACE" in os.environ):
    sys.setprofile(look)
