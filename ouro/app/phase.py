"""One phase: mark the workspace, ask the agent or run the checks, commit what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import NamedTuple, assert_never
from uuid import uuid4

from msgspec.structs import replace

from ouro.app import recover
from ouro.app.checks import judge
from ouro.app.run import Run
from ouro.app.session import Interrupted
from ouro.core.brief import FailureKind, Phase, Problem, Reply, Request
from ouro.core.events import Data, EvolveStepFailed, Usage
from ouro.core.retry import failure
from ouro.errors import Overtaken
from ouro.git import guard
from ouro.git.journal import Marker, new_marker
from ouro.git.program import GitFailed
from ouro.git.protected import ProtectedPaths
from ouro.phases import BadReply, evaluate, execute, qa, reflect, repair, wonder


class Failed(NamedTuple):
    """An agent call that came to nothing, and what it took."""

    problem: Problem
    usage: Usage | None


Parse = Callable[[Reply], Data]


def run_phase(run: Run, phase: Phase) -> EvolveStepFailed | None:
    """Run `phase` and commit its facts; where it failed, the failure that was recorded."""
    with marked(run, phase) as marker:
        match phase:
            case Phase.WONDER:
                return _think(run, marker, wonder.request(run.lineage, run.session.prompts))
            case Phase.REFLECT:
                return _think(run, marker, reflect.request(run.lineage, run.session.prompts))
            case Phase.EXECUTE:
                return _execute(run, marker)
            case Phase.EVALUATE:
                return _evaluate(run, marker)
            case Phase.QA:
                return _think(run, marker, qa.request(run.lineage, run.session.prompts))
            case _:  # pragma: no cover
                assert_never(phase)


@contextmanager
def marked(run: Run, doing: str) -> Iterator[Marker]:
    """Everything that changes in the workspace while this is open is the run's doing.

    Where an error leaves it open the marker stays: the next step then cleans up, as it does
    after a crash.
    """
    marker = new_marker(uuid4().hex, doing, run.workspace.root, run.tip, run.session.repo.common)
    journal = run.session.store.journal
    journal.mark(marker)
    try:
        yield marker
    except (Interrupted, Overtaken):
        recover.restore_branch(run.session, run.tip)
        recover.abandon(run, marker)
        raise
    journal.unmark()


# --- the kinds of phases -----------------------------------------------------------------------


def _think(run: Run, marker: Marker, request: Request) -> EvolveStepFailed | None:
    """A phase whose whole result is its reply: the workspace is put back as it was."""
    answer = _ask(run, marker, request, partial(_THINKING[request.brief.phase], run.lineage))
    if isinstance(answer, Failed):
        return _fail(run, marker, answer)
    _put_back(run)
    run.record([answer])
    return None


_THINKING: dict[Phase, Callable[..., Data]] = {
    Phase.WONDER: wonder.facts,
    Phase.REFLECT: reflect.facts,
    Phase.QA: qa.facts,
}


def _execute(run: Run, marker: Marker) -> EvolveStepFailed | None:
    """The one phase whose result is the workspace: what the tree holds counts, not the reply."""
    protect = run.session.config.settings.protect
    request = execute.request(run.lineage, run.session.prompts, protect)
    globs = (*run.lineage.current.seed.protect, *protect)
    protected = run.workspace.protected(run.tip, globs)
    reply = _call(run, marker, request)
    if problem := reply.problem or _vanished(run):
        return _fail(run, marker, Failed(problem, reply.usage))
    with run.session.no_gc():
        return _commit_work(run, marker, reply, protected)


def _commit_work(
    run: Run, marker: Marker, reply: Reply, protected: ProtectedPaths | None
) -> EvolveStepFailed | None:
    """Make what the tree holds one commit, and the workspace as that is."""
    adopted = _adopted(run)
    try:
        snapshot = run.workspace.snapshot(run.tip, run.session.screen, protected)
    except GitFailed as refused:
        problem = Problem(kind=FailureKind.AGENT_ERROR, message=refused.message)
        return _fail(run, marker, Failed(problem, reply.usage))
    work = execute.Work(
        files=snapshot.files,
        added=snapshot.added,
        removed=snapshot.removed,
        adopted=adopted,
        left_out=snapshot.left_out,
        tree=snapshot.tree,
    )
    fact = execute.facts(run.lineage, reply, work)
    for reason, lefts in groupby(snapshot.left_out, lambda left: left.reason):
        paths = recover.some([left.path for left in lefts])
        run.session.console.warn(f"left out of the generation: {paths} ({reason})")
    if snapshot.saved:
        run.session.console.say(f"protected files were put back: git show {snapshot.saved}")
    # Only now: until here the branch keeps the agent's commits for a step that comes after a crash.
    recover.restore_branch(run.session, run.tip, adopted)
    run.record([fact], code=snapshot.tree, adopted=adopted)
    run.workspace.reset(run.tip)
    return None


def _vanished(run: Run) -> Problem | None:
    """A workspace that is gone is no work: it must not become a generation without files."""
    if not run.workspace.gone():
        return None
    message = f"{run.agent.name} removed its workspace"
    return Problem(kind=FailureKind.AGENT_ERROR, message=message)


def _evaluate(run: Run, marker: Marker) -> EvolveStepFailed | None:
    """Checks decide where there are any; the agent is asked about the rest."""
    checked = judge(run, marker.run)
    recover.restore_branch(run.session, run.tip)
    run.workspace.reset(run.tip)
    asked = evaluate.asked(run.lineage.current.seed, {v.id for v in checked.verdicts})
    fact: Data
    if not asked:
        fact = evaluate.facts(run.lineage, checked.verdicts, None, (), checked.seconds)
    else:
        request = evaluate.request(run.lineage, run.session.prompts, asked)
        answer = _ask(
            run,
            marker,
            request,
            lambda reply: evaluate.facts(
                run.lineage, checked.verdicts, reply, asked, checked.seconds
            ),
        )
        if isinstance(answer, Failed):
            return _fail(run, marker, answer)
        fact = answer
        _put_back(run)
    run.record([fact])
    return None


# --- asking ------------------------------------------------------------------------------------


def _ask(run: Run, marker: Marker, request: Request, parse: Parse) -> Data | Failed:
    """The facts in the agent's reply; a reply that does not fit is asked for once more."""
    reply = _call(run, marker, request)
    if reply.problem:
        return Failed(reply.problem, reply.usage)
    try:
        return parse(reply)
    except BadReply as problem:
        run.session.console.say(f"the reply did not fit, asking once more: {problem}")
        request = repair.request(request, reply.text, str(problem), run.session.prompts)
    again = _call(run, marker, request)
    both = replace(again, usage=_together(reply.usage, again.usage))
    if both.problem:
        return Failed(both.problem, both.usage)
    try:
        return parse(both)
    except BadReply as problem:
        return Failed(Problem(kind=FailureKind.BAD_REPLY, message=str(problem)), both.usage)


