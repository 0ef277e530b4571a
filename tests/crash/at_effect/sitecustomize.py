"""Python imports this by itself, before the program: it kills a step at the n-th effect of a kind.

Effects are calls of C functions that write, sync, rename, remove, make, lock or start something,
those of pygit2 among them. The step dies just before the effect: after one is before the next.
"""

import os
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType, ModuleType

STAND = os.environ.get("STAND", "")
MARKER = Path(os.environ.get("STAND_MARKER", os.devnull))
KIND, _, POINT = os.environ.get("STAND_POINT", "").partition(":")

EFFECTS = {
    "posix": {"fsync", "mkdir", "replace", "rmdir", "unlink"},
    "fcntl": {"flock"},
    "_posixsubprocess": {"fork_exec"},
    "BufferedWriter": {"write"},
    "TextIOWrapper": {"write"},
    "Repository": {"create_blob", "create_commit", "write"},
    "TreeBuilder": {"write"},
}
"""Module, or type of the object -> names of functions."""

seen: Counter[str] = Counter()


def look(frame: FrameType, event: str, called: object) -> None:
    if event != "c_call" or not (name := effect(called)):
        return
    path = frame.f_locals.get("self")
    if not isinstance(path, Path):
        reached(name)
    # Both are asked for where there is nothing to do, too.
    elif name not in ("mkdir", "unlink") or path.exists() != (name == "mkdir"):
        subject = path.name.partition(".")[0] if path.parent == MARKER.parent else ""
        reached(f"{name}-{subject}".rstrip("-"))


def effect(called: object) -> str:
    """The name of the effect that a call of `called` has, "" where it has none."""
    owner = getattr(called, "__self__", None)
    where = owner.__name__ if isinstance(owner, ModuleType) else type(owner).__name__
    name = getattr(called, "__name__", "")
    if name not in EFFECTS.get(where, ()) or str(getattr(owner, "name", "")).startswith("<std"):
        return ""
    return f"{where}.{name}" if where in ("Repository", "TreeBuilder") else name


def reached(name: str) -> None:
    place = f"{phase()}/{name}"
    seen[place] += 1
    point = f"{place}/{seen[place]}"
    if KIND == "effect" and point == POINT:
        os.kill(os.getpid(), signal.SIGKILL)
    if "STAND_TRACE" in os.environ:
        with Path(STAND, "effects").open("a") as file:
            file.write(f"{point}\n")


def phase() -> str:
    """As the shim of git says it: what is marked, `recovery` where a dead step marked it."""
    try:
        text = MARKER.read_text()
    except OSError:
        return "idle"
    if f'"pid":{os.getpid()},' not in text:
        return "recovery"
    return text.partition('"phase":"')[2].partition('"')[0]


if STAND and "OURO_RUN" not in os.environ and (KIND == "effect" or "STAND_TRACE" in os.environ):
    sys.setprofile(look)
