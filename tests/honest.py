"""Random lineages that are honest: real commits, driven by the moves as a step is, with facts by
chance. And any history as plain values, in which lies can be planted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pygit2
from msgspec.structs import replace
from pygit2.enums import ObjectType

from ouro.app.run import generation_tag
from ouro.core import jumps
from ouro.core.brief import FailureKind, Phase, Problem
from ouro.core.chain import extend, seal
from ouro.core.codec import EMPTY_LOG
from ouro.core.decision import decide
from ouro.core.events import (
    CriterionChange,
    Data,
    EvaluateCompleted,
    Event,
    EvolveStepInterrupted,
    ExecuteCompleted,
    Jump,
    LateralThinkApplied,
    LineageCreated,
    LineageForked,
    LineageRestored,
    LineageRewound,
    Method,
    Mutation,
    NoteAdded,
    PauseCleared,
    PolicyChanged,
    QaCompleted,
    Question,
    ReflectCompleted,
    Usage,
    Verdict,
    WonderCompleted,
)
from ouro.core.ids import archived_name, branch_ref, event_id, tag_name
from ouro.core.lineage import Lineage, evolve, fold
from ouro.core.marks import qa_verdict
from ouro.core.moves import (
    CarryOver,
    Complete,
    Ended,
    RunPhase,
    ThinkLaterally,
    completion,
    next_move,
)
from ouro.core.policy import Given, Policy
from ouro.core.retry import failure, timestamp
from ouro.core.seed import Checks, Criterion, Field, Ontology, Seed
from ouro.core.seed_changes import next_seed
from ouro.core.store import Stream
from ouro.core.story import message
from ouro.core.verify.history import Commit, TagRef
from ouro.git import log_tree
from ouro.git.event_store import GitEventStore
from ouro.git.history import GitHistory
from ouro.git.repository import Repo

SEED = Seed(
    goal="Greet people",
    constraints=("no network",),
    acceptance_criteria=(
        Criterion(id="ac1", description="greets by name", checks=Checks(verify_command="true")),
        Criterion(id="ac2", description="greets nobody"),
        Criterion(id="ac3", description="is quick", hidden=True),
    ),
    ontology_schema=Ontology(fields=(Field("name"), Field("greeting"))),
)
WORDS = ("tone", "time", "place", "mood", "weather", "language")
POLICIES = (
    Policy(),
    Policy(qa=False),
    Policy(execute=False),
    Policy(freeze_ontology=True),
    Policy(max_generations=6, max_retries=1),
    Policy(stop_on_pass=True, max_cost=5.0),
)
START = datetime(2026, 1, 1, tzinfo=UTC)


def usage(chance: random.Random) -> Usage:
    cost = chance.choice((None, 0.0, 0.25))
    return Usage(agent=chance.choice(("claude", "codex")), cost=cost, seconds=chance.random())


class Honest:
    """One lineage in the repository `folder`, whose every event is one that was due."""

    def __init__(self, folder: Path, seed: int, lineage_id: str = "greet") -> None:
        self.chance = random.Random(seed)
        if not (folder / ".git").exists():
            pygit2.init_repository(folder)
        self.repo = Repo(folder)
        pygit2.settings.enable_fsync_gitdir(False)
        self.trees = [self._tree(name) for name in ("one", "two", "three")]
        self.id = lineage_id
        self._seconds = count(seed * 1000)
        self.tags: dict[str, str] = {}
        self._came_with: dict[str, str] = {}
        base = self._commit(self.trees[0], (), "base")
        self.stream = Stream(EMPTY_LOG, None, self.trees[0])
        policy = self.chance.choice(POLICIES)
        created = LineageCreated(
            seed=SEED, hidden=None, seed_sha256="ab" * 32, policy=policy, given=Given(), base=base
        )
        self._append(self._seal(0, created), adopted=(base,))

    @property
    def lineage(self) -> Lineage:
        folded = fold(self.stream.log.events)
        assert folded
        return folded

    @property
    def tip(self) -> str:
        assert self.stream.revision
        return self.stream.revision

    # --- going on

    def live(self, moves: int) -> Honest:
        """So many moves more, and to the end of the generation."""
        for _ in range(moves):
            self._happen()
            self._move()
        for _ in range(60):
            if self.lineage.open is None:
                break
            self._move()
        return self

    def _happen(self) -> None:
        """What people and chance do between two moves."""
        chance, lineage = self.chance, self.lineage
        match chance.randrange(16):
            case 0:
                self.record(NoteAdded(text="be kind"))
            case 1:
                policy = replace(
                    chance.choice(POLICIES), max_retries=chance.randrange(4), max_generations=60
                )
                if policy != lineage.next_policy:
                    self.record(PolicyChanged(policy=policy, given=Given()))
            case 2:
                self.user_commit()
            case 3 if lineage.generations:
                ends = jumps.completions(self.stream.log.events)
                start = self.stream.log.events[jumps.beginning(self.stream.log.events)].generation
                self.rewind(chance.choice([n for n in (start, *ends) if n >= start]))
            case 4 if lineage.left:
                self.undo()
            case 5 if lineage.open is None and lineage.generations:
                self.fork(chance.choice((None, replace(SEED, goal="Greet nobody"))))
            case _:
                return

    def _move(self) -> None:
        lineage, chance = self.lineage, self.chance
        move = next_move(replace(lineage, pause=None), self.stream.code, "")
        match move:
            case RunPhase(phase):
                if chance.random() < 0.1:
                    return self._stumble(phase)
                if lineage.pause and chance.random() < 0.5:
                    self.record(PauseCleared())
                self._phase(phase)
            case ThinkLaterally(persona, pattern):
                self.record(LateralThinkApplied(persona=persona, pattern=pattern, advice="so"))
            case CarryOver(evaluate, qa):
                self.record(*([evaluate, qa] if qa else [evaluate]))
            case Complete():
                self.record()
            case Ended():
                policy = replace(lineage.policy, max_generations=lineage.number + 3, max_retries=9)
                policy = replace(policy, convergence_threshold=1.0, min_generations=40)
                if policy != lineage.next_policy:
                    self.record(PolicyChanged(policy=replace(policy, max_cost=None), given=Given()))
        return None

    def _stumble(self, phase: Phase) -> None:
        if self.chance.random() < 0.5:
            self.record(EvolveStepInterrupted(phase=phase, rescue=None))
            return
        kind = self.chance.choice(list(FailureKind))
        problem = Problem(kind=kind, message="oh")
        used = self.chance.choice((None, usage(self.chance)))
        self.record(failure(self.lineage, phase, problem, self._now(), None, used))

    def _phase(self, phase: Phase) -> None:
        match phase:
            case Phase.WONDER:
                asked = (self._question() for _ in range(self.chance.randrange(3)))
                self.record(
                    WonderCompleted(
                        questions=tuple(asked), tensions=("a/b",), usage=usage(self.chance)
                    )
                )
            case Phase.REFLECT:
                self.record(self._reflection())
            case Phase.EXECUTE:
                self._execute()
            case Phase.EVALUATE:
                self.record(self._evaluation())
            case Phase.QA:
                self.record(self._review())

    def _question(self) -> Question:
        word = self.chance.choice(WORDS)
        return Question(question=f"What of {word}?", criteria=("ac2",), subject=word)

    def _reflection(self) -> ReflectCompleted:
        chance, lineage = self.chance, self.lineage
        seed, number = lineage.current.seed, lineage.number
        there = [f.name for f in seed.ontology_schema.fields]
        mutations: list[Mutation] = []
        if chance.random() < 0.4:
            new = [word for word in WORDS if word not in there]
            mutations += [Mutation(action="add", name=word, description="x") for word in new[:1]]
        if chance.random() < 0.2:
            mutations.append(
                Mutation(action="modify", name=there[0], description=chance.choice(WORDS))
            )
        if chance.random() < 0.1 and len(there) > 2:
            mutations.append(Mutation(action="remove", name=there[-1], reason="gone"))
        changes = [CriterionChange(action="note", id="ac2", description=chance.choice(WORDS))]
        name = f"ac{len(seed.acceptance_criteria) + 1}"
        changes.append(CriterionChange(action="add", id=name, description="more"))
        mine = [c.id for c in seed.acceptance_criteria if c.added_in]
        changes += [CriterionChange(action="revise", id=i, description="less") for i in mine[:1]]
        draft = ReflectCompleted(
            mutations=tuple(mutations),
            criteria=tuple(changes) if chance.random() < 0.15 else (),
            learnings=(chance.choice(WORDS),),
            reasoning="so",
            seed=seed,
            usage=usage(chance),
        )
        return replace(draft, seed=next_seed(seed, draft, number))

    def _execute(self) -> None:
        tree = self.chance.choice(self.trees)
        adopted: tuple[str, ...] = ()
        if self.chance.random() < 0.2:
            adopted = (
                self._commit(tree, (self.tip,), "the agent's own\n\nOuro-Action: converged"),
            )
        fact = ExecuteCompleted(
            summary="done",
            files=("x",),
            added=1,
            removed=0,
            adopted=adopted,
            left_out=(),
            tree=tree,
            usage=usage(self.chance),
        )
        self.record(fact, code=tree, adopted=adopted)

    def _evaluation(self) -> EvaluateCompleted:
        verdicts = tuple(map(self._verdict, self.lineage.current.seed.acceptance_criteria))
        from math import fsum

        score = fsum(v.score for v in verdicts) / len(verdicts)
        return EvaluateCompleted(
            verdicts=verdicts, score=score, seconds=0.5, usage=usage(self.chance)
        )

    def _verdict(self, criterion: Criterion) -> Verdict:
        passed = self.chance.random() < 0.7
        method, score = Method.CHECK, float(passed)
        if not criterion.checks and not criterion.hidden:
            method = self.chance.choice((Method.AGENT, Method.OFFLINE))
            score = self.chance.choice((0.8, 0.95)) if passed else self.chance.choice((0.0, 0.79))
            if not passed and self.chance.random() < 0.3:
                method, score = Method.UNRESOLVED, 0.0
        return Verdict(id=criterion.id, passed=passed, score=score, method=method, evidence="seen")

    def _review(self) -> QaCompleted:
        score = self.chance.choice((20.0, 55.0, 80.0, 92.5))
        return QaCompleted(
            verdict=qa_verdict(score),
            score=score,
            differences=(),
            suggestions=(),
            error=None,
            carried=False,
            usage=usage(self.chance),
        )

    # --- writing

    def record(self, *facts: Data, code: str | None = None, adopted: Sequence[str] = ()) -> None:
        lineage = self.lineage
        events = self._seal(lineage.number, *facts)
        for event in events:
            lineage = evolve(lineage, event)
        move = next_move(replace(lineage, pause=None), code or self.stream.code, "")
        due = lineage.open is not None or not facts
        if due and not lineage.pause and isinstance(move, Complete):
            decision = decide((*lineage.counted, lineage.current), lineage.policy, lineage.spent)
            log = extend(self.stream.log, events)
            end = completion(lineage, decision)
            events += seal([(lineage.number, end)], log, self.id, self._stamp)
            self._append(events, code=code, adopted=adopted)
            self._tag(len(self.lineage.generations))
        else:
            self._append(events, code=code, adopted=adopted)

    def _tag(self, number: int) -> None:
        tag = generation_tag(self.lineage, number)
        self.tags[tag.name] = self._tag_object(tag.name, self.tip, tag.message(self.tip))

    def _tag_object(self, name: str, commit: str, text: str) -> str:
        head = f"object {commit}\ntype commit\ntag {name}\ntagger A <a@example.org> 1 +0000\n\n"
        return str(self.repo.handle.write(ObjectType.TAG, f"{head}{text}\n".encode()))

    def user_commit(self) -> None:
        """The user's own, which changes code and leaves the log alone."""
        code = self.chance.choice(self.trees)
        builder = self.repo.handle.TreeBuilder(self.repo.tree(code))
        entry = self.repo.commit(self.tip).tree[".ouro"]
        builder.insert(".ouro", entry.id, 0o040000)
        made = self._commit(str(builder.write()), (self.tip,), "mine")
        self.stream = Stream(self.stream.log, made, code)

    def rewind(self, to: int) -> None:
        events = self.stream.log.events
        length = jumps.length_at(events, to)
        if not jumps.stands_at(events, length):
            self.jump(LineageRewound, self._came_with[events[length - 1].id])

    def undo(self) -> None:
        assert self.lineage.left
        self.jump(LineageRestored, self.lineage.left)

    def jump(self, kind: type[Jump], commit: str) -> None:
        before = self.stream
        target = GitEventStore(self.repo, self.id).read_at(commit)
        state = fold(target.log.events)
        assert state
        fact = jumps.jump(kind, self.lineage, self.tip, state, commit)
        number = target.log.events[-1].generation
        events = seal([(number, fact)], target.log, self.id, self._stamp)
        tree = log_tree.extended(self.repo, target, events, target.code)
        made = self._commit(tree, (self.tip,), message(events))
        self._came_with[events[0].id] = made
        self.stream = Stream(extend(target.log, events), made, target.code)
        for number in jumps.left_behind(before.log.events, target.log.events):
            name = tag_name(self.id, number)
            self.tags[archived_name(self.id, fact.n, number)] = self.tags.pop(name)
        kept = jumps.completions(target.log.events)
        for number in kept:
            name = tag_name(self.id, number)
            if name not in self.tags:
                self.tags[name] = self._archived(number, kept[number])

    def _archived(self, number: int, end: Event) -> str:
        for name, target in self.tags.items():
            commit = str(self.repo.handle[target].peel(pygit2.Commit).id)
            if name.startswith(f"ooo/{self.id}/") and commit == self._came_with[end.id]:
                return target
        raise AssertionError(f"generation {number} was archived")

    def fork(self, seed: Seed | None) -> None:
        """Go on as another lineage, from the newest generation's end."""
        source, events = self.id, self.stream.log.events
        if not isinstance(events[-1].data, jumps.ENDS) or len(source) > 40:
            return
        self.id = f"{source}_f"
        before = self.lineage
        fact = LineageForked(
            source=source,
            generation=len(before.generations),
            commit=self.tip,
            seed=seed,
            hidden=None,
            seed_sha256="cd" * 32 if seed else before.seed_sha256,
        )
        self._append(self._seal(len(before.generations), fact))
        lineage = self.lineage
        for number in range(1, len(lineage.generations) + 1):
            commit = self.repo.handle[self.tags[tag_name(source, number)]].peel(pygit2.Commit)
            tag = generation_tag(lineage, number)
            text = tag.message(str(commit.id))
            self.tags[tag.name] = self._tag_object(tag.name, str(commit.id), text)

    def _append(
        self, events: tuple[Event, ...], *, code: str | None = None, adopted: Sequence[str] = ()
    ) -> None:
        at = self.stream
        code = at.code if code is None else code
        tree = log_tree.extended(self.repo, at, events, code, adopted)
        parents = [r for r in (at.revision, *adopted) if r]
        made = self._commit(tree, parents, message(events))
        self._came_with |= {event.id: made for event in events}
        self.stream = Stream(extend(at.log, events), made, code)

    def _seal(self, number: int, *facts: Data) -> tuple[Event, ...]:
        return seal([(number, fact) for fact in facts], self.stream.log, self.id, self._stamp)

    def _now(self) -> datetime:
        return START + timedelta(seconds=next(self._seconds))

    def _stamp(self) -> tuple[str, str]:
        now = self._now()
        entropy = next(self._seconds).to_bytes(10, "big")
        return event_id(int(now.timestamp() * 1000), entropy), timestamp(now)

    def _commit(self, tree: str, parents: Sequence[str], text: str) -> str:
        who = pygit2.Signature("A", "a@example.org", 1, 0)
        return str(self.repo.handle.create_commit(None, who, who, text, tree, list(parents)))

    def _tree(self, text: str) -> str:
        builder = self.repo.handle.TreeBuilder()
        builder.insert("code", self.repo.handle.create_blob(text.encode()), 0o100644)
        return str(builder.write())

    def publish(self) -> Honest:
        """Set branch and tags."""
        references = self.repo.handle.references
        references.create(branch_ref(self.id), self.tip, force=True)
        for name, target in self.tags.items():
            references.create(f"refs/tags/{name}", target, force=True)
        return self


class Plain(NamedTuple):
    """A history in memory."""

    lineage: str
    before: Commit | None
    commits: tuple[Commit, ...]
    tags: tuple[TagRef, ...] | None
    blobs: dict[str, bytes]
    trusted: bool = False
    below: tuple[Commit, ...] = ()

    def blob(self, blob_id: str) -> bytes:
        return self.blobs[blob_id]

    def past(self, commit_id: str) -> Commit | None:
        return next((c for c in self.below if c.id == commit_id), None)


def plain(history: GitHistory) -> Plain:
    """What `history` reads, all of it."""
    commits = tuple(history.commits)
    ids = {f.blob for c in commits for log in c.logs for f in log.files}
    tags = None if history.tags is None else tuple(history.tags)
    blobs = {blob: history.blob(blob) for blob in ids}
    return Plain(history.lineage, history.before, commits, tags, blobs, history.trusted)
