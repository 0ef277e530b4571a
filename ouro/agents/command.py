"""Programs as agents: a well-known client by its preset, or any command line.

The prompt goes in, the reply comes out; what it means is for the parsers to say.
"""

import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ouro.agents import Agent, Call
from ouro.agents.output import ROOM
from ouro.agents.parsers import Parsed, Pattern, read_reply
from ouro.agents.presets import (
    PRESETS,
    Choice,
    Giving,
    Preset,
    command_line,
    environment_for,
    unsupported,
)
from ouro.agents.process import Cause, Job, Limits, Outcome, Watch, child_environment, run
from ouro.core.brief import FailureKind, Phase, Problem, Reply, Request
from ouro.core.events import Usage
from ouro.core.secrets import Secrets
from ouro.errors import UsageProblem

PROMPT_FILE = "{prompt_file}"


class Ground(Struct, frozen=True, kw_only=True):
    """What every program runs with. `output` is the folder for kept output, `started_in` the one
    that relative paths on the command line are meant from."""

    environment: Mapping[str, str]
    output: Path
    limits: Limits
    watch: Watch
    started_in: Path
    patterns: tuple[Pattern, ...] = ()


class CommandAgent:
    """Runs one program for every phase: a preset's client, or a command line as it stands."""

    def __init__(self, line: str, choice: Choice, ground: Ground) -> None:
        self._preset: Preset | None = PRESETS.get(line)
        self._words = command_words(line, ground.started_in)
        self._choice = choice
        self._ground = ground
        self.name = self._preset.name if self._preset else Path(self._words[0]).name
        self._refuse_what_cannot_be()

    def _refuse_what_cannot_be(self) -> None:
        """Before anything is spent: a wish without a flag, a program that is not there."""
        if self._preset is None:
            wishes = {
                "model": self._choice.model,
                "max_turns": self._choice.max_turns,
                "max_budget": self._choice.max_budget,
            }
            missing = tuple(name for name, value in wishes.items() if value is not None)
        else:
            missing = unsupported(self._preset, self._choice)
        if missing:
            raise UsageProblem(
                f"{self.name} has no known flag for {', '.join(missing)}",
                "leave it out, or put the client's own words after --",
            )

    def run(self, request: Request, workspace: Path, mark: str) -> Reply:
        brief = request.brief
        folder = self._ground.output / f"gen_{brief.generation}-{brief.phase}-{mark[:8]}"
        with tempfile.TemporaryDirectory(prefix="ouro-", ignore_cleanup_errors=True) as scratch:
            job = Job(
                command=self._command(brief.phase, request.prompt, folder / "stdin"),
                cwd=workspace,
                environment=self._environment(request, workspace, mark) | {"TMPDIR": scratch},
                stdin=b"" if self._gives_argument() else request.prompt.encode(),
                folder=folder,
                mask=Secrets(self._ground.environment).mask_bytes,
            )
            outcome = run(job, self._limits(), self._ground.watch)
        return self._reply(outcome)

    def call(self, phase: Phase, prompt: str | None) -> Call:
        limits = self._limits()
        given = "<the prompt>" if prompt is None else prompt
        return Call(
            agent=self.name,
            command=self._command(phase, given, Path("<a file with the prompt>")),
            idle_limit=limits.idle,
            wall_limit=limits.wall,
        )

    def _gives_argument(self) -> bool:
        return self._preset is not None and self._preset.giving is Giving.ARGUMENT

    def _limits(self) -> Limits:
        """A client that prints nothing until it is done has no idle limit."""
        limits = self._ground.limits
        silent = self._preset is not None and self._preset.silent
        return Limits(idle=limits.wall, wall=limits.wall) if silent else limits

    def _command(self, phase: Phase, prompt: str, prompt_file: Path) -> tuple[str, ...]:
        if self._preset:
            return command_line(
                self._preset, phase, self._choice, prompt=prompt, prompt_file=str(prompt_file)
            )
        words = (word.replace(PROMPT_FILE, str(prompt_file)) for word in self._words)
        return (*words, *self._choice.extra)

    def _environment(self, request: Request, workspace: Path, mark: str) -> dict[str, str]:
        brief = request.brief
        return child_environment(
            environment_for(self._preset, self._ground.environment),
            workspace,
            mark,
            lineage_id=brief.lineage_id,
            generation=str(brief.generation),
            phase=brief.phase,
        )

    def _reply(self, outcome: Outcome) -> Reply:
        patterns = self._ground.patterns
        stdout = "" if outcome.cause is Cause.NOT_FOUND else outcome.stdout
        parsed = read_reply(self._preset, stdout, outcome.stderr, outcome.code, patterns)
        usage = Usage(
            agent=self.name,
            model=parsed.model or self._choice.model,
            input_tokens=parsed.input_tokens,
            output_tokens=parsed.output_tokens,
            cost=parsed.cost,
            seconds=round(outcome.seconds, 3),
        )
        problem = problem_of(outcome, parsed, self.name)
        return Reply(text=parsed.text, usage=usage, problem=problem, denied=parsed.denials)


class PhaseAgents:
    """Another agent for some phases."""

    def __init__(self, default: Agent, by_phase: Mapping[Phase, Agent]) -> None:
        self.name = default.name
        self._default = default
        self._by_phase = by_phase

    def run(self, request: Request, workspace: Path, mark: str) -> Reply:
        return self._agent(request.brief.phase).run(request, workspace, mark)

    def call(self, phase: Phase, prompt: str | None) -> Call:
        return self._agent(phase).call(phase, prompt)

    def _agent(self, phase: Phase) -> Agent:
        return self._by_phase.get(phase, self._default)


def installed() -> tuple[Preset, ...]:
    """The presets whose program is on PATH."""
    return tuple(preset for preset in PRESETS.values() if shutil.which(preset.program))


def command_words(line: str, started_in: Path) -> list[str]:
    """The words of a command line; a program given by a relative path is meant from `started_in`,
    since the agent itself starts in the workspace."""
    try:
        words = shlex.split(line)
    except ValueError as problem:
        raise UsageProblem(f"--agent {line!r}: {problem}", "check its quotes") from problem
    if not words:
        raise UsageProblem("--agent is empty", "give it a command line, or: --agent offline")
    if "/" in words[0]:
        words[0] = str(started_in / words[0])
    return words


def problem_of(outcome: Outcome, parsed: Parsed, name: str) -> Problem | None:
    """What was wrong with a call. How it ended comes first: a client may exit 0 when killed."""
    match outcome.cause:
        case Cause.NOT_FOUND:
            said = f"{name} cannot be started: {outcome.stderr}"
            return Problem(kind=FailureKind.NOT_FOUND, message=said)
        case Cause.IDLE | Cause.WALL:
            limit = "without output" if outcome.cause is Cause.IDLE else "in all"
            message = f"{name} was ended after {outcome.seconds:.0f} s {limit}"
            return Problem(kind=FailureKind.TIMEOUT, message=message)
        case Cause.FLOOD:
            room = f"{ROOM // 1024**2} MiB"
            message = f"{name} flooded its output and was ended: more than {room}"
            return Problem(kind=FailureKind.AGENT_ERROR, message=message)
        case Cause.EXIT | Cause.STOPPED:
            pass
    if parsed.problem is None:
        return None
    message = f"{name} {parsed.message}"
    return Problem(kind=parsed.problem, message=message, resets_at=parsed.resets_at)
