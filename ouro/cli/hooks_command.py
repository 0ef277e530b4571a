"""`ouro hooks`: guard what is pushed."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from ouro.cli.wiring import project_option, repository


@click.group(
    "hooks",
    epilog="\b\nExamples:\n  ouro hooks install\n  ouro hooks status\n"
    "  ouro hooks install --server --project-dir /srv/git/x.git",
)
def command() -> None:
    """Guard what is pushed: no push drops generations, cuts a log or moves a generation's tag.

    Pushes without a lineage pass unread.
    """


@command.command("install", epilog="Undo: ouro hooks uninstall")
@project_option
@click.option("--server", is_flag=True, help="In the repository that is pushed to: pre-receive.")
def install(project_dir: Path | None, server: bool) -> None:
    """Install the hook pre-push; a hook that is there is kept and runs first."""
    from ouro.app import hooks

    hook, changed = hooks.install(repository(project_dir), server=server)
    click.echo(f"{'installed' if changed else 'already installed:'} {hook.path}", err=True)
    if changed and hook.before:
        click.echo(f"the hook that was there runs first: {hook.before}", err=True)
    if changed and hook.shared:
        click.echo("core.hooksPath puts it into the work tree, for git to show there", err=True)
    click.echo(f"undo: ouro hooks uninstall{_there(project_dir)}", err=True)


@command.command("uninstall", epilog="Undo: ouro hooks install")
@project_option
def uninstall(project_dir: Path | None) -> None:
    """Take ouro's hooks out, and put back those that were there."""
    from ouro.app import hooks

    removed = hooks.uninstall(repository(project_dir))
    for hook in removed:
        back = "; the hook before it is back" if hook.before else ""
        click.echo(f"removed {hook.path}{back}", err=True)
        option = " --server" if hook.name == hooks.SERVER else ""
        click.echo(f"undo: ouro hooks install{option}{_there(project_dir)}", err=True)
    if not removed:
        click.echo("no hook of ouro is installed here", err=True)


@command.command("status", epilog="This changes nothing.")
@project_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line: a list.")
def status(project_dir: Path | None, as_json: bool) -> None:
    """Which hooks are installed, where, and whether their ouro is there."""
    import msgspec

    from ouro.app import hooks
    from ouro.render.hooks import hook_line

    found = hooks.status(repository(project_dir))
    if as_json:
        click.echo(msgspec.json.encode(found, enc_hook=str))
    for hook in found if not as_json else ():
        click.echo(hook_line(hook))


def _there(project_dir: Path | None) -> str:
    return f" --project-dir {quote(str(project_dir.absolute()))}" if project_dir else ""
