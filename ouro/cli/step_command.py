"""`ouro step`: one generation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ouro.cli.completion import lineages
from ouro.errors import Exit, UsageProblem

if TYPE_CHECKING:
    from ouro.app.session import Session

EPILOG = """\b
Examples:
  ouro step --lineage-id greet --seed-file seed.yaml
  ouro step --lineage-id greet --agent claude --model opus --wait
  ouro step --lineage-id greet --agent ./my-agent.sh -- --its own words
  ouro step --lineage-id greet --remote origin   one lineage, many machines
  ouro step --lineage-id greet --no-execute      the ontology only
  ouro step --lineage-id greet --dry-run         the next prompt and command line, nothing is run

Undo: every step is a commit on ooo/<id>; nothing else of yours is touched.
Exit codes with --exit-code: 0 converged, 3 continue, 4 stagnated (goes on), 10 stagnated,
11 exhausted, 12 failed, 75 not now. Without it a recorded decision exits 0."""


@click.command("step", epilog=EPILOG)
@click.option(
    "--lineage-id",
    required=True,
    metavar="ID",
    help="The lineage: a-z 0-9 _ -.",
    shell_complete=lineages,
)
@click.option("--seed-file", type=click.Path(path_type=Path), help="The spec; creates the lineage.")
@click.option(
    "--project-dir", type=click.Path(path_type=Path), help="The repository. [default: here]"
)
@click.option("--base", metavar="REV", help="Start from this commit. [default: HEAD]")
@click.option("--execute/--no-execute", default=None, help="Whether code is written and judged.")
@click.option("--qa/--no-qa", default=None, help="Whether quality is judged, too.")
@click.option("--max-retries", type=int, help="Stagnations without progress that end it. [2]")
@click.option("--max-generations", type=int, help="[30]")
@click.option("--min-generations", type=int, help="Generations before it may converge. [2]")
@click.option(
    "--threshold", "convergence_threshold", type=float, help="Similarity that converges. [0.95]"
)
@click.option("--stagnation-window", type=int, help="Generations looked at for stagnation. [3]")
@click.option("--stop-on-pass/--no-stop-on-pass", default=None, help="Passing once is enough.")
@click.option(
    "--freeze-ontology/--no-freeze-ontology", default=None, help="No wonder and reflect: only fix."
)
@click.option("--max-cost", type=float, help="USD, as far as agents say it. [no limit]")
@click.option("--max-runtime", type=float, help="Seconds of work in all. [no limit]")
@click.option("--max-failures", type=int, help="Failures in a row that end it. [5]")
@click.option("--max-limit-wait", type=float, help="Seconds of rate limit waited for. [86400]")
@click.option("--agent", metavar="COMMAND", help="A client's name, a command line, or: offline.")
@click.option("--model", help="For clients with a preset.")
@click.option("--max-turns", type=int, help="A client's own limit for one call.")
@click.option("--max-budget", type=float, help="A client's own limit for one call, in USD.")
@click.option(
    "--allow-everything/--no-allow-everything",
    default=None,
    help="In execute the client runs without its sandbox and asks nothing.",
)
@click.option("--worktree-root", metavar="DIR", help="Where workspaces lie.")
@click.option("--idle-limit", type=float, help="Seconds an agent may print nothing. [600]")
@click.option("--wall-limit", type=float, help="Seconds an agent may take. [3600]")
@click.option("--check-limit", type=float, help="Seconds a check may take. [300]")
@click.option("--remote", metavar="NAME", help="Take turns with other machines: pull, step, push.")
@click.option("--remote-limit", type=float, help="Seconds a remote may be silent. [60]")
@click.option("--wait", is_flag=True, help="Wait while the lineage is busy or paused.")
@click.option("--exit-code", is_flag=True, help="Say the decision by the exit code, too.")
@click.argument("agent_args", nargs=-1, type=click.UNPROCESSED, metavar="[-- AGENT ARGS]")
@click.option("--dry-run", is_flag=True, help="Only show what would be asked first.")
@click.option("--json", "as_json", is_flag=True, help="JSON with --dry-run; else always so.")
def command(
    lineage_id: str,
    seed_file: Path | None,
    project_dir: Path | None,
    base: str | None,
    wait: bool,
    exit_code: bool,
    **flags: Any,
) -> None:
    """Run one generation of a lineage, and print its decision as one line of JSON."""
    from ouro.app.on_end import run_on_end
    from ouro.app.session import Interrupted, Options
    from ouro.app.step import step
    from ouro.cli.signals import Interrupt
    from ouro.cli.wiring import session
    from ouro.core.ids import check_lineage_id
    from ouro.core.report import to_json
    from ouro.render.terminal import Terminal

    dry, as_json = flags.pop("dry_run"), flags.pop("as_json")
    interrupt = Interrupt().install()
    options = Options(check_lineage_id(lineage_id), seed_file, base, wait)
    made = session(
        options,
        project_dir=project_dir,
        flags=_given(flags),
        console=Terminal(sys.stderr),
        interrupt=interrupt,
    )
    if dry:
        click.echo(_shown(made, as_json))
        return
    try:
        ending = step(made)
    except Interrupted as signal:
        raise SystemExit(128 + signal.number) from None
    click.echo(to_json(ending.report))
    run_on_end(made, ending)
    if exit_code or not ending.decided:
        raise SystemExit(int(ending.code))
    raise SystemExit(int(Exit.OK))


def _shown(made: Session, as_json: bool) -> str:
    import msgspec

    from ouro.app.dry_run import dry_run
    from ouro.render.dry_run import dry_run_text

    found = dry_run(made)
    return msgspec.json.encode(found).decode() if as_json else dry_run_text(found)


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    """The configuration that stood on the command line; what was left out changes nothing."""
    words = flags.pop("agent_args")
    if words and "--" not in sys.argv:
        raise UsageProblem(
            f"unexpected argument {words[0]!r}", "words for the agent's client go after --"
        )
    return {key: v for key, v in (flags | {"agent_args": words or None}).items() if v is not None}
