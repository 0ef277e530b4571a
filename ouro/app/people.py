"""What people do to a lineage while it runs: leave a note, ask it to stop, end a pause."""

from __future__ import annotations

from ouro.app import history, mailbox, recover
from ouro.app.run import Run
from ouro.app.session import Session
from ouro.core.events import PauseCleared
from ouro.git.journal import is_alive
from ouro.git.lock import Holder, last_holder


def note(session: Session, text: str) -> None:
    """Queue a note; the step that runs, or the next one, commits it before its next request."""
    history.read(session.repo, session.options.lineage_id)
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
    mailbox.queue_note(session.state, session.stamp(), clean)


def stop(session: Session) -> Holder | None:
    """Ask the step or loop that runs to end after its generation; None where none is alive."""
    history.read(session.repo, session.options.lineage_id)
    holder = last_holder(session.state)
    if holder is None or not (is_alive(holder.pid) or (holder.loop and is_alive(holder.loop))):
        return None
    mailbox.request_stop(session.state, holder)
    return holder


def retry(session: Session) -> str | None:
    """End a pause by hand; until when it would have lasted, None where there is none.

    Raises NotNow while a step works, which is then no pause.
    """
    history.read(session.repo, session.options.lineage_id)
    with session.hold():
        recover.dead_step(session)
        stream, lineage = history.read(session.repo, session.options.lineage_id)
        if lineage.pause is None:
            return None
        run = Run(session, stream)
        recover.require_clean(run)
        run.record([PauseCleared()])
        return lineage.pause.until
