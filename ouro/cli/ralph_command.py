"""`ouro ralph`: the very script that also lies at the repository's top."""

import os
import sys

import click


@click.command(
    "ralph",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    """Run steps until the lineage ends: ralph.sh with the same words."""
    from ouro.app.installation import program, script

    environment = dict(os.environ)
    if "OURO" not in environment:
        environment["OURO"] = str(program())
    sys.stdout.flush()
    os.execvpe("sh", ["sh", str(script("ralph.sh")), *arguments], environment)
