"""A step's turn at a lineage that it shares with other machines: lease, pull, step, push."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ouro.app import mailbox
from ouro.app.session import Interrupted, Session
from ouro.core.ids import branch_ref
from ouro.errors import Exit, NotNow, OuroError, Overtaken

if TYPE_CHECKING:
    from ouro.git.lease import Lease
    from ouro.git.remote import Remote

HURRY = 5.0
"""Seconds that a remote may be silent while somebody waits for the step to end."""


class Stopped(NotNow):
    """Somebody asked to stop while the step waited for its turn."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "the same command goes on")
        self.exit_code = Exit.STOPPED


class Turn:
    """`problem` is why the remote does not have what the step did, None where it has it."""

    problem: OuroError | None = None


def find(session: Session) -> None:
    """Where the lineage is not here, but at the remote: fetch it, to be taken up."""
    from ouro.app.sync import remote_of
    from ouro.git.refspecs import fetch, look

    lineage_id = session.options.lineage_id
    if not session.config.settings.remote or session.repo.ref(branch_ref(lineage_id)):
        return
    remote = remote_of(session)
    assert remote, "one is set"
    there = look(remote, lineage_id)
    if there.branch:
        fetch(session.repo, remote, lineage_id, there)


@contextmanager
def turn(session: Session) -> Iterator[Turn]:
    """Hold the lineage's lease at the remote, if the step has one, with what is there taken up at
    the start, and what was done pushed at the end, however that came.

    Raises NotNow while another machine has its turn and nobody asked to wait.
    """
    mine = Turn()
    if not session.config.settings.remote:
        yield mine
        return
    remote, lease = _lease(session)
    lease.take(_pause(session) if session.options.wait else None)
    session.console.settle()
    try:
        session.alarms.append(lease.check)
        _reconcile(session, remote, lease)
        try:
            yield mine
        except Overtaken:
            raise
        except Interrupted:
            remote.line = remote.line._replace(limit=min(HURRY, remote.line.limit))
            _share(session, remote, lease)
            raise
        except BaseException:
            _share(session, remote, lease)
            raise
        mine.problem = _share(session, remote, lease)
    finally:
        session.alarms.clear()
        _release(session, remote, lease)


def _lease(session: Session) -> tuple[Remote, Lease]:
    from ouro.app.sync import remote_of
    from ouro.git.lease import Lease

    remote = remote_of(session)
    assert remote, "one is set"
    return remote, Lease(session.repo, session.options.lineage_id, remote)


def _pause(session: Session) -> Callable[[str, float], None]:
    told: list[str] = []

    def pause(why: str, seconds: float) -> None:
        if mailbox.stop_requested(session.state):
            mailbox.clear_stop(session.state)
            raise Stopped("stopped while waiting")
        if why not in told:
            told.append(why)
            session.console.say(f"{why}; waiting")
        session.sleep(seconds)

    return pause


def _reconcile(session: Session, remote: Remote, lease: Lease) -> None:
    """Take up what others did, and push first what an earlier step could not push."""
    from ouro.app.pull import pull_one
    from ouro.git.refspecs import look

    there = look(remote, session.options.lineage_id)
    done = pull_one(session, remote, there) if there.branch else None
    if done and done.outcome in ("created", "moved"):
        new = (done.new or "")[:12]
        session.console.say(f"took up {done.lineage_id} from {remote.name} at {new}")
    if (done is None or done.outcome == "ahead") and (problem := _share(session, remote, lease)):
        raise problem


def _share(session: Session, remote: Remote, lease: Lease) -> OuroError | None:
    """Push the lineage with the lease; why it is not there, if it is not."""
    lineage_id = session.options.lineage_id
    try:
        if session.repo.ref(branch_ref(lineage_id)):
            _push(session, remote, lease)
    except OuroError as problem:
        session.console.warn(
            f"{lineage_id} was not pushed: {problem.message}; what was done is kept here, and the "
            "next step goes on from there"
        )
        return problem
    finally:
        session.console.settle()
    return None


def _push(session: Session, remote: Remote, lease: Lease) -> None:
    from ouro.app.push import updates
    from ouro.git.refspecs import look
    from ouro.git.remote import Refused

    lineage_id = session.options.lineage_id
    wanted = updates(session, remote.name, look(remote, lineage_id))
    if not wanted:
        return
    try:
        lease.push(wanted)
    except Refused:
        # Did somebody push without the lease? Then this says so.
        updates(session, remote.name, look(remote, lineage_id))
        raise
    session.console.say(f"pushed {lineage_id} to {remote.name}")


def _release(session: Session, remote: Remote, lease: Lease) -> None:
    if lease.lost:
        lease.stop()
        return
    try:
        lease.release()
    except OuroError as problem:
        lease.stop()
        session.console.warn(
            f"{session.options.lineage_id} is still taken at {remote.name}, for as long as a lease "
            f"lasts: {problem.message}"
        )
