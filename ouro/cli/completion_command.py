"""`ouro completion`: the script that a shell reads."""

import click

from ouro.cli import COMPLETE

ALIAS = {
    "bash": "complete -o nosort -F _ouro_completion ooo",
    "zsh": "(( $+functions[compdef] )) && compdef _ouro_completion ooo",
    "fish": 'complete --no-files --command ooo --arguments "(_ouro_completion)"',
}
"""A line more for the program's other name."""

EPILOG = """\b
For every shell that starts after it, write into
  ~/.bashrc                   eval "$(ouro completion bash)"
  ~/.zshrc, after compinit    eval "$(ouro completion zsh)"
  ~/.config/fish/config.fish  ouro completion fish | source

This changes nothing itself."""


@click.command("completion", epilog=EPILOG)
@click.argument("shell", type=click.Choice(list(ALIAS)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script with which a shell completes commands, options, lineages and generations."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click knows the three"
    source = kind(ctx.find_root().command, {}, "ouro", COMPLETE).source().rstrip()
    click.echo(f"{source}\n{ALIAS[shell]}")
