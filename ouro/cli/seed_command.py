"""`ouro seed`: write one, and look at one before it costs money."""

from __future__ import annotations

from pathlib import Path

import click


@click.group("seed", epilog="\b\nExamples:\n  ouro seed new seed.yaml\n  ouro seed check seed.yaml")
def command() -> None:
    """Write a seed file, or look one over."""


@command.command("new", epilog="Undo: delete the file. An existing one is never overwritten.")
@click.argument("file", type=click.Path(path_type=Path), default="seed.yaml")
def new(file: Path) -> None:
    """Write a commented template to FILE (seed.yaml)."""
    from ouro.app import seeds

    seeds.new(file)
    click.echo(f"wrote {file}; fill it in, then: ouro seed check {file}", err=True)


@command.command("check", epilog="Exit codes: 0 usable, 2 not. This changes nothing.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON line.")
def check(file: Path, as_json: bool) -> None:
    """Errors, warnings, and what the offline agent could verify."""
    import msgspec

    from ouro.app import seeds
    from ouro.render.tables import checkup_text

    found = seeds.check(file)
    click.echo(msgspec.json.encode(found) if as_json else checkup_text(found))
