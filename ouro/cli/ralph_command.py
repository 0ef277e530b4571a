"""`ouro ralph`: the very script that also lies at the repository's top."""

import os
import sys
from pathlib import Path

import click

from ouro.errors import OuroError


@click.command(
    "ralph",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    """Run steps until the lineage ends: ralph.sh with the same words."""
    environment = dict(os.environ)
    environment.setdefault("OURO", _this_program())
    sys.stdout.flush()
    os.execvpe("sh", ["sh", str(script()), *arguments], environment)


def script() -> Path:
    """ralph.sh: in the package where it was installed, at the top of a clone otherwise."""
    package = Path(__file__).resolve().parent.parent
    for place in (package / "ralph.sh", package.parent / "ralph.sh"):
        if place.is_file():
            return place
    raise OuroError("ralph.sh is missing from this installation", "install ouro again")


def _this_program() -> str:
    """The path of the program that is running, for the loop to call."""
    return str(Path(sys.argv[0]).resolve())
