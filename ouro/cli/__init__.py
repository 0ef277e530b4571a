"""The command line: parse, call one function, render, exit code."""

import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from ouro import __version__
from ouro.errors import GO_ON, Exit, OuroError

COMMANDS = {
    "step": "Run one generation of a lineage.",
    "ralph": "Run steps until the lineage ends (the loop ralph.sh).",
    "status": "Where a lineage stands, or all of them.",
    "list": "The lineages of this repository.",
    "log": "The events of a lineage.",
    "show": "A lineage, a generation or an event, whole.",
    "diff": "What changed between two generations.",
    "blame": "Which generation brought, met and broke what.",
    "state": "What the log of a lineage adds up to.",
    "verify": "Prove that nobody changed a lineage's history.",
    "path": "Where the workspace of a lineage lies.",
    "init": "Write a configuration to begin with.",
    "doctor": "Look over the repository and its lineages.",
    "hooks": "Guard what is pushed.",
    "agents": "The coding agents that ouro knows, and those that are here.",
    "note": "Tell the agents something.",
    "stop": "End a loop after the generation it is in.",
    "retry": "End a pause by hand.",
    "rewind": "Go back to a generation.",
    "undo": "Take the last rewind back.",
    "fork": "Branch a new lineage off another one.",
    "land": "Bring the result onto a branch of yours.",
    "gc": "Remove what is left over: workspaces, outputs, old rescue refs.",
    "push": "Push lineages to a remote.",
    "pull": "Take up what a remote has of lineages.",
    "seed": "Write a seed file, or look one over.",
    "completion": "Words for the Tab key: bash, zsh, fish.",
}
"""Name -> help of every command; its module in this package has the rest."""

COMPLETE = "_OURO_COMPLETE"
"""The variable in which a shell asks for completions, under whatever name ouro was started."""


class Lazy(click.Group):
    """A group that imports a command only when it is run: start-up is paid in every cycle."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"ouro.cli.{cmd_name}_command")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # click would take this for an error and exit 1.
            sys.exit(_reader_is_gone())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Each command has its own help: ouro step --help",
)
@click.version_option(__version__, prog_name="ouro", message="%(prog)s %(version)s")
def ouro() -> None:
    """Run a coding agent in a loop on a written spec, with git as the memory."""


def run() -> NoReturn:
    """Run the command line; every way out of the program has its exit code here."""
    try:
        code = ouro.main(standalone_mode=False, complete_var=COMPLETE)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        code = done.exit_code
    except click.ClickException as problem:
        problem.show()
        code = Exit.USAGE
    except click.Abort:
        code = Exit.INTERRUPTED
    except OuroError as problem:
        code = _explain(problem)
    except BrokenPipeError:
        code = _reader_is_gone()
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        # libgit2's own have a text alone.
        said = " ".join((problem.strerror or str(problem)).split())
        code = _explain(OuroError(f"{where}{said}", GO_ON))
    except Exception as bug:
        code = _report_bug(bug)
    sys.exit(int(code or 0))


def _explain(problem: OuroError) -> Exit:
    click.echo(f"ouro: {problem.message}", err=True)
    if problem.hint:
        click.echo(f"  hint: {problem.hint}", err=True)
    return problem.exit_code


def _reader_is_gone() -> int:
    """`ouro log | head` ends quietly, as git does."""
    # The interpreter flushes stdout once more at exit, and would complain there.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + 13


def _report_bug(bug: Exception) -> Exit:
    import tempfile
    import traceback

    lines: list[Any] = [f"ouro {__version__}, Python {sys.version}\n", f"{sys.argv}\n"]
    with tempfile.NamedTemporaryFile("w", prefix="ouro-bug-", suffix=".txt", delete=False) as file:
        file.writelines(lines + traceback.format_exception(bug))
    click.echo(f"ouro: a bug in ouro: {type(bug).__name__}: {bug}", err=True)
    click.echo(f"  hint: the details are in {file.name}; please report them", err=True)
    return Exit.ERROR
