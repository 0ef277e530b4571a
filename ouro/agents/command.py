"""Any command as an agent: the prompt on its stdin, its reply on its stdout."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from ouro.agents.process import Cause, Job, Limits, Outcome, Watch, child_environment, run
from ouro.core.brief import FailureKind, Problem, Reply, Request
from ouro.core.events import Usage
from ouro.core.secrets import Secrets
from ouro.errors import UsageProblem

PROMPT_FILE = "{prompt_file}"


class CommandAgent:
    """Runs one command line for every phase. `output` is the folder for kept output."""

    def __init__(
        self,
        line: str,
        *,
        environment: Mapping[str, str],
        output: Path,
        limits: Limits,
        watch: Watch,
        started_in: Path,
    ) -> None:
        self._words = command_words(line, started_in)
        self.name = Path(self._words[0]).name
        self._environment = environment
        self._output = output
        self._limits = limits
        self._watch = watch

    def run(self, request: Request, workspace: Path, mark: str) -> Reply:
        brief = request.brief
        folder = self._output / f"gen_{brief.generation}-{brief.phase}-{mark[:8]}"
        environment = child_environment(
            self._environment,
            workspace,
            mark,
            lineage_id=brief.lineage_id,
            generation=str(brief.generation),
            phase=brief.phase,
        )
        job = Job(
            command=tuple(w.replace(PROMPT_FILE, str(folder / "stdin")) for w in self._words),
            cwd=workspace,
            environment=environment,
            stdin=request.prompt.encode(),
            folder=folder,
            mask=Secrets(self._environment).mask_bytes,
        )
        outcome = run(job, self._limits, self._watch)
        text = "" if outcome.cause is Cause.NOT_FOUND else outcome.stdout
        usage = Usage(agent=self.name, seconds=round(outcome.seconds, 3))
        return Reply(text=text, usage=usage, problem=problem_of(outcome, text, self.name))


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


def problem_of(outcome: Outcome, text: str, name: str) -> Problem | None:
    """What was wrong with a call, by exit code and time, never by what its text says."""
    match outcome.cause:
        case Cause.NOT_FOUND:
            return Problem(
                kind=FailureKind.NOT_FOUND, message=f"{name} cannot be started: {outcome.stderr}"
            )
        case Cause.IDLE | Cause.WALL:
            limit = "without output" if outcome.cause is Cause.IDLE else "in all"
            message = f"{name} was ended after {outcome.seconds:.0f} s {limit}"
            return Problem(kind=FailureKind.TIMEOUT, message=message)
        case Cause.EXIT | Cause.STOPPED:
            pass
    if outcome.code != 0:
        how = f"exit {outcome.code}" if outcome.code > 0 else f"signal {-outcome.code}"
        last = outcome.stderr.strip().splitlines()[-1:] or [""]
        message = f"{name} failed, {how}: {last[0][:300]}".rstrip(": ")
        return Problem(kind=FailureKind.AGENT_ERROR, message=message)
    if not text.strip():
        return Problem(kind=FailureKind.AGENT_ERROR, message=f"{name} exited 0 without a reply")
    return None
