"""One step: a fresh process, one generation of one lineage.

Read the log, fold it, ask `next_move` what comes next, do that, append what came of it; again,
until the generation is complete. Nothing is remembered but what the log holds.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

from msgspec.structs import replace

from ouro.app import create, mailbox, prepare, recover, tags, turn
from ouro.app.phase import run_phase
from ouro.app.run import Run
from ouro.app.session import Session
from ouro.core.decision import Decision
from ouro.core.events import Action, EvolveStepFailed
from ouro.core.lineage import Generation, Lineage, Pause, fold
from ouro.core.moves import CarryOver, Complete, Ended, RunPhase, ThinkLaterally, Wait, next_move
from ouro.core.report import Report, of_end, of_failure, of_generation
from ouro.core.retry import timestamp
from ouro.core.story import counted
from ouro.errors import Exit, NeedsPerson, NotNow, OuroError
from ouro.git import housekeeping
from ouro.phases import lateral


class Ending(NamedTuple):
    """What a step came to. `code` is for callers that asked for exit codes; `again` says that the
    lineage had ended before this step."""

    report: Report
    code: Exit
    decided: bool
    again: bool = False


def step(session: Session) -> Ending:
    """Run one generation to its decision.

    Raises UsageProblem before any effect, Interrupted, and OuroError where there is nothing that
    the step's report could say.
    """
    turn.find(session)
    plan = create.plan(session)
    try:
        while True:
            with session.hold(), turn.turn(session) as mine:
                run = _begin(session, plan)
                outcome = _generation(run)
            if isinstance(outcome, Ending):
                if run.completed:
                    housekeeping.start_gc(session.repo.common)
                return _stopped(session, _shared(outcome, mine.problem))
            if not _sit_out(session, outcome):
                report = of_failure(run.lineage, "stopped", "stopped while waiting", run.tip)
                return _stopped(session, Ending(report, Exit.NOT_NOW, decided=False))
    except (NotNow, NeedsPerson) as refusal:
        return _not_let_in(session, refusal)


def _begin(session: Session, plan: create.Plan | None) -> Run:
    """The run as the log has it, with everything that derives from the log put right."""
    recover.dead_step(session)
    stream = session.store.read()
    if stream.revision is None:
        with session.no_gc():
            return create.lineage(session, plan)
    run = Run(session, stream)
    create.refuse_another_seed(session, run.lineage)
    with session.no_gc():
        tags.put_right(run)
    return run


def _generation(run: Run) -> Ending | Pause:
    """Move after move, until the generation has its decision."""
    if not run.lineage_has_ended():
        recover.require_clean(run)
        run.agent  # noqa: B018 (an agent that cannot be had is told before anything is written)
        run.take_policy()
    while not run.completed:
        run.session.check_interrupt()
        move = next_move(run.lineage, run.stream.code, timestamp(run.session.now()))
        match move:
            case Ended(decision):
                return _ended(run, decision)
            case Wait(pause):
                return pause
            case ThinkLaterally(persona, pattern):
                run.record([lateral.fact(persona, pattern, run.session.prompts)])
            case CarryOver(evaluate, qa):
                run.record([evaluate, qa] if qa else [evaluate])
            case RunPhase(phase):
                prepare.workspace(run)
                run.take_notes()
                failed = run_phase(run, phase)
                if failed:
                    return _failed(run, failed)
            case Complete():
                run.record([])
            case _:  # pragma: no cover
                assert_never(move)
    return _completed(run)


# --- how it ends -------------------------------------------------------------------------------


def _completed(run: Run) -> Ending:
    latest = run.lineage.latest
    assert latest is not None, "a completed generation is the latest"
    report = of_generation(run.lineage.id, latest, run.tip)
    if report.next_generation is None:
        _tell_what_is_open(run, latest)
    return Ending(report, _code(report), decided=True)


def _ended(run: Run, decision: Decision) -> Ending:
    """A finished lineage says again how it ended."""
    latest = run.lineage.latest
    assert latest is not None, "only a completed generation ends a lineage"
    commit = tags.completing_commit(run)
    report = of_end(run.lineage.id, latest, commit, decision)
    run.session.console.say(f"{run.lineage.id} has ended, {report.action}: {report.reason}")
    _tell_what_is_open(run, latest)
    return Ending(report, _code(report), decided=True, again=True)


def _tell_what_is_open(run: Run, last: Generation) -> None:
    passed = {verdict.id for verdict in last.verdicts if verdict.passed}
    for criterion in last.seed.acceptance_criteria if last.verdicts else ():
        if criterion.id not in passed:
            run.session.console.say(f"open: {criterion.id}: {criterion.description.strip()}")


def _code(report: Report) -> Exit:
    match report.action:
        case Action.CONVERGED:
            return Exit.OK
        case Action.EXHAUSTED:
            return Exit.EXHAUSTED
        case Action.STAGNATED:
            return Exit.LATERAL if report.next_generation else Exit.STAGNATED
        case Action.CONTINUE:
            return Exit.CONTINUE
        case Action.FAILED:  # pragma: no cover
            return Exit.FAILED
        case _:  # pragma: no cover
            assert_never(report.action)


def _failed(run: Run, failed: EvolveStepFailed) -> Ending:
    error = f"{failed.kind}: {failed.message}"
    if failed.retry_at is None:
        times = counted(failed.attempt, "time")
        reason = f"{failed.phase} failed {times}, a person is needed"
        return Ending(of_failure(run.lineage, error, reason, run.tip), Exit.FAILED, decided=False)
    reason = f"{failed.phase} failed, next try not before {failed.retry_at}"
    return Ending(of_failure(run.lineage, error, reason, run.tip), Exit.NOT_NOW, decided=False)


def _shared(ending: Ending, problem: OuroError | None) -> Ending:
    """`ending`, with the code that says so where the remote does not have what was done."""
    if problem is None:
        return ending
    error = ending.report.error or f"not pushed: {problem.message}"
    report = replace(ending.report, error=error)
    return ending._replace(report=report, code=problem.exit_code, decided=False)


def _stopped(session: Session, ending: Ending) -> Ending:
    """`ending`, with the code for a stop where somebody asked for one and the loop would go on."""
    if not mailbox.stop_requested(session.state):
        return ending
    mailbox.clear_stop(session.state)
    if ending.code not in (Exit.CONTINUE, Exit.LATERAL, Exit.NOT_NOW):
        return ending
    session.console.say("stopped on request; the same command goes on")
    return ending._replace(code=Exit.STOPPED)


def _sit_out(session: Session, pause: Pause) -> bool:
    """Wait for a pause to end, without the lock; False where somebody asked to stop meanwhile.
    Raises NotNow where nobody asked to wait."""
    why = f"paused until {pause.until} after {pause.kind}: {pause.message}"
    if not session.options.wait:
        raise NotNow(why, "wait for it with --wait")
    session.console.say(why)
    while left := session.seconds_until(pause.until):
        if mailbox.stop_requested(session.state):
            return False
        session.console.progress(f"paused, {left:.0f} s left", 0.0, None)
        session.sleep(min(1.0, left))
    session.console.settle()
    return True


def _not_let_in(session: Session, refusal: OuroError) -> Ending:
    """The report of a step that found the lineage busy, paused or in need of a person."""
    session.console.warn(refusal.message + (f" ({refusal.hint})" if refusal.hint else ""))
    lineage = _as_it_stands(session)
    error, reason = refusal.message, refusal.hint or refusal.message
    report = of_failure(lineage, error, reason, None) if lineage else None
    if report is None:
        raise refusal
    return Ending(report, refusal.exit_code, decided=False)


def _as_it_stands(session: Session) -> Lineage | None:
    return fold(session.store.read().log.events)
