"""`ouro ralph`: the very script that also lies at the repository's top."""

import os
import sys

import click
from click.shell_completion import CompletionItem


class Loop(click.Command):
    """Takes any words, and completes those of `ouro step`, to which they go."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from ouro.cli.step_command import command as step

        own = [CompletionItem("--max-cycles")] if "--max-cycles".startswith(incomplete) else []
        return own + step.shell_complete(
            step.make_context("step", [], resilient_parsing=True), incomplete
        )


def _value(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The value of the option of `ouro step` that stands before."""
    from ouro.cli.step_command import command as step

    before = next(iter(ctx.params.get("arguments", ())[-1:]), None)
    option = next((p for p in step.params if before in p.opts), None)
    return option.shell_complete(ctx, incomplete) if option else []


@click.command(
    "ralph",
    cls=Loop,
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, shell_complete=_value)
def command(arguments: tuple[str, ...]) -> None:
    """Run steps until the lineage ends: ralph.sh with the same words."""
    from ouro.app.installation import program, script

    environment = dict(os.environ)
    if "OURO" not in environment:
        environment["OURO"] = str(program())
    sys.stdout.flush()
    os.execvpe("sh", ["sh", str(script("ralph.sh")), *arguments], environment)
