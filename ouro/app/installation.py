"""This installation of ouro: the program itself, and the scripts that come with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ouro.errors import OuroError

_PACKAGE = Path(__file__).resolve().parent.parent


def script(name: str) -> Path:
    """A script such as `ralph.sh`: in the package where it was installed, else at a clone's top."""
    for place in (_PACKAGE / name, _PACKAGE.parent / name):
        if place.is_file():
            return place
    raise OuroError(f"{name} is missing from this installation", "install ouro again")


def program() -> Path:
    """The program that is running, as a path for others to start it with."""
    # A link is kept as it is: it still leads to ouro when what it points to was installed again.
    for place in (Path(sys.argv[0]).absolute(), Path(sys.executable).with_name("ouro")):
        if place.suffix != ".py" and place.is_file() and os.access(place, os.X_OK):
            return place
    raise OuroError("ouro is not installed as a program here", "install it: pip install .")