def _call(run: Run, marker: Marker, request: Request) -> Reply:
    phase = request.brief.phase
    run.session.console.progress(f"gen {request.brief.generation}: {phase}", 0.0, None)
    repo, lineage_id = run.session.repo, run.lineage.id
    before = guard.look(repo, lineage_id, run.workspace.git_dir)
    reply = run.agent.run(request, run.workspace.root, marker.run)
    run.session.console.settle()
    for line in guard.put_right(repo, lineage_id, before):
        run.session.console.warn(line)
    run.session.check_interrupt()
    if reply.denied:
        run.session.console.warn(f"the agent was not allowed to use {', '.join(reply.denied)}")
    return _masked(run, reply)


def _masked(run: Run, reply: Reply) -> Reply:
    """`reply` without secrets, before anything of it is parsed, hashed or shown."""
    mask, problem = run.session.secrets.mask, reply.problem
    if problem:
        problem = replace(problem, message=mask(problem.message))
    return replace(reply, text=mask(reply.text), problem=problem)


def _together(first: Usage, second: Usage) -> Usage:
    """Two calls of one phase as one; what either does not know is unknown."""

    def both(name: str) -> float | int | None:
        a, b = getattr(first, name), getattr(second, name)
        return None if a is None or b is None else a + b

    counted = ("input_tokens", "output_tokens", "cost", "seconds")
    return replace(second, **{name: both(name) for name in counted})


# --- afterwards --------------------------------------------------------------------------------


def _put_back(run: Run) -> None:
    """Undo what an agent changed that was only to think."""
    with run.session.no_gc():
        recover.restore_branch(run.session, run.tip)
        if run.workspace.is_at(run.tip):
            return
        rescue = run.workspace.rescue(run.tip, "changed outside execute", run.session.screen)
        lost = run.workspace.reset(run.tip)
    if lost and rescue:
        run.session.console.warn(
            f"files changed outside execute, put back and saved: {recover.some(lost)} "
            f"(git show {rescue})"
        )


def _adopted(run: Run) -> tuple[str, ...]:
    """The newest of the agent's own commits that may be further parents."""
    repo = run.session.repo
    made = {repo.ref(run.session.store.ref), run.workspace.head()} - {None, run.tip}
    adopted = sorted(c for c in made if c and repo.descends(c, run.tip))
    newest = [c for c in adopted if not any(repo.descends(o, c) for o in adopted if o != c)]
    fit = [c for c in newest if not recover.unfit(run.session, c, run.tip)]
    for commit in set(newest) - set(fit):
        run.session.console.warn(
            f"the agent's commit {commit[:12]} holds a secret or a left out file: not kept"
        )
    return tuple(fit)


def _fail(run: Run, marker: Marker, failed: Failed) -> EvolveStepFailed:
    """Record a failure; what the agent left in the workspace is saved and undone."""
    with run.session.no_gc():
        recover.restore_branch(run.session, run.tip)
        rescue = recover.rescue(run, run.workspace, marker, "failed")
    fact = failure(
        run.lineage, marker.phase, failed.problem, run.session.now(), rescue, failed.usage
    )
    run.record([fact])
    run.workspace.reset(run.tip)
    return fact
