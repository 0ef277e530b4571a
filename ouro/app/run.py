"""A step under way: the log as read, the state it folds to, and the one way to add to both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ouro.app import mailbox
from ouro.app.session import Session
from ouro.core.chain import extend, seal
from ouro.core.events import Data, Event, EvolveStepCompleted, NoteAdded, PolicyChanged
from ouro.core.ids import tag_name
from ouro.core.lineage import Lineage, evolve, fold
from ouro.core.moves import Complete, completion, next_move, standing_decision
from ouro.core.policy import Given, Policy, changed_policy
from ouro.core.report import of_generation, to_json
from ouro.core.retry import timestamp
from ouro.core.store import Stream, Tag
from ouro.core.story import headline

if TYPE_CHECKING:
    from ouro.agents import Agent
    from ouro.git.workspace import Workspace


class Run:
    """Holds the lineage's lock for as long as it is used."""

    def __init__(self, session: Session, stream: Stream) -> None:
        lineage = fold(stream.log.events)
        assert lineage is not None, "the lineage exists"
        self.session = session
        self.stream = stream
        self.lineage = lineage
        self.completed = False

    @property
    def tip(self) -> str:
        assert self.stream.revision is not None, "a run's lineage exists"
        return self.stream.revision

    @cached_property
    def agent(self) -> Agent:
        return self.session.agent(self.lineage.seed, self.lineage)

    @cached_property
    def workspace(self) -> Workspace:
        from ouro.git.worktrees import ensure

        repo, options = self.session.repo, self.session.options
        return ensure(repo, options.lineage_id, self.tip, self.session.workspace_root)

    def lineage_has_ended(self) -> bool:
        """Whether the last decision ended it, and still does under the keys given now."""
        latest = self.lineage.latest
        if self.lineage.open or latest is None or latest.completed is None:
            return False
        if latest.completed.next_generation is not None:
            return False
        return standing_decision(self.lineage, self.policy_now()[0]).next_generation is None

    def policy_now(self) -> tuple[Policy, Given]:
        """The policy that the given keys ask for, and what to remember of them."""
        lineage = self.lineage
        return changed_policy(lineage.next_policy, lineage.given, self.session.config.policy)

    def take_policy(self) -> None:
        """Record what the given keys change."""
        policy, given = self.policy_now()
        if (policy, given) != (self.lineage.next_policy, self.lineage.given):
            self.record([PolicyChanged(policy=policy, given=given)])

    def take_notes(self) -> None:
        """Commit the notes that people left; each becomes one event, whatever happens between."""
        waiting = mailbox.queued_notes(self.session.state)
        for note in mailbox.drop_known(waiting, self.stream.log.events):
            fact = NoteAdded(text=note.text)
            stamp = (note.id, note.at)
            self._append(
                seal(
                    [(self.lineage.number, fact)],
                    self.stream.log,
                    self.lineage.id,
                    lambda stamp=stamp: stamp,
                )
            )
            note.path.unlink(missing_ok=True)

    def record(
        self, facts: Sequence[Data], *, code: str | None = None, adopted: Sequence[str] = ()
    ) -> None:
        """Append `facts` in one commit; with a generation's last ones its decision and tag."""
        self._append(self._sealed(facts), code=code, adopted=adopted)

    def _append(
        self, events: tuple[Event, ...], *, code: str | None = None, adopted: Sequence[str] = ()
    ) -> None:
        tip, tag = self.tip, None
        if events and isinstance(events[-1].data, EvolveStepCompleted):
            tag = self._tag(events)
        with self.session.no_gc():
            self.stream = self.session.store.append(
                self.stream, events, code=code, adopted=adopted, tag=tag
            )
            self.lineage = self._after(events)
            self.completed = tag is not None
            if "workspace" in self.__dict__ and code is None:
                self.workspace.advance(tip, self.tip)
            self.session.store.journal.settle()
        for event in events:
            self.session.console.say(_told(event))

    def _sealed(self, facts: Sequence[Data]) -> tuple[Event, ...]:
        """`facts` as the next events, with the decision where it is due."""
        events = self._seal(facts, self.lineage, self.stream.log)
        after = self._after(events)
        due = after.open is not None or not facts
        if not due or after.pause:
            return events
        move = next_move(after, self.stream.code, timestamp(self.session.now()))
        if not isinstance(move, Complete):
            return events
        decided = completion(after, move.decision)
        return events + self._seal([decided], after, extend(self.stream.log, events))

    def _seal(self, facts: Sequence[Data], lineage: Lineage, log: object) -> tuple[Event, ...]:
        numbered = [(lineage.number, fact) for fact in facts]
        return seal(numbered, log, lineage.id, self.session.stamp)  # type: ignore[arg-type]

    def _after(self, events: Sequence[Event]) -> Lineage:
        lineage = self.lineage
        for event in events:
            lineage = evolve(lineage, event)
        return lineage

    def _tag(self, events: Sequence[Event]) -> Tag:
        after = self._after(events)
        return generation_tag(after, len(after.generations))


def _told(event: Event) -> str:
    """An event as it is told while it happens: what it took, and why a decision was taken."""
    usage = getattr(event.data, "usage", None)
    took = f", {usage.seconds:.1f} s" if usage else ""
    reason = f": {event.data.reason}" if isinstance(event.data, EvolveStepCompleted) else ""
    return f"gen {event.generation}: {headline(event)}{took}{reason}"


def generation_tag(lineage: Lineage, number: int) -> Tag:
    """The tag of a completed generation: its message is the step's JSON."""
    generation = lineage.generations[number - 1]
    return Tag(
        tag_name(lineage.id, number),
        lambda commit: to_json(of_generation(lineage.id, generation, commit)),
    )
