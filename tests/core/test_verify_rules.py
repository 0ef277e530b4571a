"""The rules of a history one by one, on plain values."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from ouro.core import jumps
from ouro.core.chain import extend
from ouro.core.codec import EMPTY_LOG, Log, encode_lines
from ouro.core.events import (
    CriterionChange,
    Data,
    EvaluateCompleted,
    Event,
    LateralThinkApplied,
    LineageForked,
    LineageRewound,
    Method,
    Mutation,
    Verdict,
)
from ouro.core.lineage import fold
from ouro.core.moves import Complete, carried_qa, completion
from ouro.core.policy import Policy
from ouro.core.seed import Criterion
from ouro.core.seed_changes import mutated, revised
from ouro.core.story import message, trailers, trailers_in
from ouro.core.verify import contract, facts, verdicts
from ouro.core.verify.growth import growth
from ouro.core.verify.history import Commit, Folder, LogFile, TagRef, Verified
from ouro.core.verify.walk import verify
from ouro.errors import DamagedLog
from tests.core.builders import (
    ALONE,
    TWO,
    created,
    evaluated,
    executed,
    failed,
    lineage,
    log_of,
    qa,
    reflected,
    seal_all,
    verdict,
    wondered,
)
from tests.honest import Plain


def judged(*passed: bool) -> EvaluateCompleted:
    """An agent's verdict on ac1, ac2, …"""
    given = (verdict(f"ac{at}", ok) for at, ok in enumerate(passed, start=1))
    return evaluated(*(replace(v, method=Method.AGENT) for v in given))


BASE = Commit("c0" * 20, (), "base", "t0", ())
PATH = ".ouro/lineages/greet/events"


class Story(NamedTuple):
    """A history under way: each `then` is one commit."""

    log: Log = EMPTY_LOG
    commits: tuple[Commit, ...] = ()
    blobs: dict[str, bytes] = {}  # noqa: RUF012 (never changed)
    files: tuple[bytes, ...] = ()
    code: str = "t0"
    owner: str = "greet"

    def then(self, *data: Data, **more: object) -> "Story":
        """One more commit, with `data`."""
        events = seal_all(data, self.log, self.owner)
        return self.adding(events, **more)  # type: ignore[arg-type]

    def adding(
        self,
        events: Sequence[Event],
        *,
        code: str | None = None,
        rolled: bool = False,
        log: Log | None = None,
        text: str | None = None,
        plain: bool = True,
    ) -> "Story":
        whole = extend(log or self.log, events)
        owner = events[-1].lineage_id
        lines = encode_lines(events)
        files = self.files if log is None else (encode_lines(log.events),)
        files = (*files, lines) if rolled or not files else (*files[:-1], files[-1] + lines)
        number = len(self.commits) + 1
        blobs = {content.hex(): content for content in files}
        names = (f"{n:06}.jsonl" for n in range(1, len(files) + 1))
        held = tuple(LogFile(*pair, plain) for pair in zip(names, blobs, strict=True))
        below = self.commits[-1].id if self.commits else BASE.id
        folder = Folder(owner, PATH.replace("greet", owner), held)
        now = code or self.code
        made = Commit(f"{number:040}", (below,), text or message(events), now, (folder,))
        return Story(whole, (*self.commits, made), self.blobs | blobs, files, now, owner)

    def verified(self, tags: tuple[TagRef, ...] | None = None) -> Verified:
        return verify(Plain(self.owner, BASE, self.commits, tags, self.blobs))

    def said(self) -> list[str]:
        return [finding.what for finding in self.verified().findings]


def begun(policy: Policy = ALONE) -> Story:
    return Story().then(created(policy))


def test_a_creation_is_honest() -> None:
    assert begun().verified() == Verified(lineage_id="greet", commits=1, events=1, generations=0)


def test_nothing_at_all_is_no_lineage() -> None:
    assert Story().said() == ["there is no log of greet"]
    empty = BASE._replace(id="d0" * 20, parents=(BASE.id,))
    assert Story(commits=(empty,)).said() == ["there is no log of greet"]


def test_a_log_begins_with_its_creation() -> None:
    before = begun()
    late = before._replace(blobs=dict.fromkeys(before.blobs, b"{}\n"))
    assert "missing required field" in late.said()[0]
    assert late.verified().findings[0].line == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"base": None}, "the lineage starts from nothing, its commit from another parent"),
        (
            {"seed": replace(TWO, acceptance_criteria=(Criterion("a", "b", added_in=2),))},
            "a criterion of the first seed is marked as added later",
        ),
    ],
)
def test_a_creation_that_lies(change: dict[str, object], said: str) -> None:
    assert Story().then(replace(created(), **change)).said() == [said]


def test_a_creation_keeps_the_code_and_has_number_0() -> None:
    events = seal_all((created(),))
    assert Story().adding(events, code="t9").said() == ["the code is not that of the base"]
    numbered = (replace(events[0], generation=4),)
    assert Story().adding(numbered).said() == ["the creation is of generation 4, not 0"]


def test_a_newer_log_is_no_lie_and_not_verified() -> None:
    story = begun()
    newer = encode_lines(story.log.events).replace(b'{"v":1', b'{"v":2')
    found = story._replace(blobs=dict.fromkeys(story.blobs, newer)).verified()
    assert found.findings == ()
    assert "made by a newer ouro (v 2, lineage.created); update ouro" in (found.unknown or "")


def test_the_lineage_is_the_one_that_was_asked_for() -> None:
    found = verify(Plain("other", BASE, begun().commits, None, begun().blobs))
    assert [f.what for f in found.findings] == ["the log is that of greet, not of other"]


def test_a_commit_of_the_users_own() -> None:
    story = begun()
    mine = story.commits[-1]._replace(id="5" * 40, parents=(story.commits[-1].id,), code="t5")
    quiet = story._replace(commits=(*story.commits, mine._replace(message="mine")))
    assert quiet.verified().notices == ()
    loud = story._replace(commits=(*story.commits, mine))
    assert loud.verified().notices == (
        "555555555555: trailers of ouro, and nothing new in the log",
    )
    assert loud.said() == quiet.said() == []


def test_a_log_that_is_gone() -> None:
    story = begun()
    bare = story.commits[-1]._replace(id="5" * 40, logs=())
    found = story._replace(commits=(*story.commits, bare)).verified().findings
    assert [(f.commit, f.file, f.what.split(" (")[0]) for f in found] == [
        ("5" * 40, f"{PATH}/000001.jsonl", "the log is gone")
    ]


# --- the files


def test_a_new_file_at_the_start_of_a_generation() -> None:
    story = begun().then(executed(tree="t1"), code="t1", rolled=True)
    assert story.said() == []
    odd = story.then(judged(True, False), rolled=True)
    assert odd.said()[0] == "a new file begins in the middle of a generation"
    assert odd.verified().findings[0].file == f"{PATH}/000003.jsonl"


def grown(old: dict[str, bytes], new: dict[str, bytes], plain: bool = True) -> str:
    blobs = {content.hex(): content for content in (*old.values(), *new.values())}
    before = tuple(LogFile(name, content.hex()) for name, content in old.items())
    after = tuple(LogFile(name, content.hex(), plain) for name, content in new.items())
    try:
        found = growth(before, Folder("greet", PATH, after), blobs.__getitem__)
    except DamagedLog as damage:
        return str(damage).removeprefix("the log is damaged: ").replace(f"{PATH}/", "")
    return f"{found.start.line} {found.start.offset} {found.content.decode()} {found.rolled}"


ONE, TWO_FILES = "000001.jsonl", "000002.jsonl"


def test_how_files_grow() -> None:
    assert grown({}, {ONE: b"a\n"}) == "1 0 a\n True"
    assert grown({ONE: b"a\n"}, {ONE: b"a\nb\n"}) == "2 2 b\n False"
    assert grown({ONE: b"a\n"}, {ONE: b"a\n", TWO_FILES: b"b\n"}) == "1 0 b\n True"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({ONE: b"a\n"}, {}, "000001.jsonl, line 1 (byte 0): the file is gone"),
        ({}, {ONE: b"", TWO_FILES: b""}, "000002.jsonl, line 1 (byte 0): more than one new file"),
        (
            {ONE: b"a\nb\n"},
            {ONE: b"a\nc\n"},
            "line 2 (byte 0): a line that was committed before is",
        ),
        ({ONE: b"a\nb\n"}, {ONE: b"a\n"}, "line 2 (byte 0): lines that were committed before are"),
        (
            {ONE: b"a\n"},
            {ONE: b"a\nb\n", TWO_FILES: b"c\n"},
            "000001.jsonl, line 2 (byte 0): a line was added to a file that others follow",
        ),
        ({}, {TWO_FILES: b""}, "000002.jsonl, line 1 (byte 0): files are gone or foreign"),
    ],
)
def test_how_files_do_not_grow(old: dict[str, bytes], new: dict[str, bytes], said: str) -> None:
    assert said in grown(old, new)


def test_a_link_is_no_log() -> None:
    assert "it is no plain file" in grown({}, {ONE: b"a\n"}, plain=False)


# --- single facts


def said_of(fact: Data, *before: Data, policy: Policy = ALONE, code: str = "t1") -> list[str]:
    """What is wrong with `fact` after the facts `before`."""
    state = lineage(*before, policy=policy)
    log = log_of(*before, first=created(policy))
    (event,) = seal_all((fact,), log)
    return list(facts.faults(state, event, code))


def test_what_is_due_is_told() -> None:
    assert said_of(wondered()) == ["this event is wonder's, but execute was due"]
    assert said_of(judged(True, True), executed()) == []
    lateral = LateralThinkApplied(persona="hacker", pattern="spinning", advice="")
    assert said_of(lateral) == ["lateral thinking, but execute was due"]


def test_a_decision_and_lateral_thinking_are_due_in_their_turn() -> None:
    (said,) = said_of(wondered(), executed(), judged(True, False))
    assert said == "this event is wonder's, but the decision was due"
    stuck: tuple[Data, ...] = ()
    for number in range(3):
        thought = (wondered(), reflected(TWO)) if number else ()
        stuck += (*thought, executed(tree="t1"), judged(False, False))
        state = lineage(*stuck)
        move = facts.due(state, "t1")
        assert isinstance(move, Complete)
        stuck += (completion(state, move.decision),)
    (said,) = said_of(wondered(), *stuck)
    assert said == "this event is wonder's, but lateral thinking was due: hacker (spinning)"


def test_an_end_is_an_end() -> None:
    policy = Policy(qa=False, stop_on_pass=True)
    ended = (executed(), judged(True, True), ended_by(policy))
    (said,) = said_of(wondered(), *ended, policy=policy)
    assert said.startswith("this event is wonder's, but the lineage had ended: 2/2 criteria passed")


def ended_by(policy: Policy) -> Data:
    state = lineage(executed(), judged(True, True), policy=policy)
    move = facts.due(state, "t1")
    assert isinstance(move, Complete)
    return completion(state, move.decision)


APPROVED = (executed(), judged(True, True), ended_by(ALONE))


def test_verdicts_that_carry_over() -> None:
    before = (*APPROVED, wondered(), reflected(TWO))
    given = judged(True, True)
    carried = evaluated(*(replace(v, method=Method.CARRIED) for v in given.verdicts))  # type: ignore[union-attr]
    carried = replace(carried, seconds=0.0)
    assert said_of(carried, *before) == []
    other = replace(carried, score=0.5)
    said = "the verdicts are not those of the generation before, which carry over"
    assert said_of(other, *before) == [said]
    (due,) = said_of(executed(), *before)
    assert due.startswith("this event is execute's, but the verdicts were to be carried over")


def test_lines_changed_are_counted_up() -> None:
    assert said_of(replace(executed(), added=-1)) == ["fewer than no lines changed"]


def test_a_decision_out_of_turn_and_one_that_is_long() -> None:
    assert said_of(APPROVED[-1]) == ["a decision, but execute was due"]
    long = replace(APPROVED[-1], reason="x" * 300)
    (said,) = said_of(long, *APPROVED[:2])
    assert said.startswith("the decision's reason is 'xxx")
    assert "…" in said


def test_failures() -> None:
    assert said_of(failed()) == []
    assert said_of(replace(failed(), kind="bored")) == ["'bored' is no kind of failure"]
    mistaken = "a failure that is to be retried, or one that is not, is taken for the other"
    assert said_of(failed(retry_at=None)) == [mistaken]
    assert said_of(replace(failed(), kind="auth")) == [mistaken]
    limited = replace(failed(), kind="rate_limited", attempt=0)
    assert said_of(limited) == said_of(replace(limited, retry_at=None)) == []


def test_what_stands_alone_stands_alone() -> None:
    assert said_of(created()) == ["it stands in a commit together with other events"]


def test_verdicts_and_their_numbers() -> None:
    def said(*given: Verdict, **more: object) -> list[str]:
        return list(verdicts.faults(TWO, replace(evaluated(*given), **more)))

    agent = [replace(verdict(f"ac{n}", True), method=Method.AGENT) for n in (1, 2)]
    assert said(*agent) == []
    assert said(*agent, seconds=-1.0) == ["checks that took less than no time"]
    low = replace(agent[0], score=0.7)
    assert said(low, agent[1]) == ["ac1 passes with a score of 0.7 (agent)"]
    high = replace(agent[0], passed=False, score=0.9)
    assert said(high, agent[1]) == ["ac1 does not pass with a score of 0.9 (agent)"]
    open_ = replace(agent[0], passed=False, score=0.5, method=Method.UNRESOLVED)
    assert said(open_, agent[1]) == ["ac1 does not pass with a score of 0.5 (unresolved)"]
    nothing = replace(evaluated(agent[0]), verdicts=(), score=0.0)
    assert [*verdicts.faults(TWO, nothing)] == ["verdicts on nothing; the criteria are ac1, ac2"]


def test_qa_scores_from_0_to_100() -> None:
    state = lineage(executed(), judged(True, True), policy=Policy())
    assert list(verdicts.qa_faults(state, replace(qa(90), score=190.0))) == ["QA's score is 190"]  # type: ignore[type-var]


def test_nothing_to_carry_over() -> None:
    state = lineage(*APPROVED)
    assert state.latest
    assert carried_qa(state.latest, Policy()) is None


# --- seeds


def test_a_reflection_says_what_it_changes() -> None:
    state = lineage(*APPROVED, wondered())
    honest = reflected(TWO)
    assert list(contract.faults(state, honest)) == []  # type: ignore[arg-type]
    fields = (*TWO.ontology_schema.fields[:1],)
    secret = replace(honest, seed=TWO.with_ontology(fields))
    said = "the new seed is not the one before with the changes that are listed"
    assert list(contract.faults(state, secret)) == [said]  # type: ignore[arg-type]


def test_changes_applied() -> None:
    fields = TWO.ontology_schema.fields
    done = mutated(
        fields, [Mutation(action="remove", name="name"), Mutation(action="add", name="x")]
    )
    assert [f.name for f in done] == ["greeting", "x"]
    first = revised(None, CriterionChange(action="add", id="ac3", description="new"), 4)
    assert (first.added_in, first.description) == (4, "new")


# --- trailers


def test_trailers_come_back() -> None:
    events = log_of(*APPROVED).events
    assert trailers_in(message(events[-1:])) == trailers(events[-1:])
    assert trailers_in("subject\n\nOuro-Action: x\n\nthe end") == []
    amended = begun().then(executed(tree="t1"), code="t1", text="gen 1: mine")
    (said,) = amended.said()
    assert said.startswith("the message's trailers are none; not Ouro-Lineage: greet, ")


# --- jumps and forks


def lived() -> Story:
    story = begun().then(executed(tree="t1"), code="t1")
    return story.then(judged(True, True), ended_by(ALONE))


def forked(story: Story, **lies: object) -> Story:
    was = fold(story.log.events)
    assert was
    fact = LineageForked(
        source="greet",
        generation=len(was.generations),
        commit=story.commits[-1].id,
        seed=None,
        hidden=None,
        seed_sha256=was.seed_sha256,
    )
    return story.then(replace(fact, **lies))


def test_a_fork() -> None:
    assert forked(lived()).said() == []
    assert forked(lived()).verified().lineage_id == "greet_forked"
    other = forked(lived(), seed=replace(TWO, goal="x"), seed_sha256="1")
    assert other.said() == []


@pytest.mark.parametrize(
    ("lies", "said"),
    [
        ({"commit": "c1" * 20}, f"it says that it was forked at {'c1' * 20}"),
        ({"generation": 7}, "it was forked at generation 1, and says 7"),
        ({"hidden": "ab"}, "its checks are others, and no other seed was given"),
    ],
)
def test_a_fork_that_lies(lies: dict[str, object], said: str) -> None:
    assert forked(lived(), **lies).said() == [said]


def test_a_fork_in_the_middle_of_a_generation() -> None:
    assert forked(begun().then(executed(tree="t1"), code="t1")).said() == [
        "it was forked in the middle of a generation"
    ]


def test_a_log_moves_to_another_folder_by_a_fork_alone() -> None:
    story = lived()
    moved = story.commits[-1]
    folder = moved.logs[0]._replace(lineage="other")
    after = moved._replace(id="7" * 40, parents=(moved.id,), logs=(folder,))
    (said,) = story._replace(commits=(*story.commits, after)).said()
    assert said.startswith("no line is new")


def rewound(story: Story, to: int, **lies: object) -> Story:
    """Back to the log of the commit with the index `to`."""
    length = {0: 1, 1: 2, 2: 4}[to]
    before, target = story.log.events, story.log.events[:length]
    was, goes = fold(before), fold(target)
    assert was
    assert goes
    fact = jumps.jump(LineageRewound, was, story.commits[-1].id, goes, story.commits[to].id)
    log = extend(EMPTY_LOG, target)
    number = lies.pop("number", target[-1].generation)
    (event,) = seal_all((replace(fact, **lies),), log)
    return story.adding((replace(event, generation=number),), log=log, code=story.commits[to].code)  # type: ignore[arg-type]


def test_a_jump_has_the_number_of_the_generation_that_it_goes_to() -> None:
    story = lived().then(wondered())
    assert rewound(story, 2).said() == []
    assert rewound(story, 0).said() == []
    assert rewound(story, 0, number=5).said() == ["the jump is of generation 5, not 0"]


def test_the_generations_after_a_jump_are_verified_too() -> None:
    story = rewound(lived().then(wondered()), 0)
    again = story.then(executed(tree="t1"), code="t1").then(wondered())
    assert again.said() == ["this event is wonder's, but evaluate was due"]


# --- trusting a beginning


def since(story: Story, start: int, commits: tuple[Commit, ...] | None = None) -> Verified:
    commits = commits or story.commits[start:]
    before, below = story.commits[start - 1], story.commits[:start]
    return verify(Plain(story.owner, before, commits, None, story.blobs, True, below))


def test_from_a_trusted_commit_on() -> None:
    story = rewound(lived().then(wondered()), 0)
    assert since(story, 4) == Verified(lineage_id="greet", commits=1, events=1, generations=0)
    assert since(story, 2).findings == ()


def test_a_jump_to_nowhere() -> None:
    story = rewound(lived().then(wondered()), 0, commit="c1" * 20)
    assert f"it goes to {'c1' * 20}, no commit of this branch" in story.said()[0]
    assert "no commit of this branch" in since(story, 4).findings[0].what
    bare = rewound(lived().then(wondered()), 0)
    below = (bare.commits[0]._replace(logs=()), *bare.commits[1:4])
    found = verify(Plain("greet", bare.commits[3], bare.commits[4:], None, bare.blobs, True, below))
    assert "no commit of this branch" in found.findings[0].what


def test_a_lineage_that_begins_on_anothers_log() -> None:
    story = lived()
    new = replace(created(), base=story.commits[-1].id)
    (event,) = seal_all((new,), lineage_id="second")
    lines = encode_lines([event])
    folder = Folder("second", PATH.replace("greet", "second"), (LogFile(ONE, "new"),))
    made = Commit("8" * 40, (story.commits[-1].id,), message([event]), "t1", (folder,))
    blobs = story.blobs | {"new": lines}
    found = verify(Plain("second", story.commits[-1], (made,), None, blobs, True))
    assert found == Verified(lineage_id="second", commits=1, events=1, generations=0)
    same = seal_all((new,))
    again = made._replace(
        message=message(same), logs=(Folder("greet", PATH, (LogFile(ONE, "b"),)),)
    )
    blobs = story.blobs | {"b": encode_lines(same)}
    found = verify(Plain("greet", story.commits[-1], (again,), None, blobs, True))
    assert "is changed" in found.findings[0].what


def test_a_range_that_begins_before_there_was_a_log() -> None:
    story = begun()
    found = verify(Plain("greet", BASE, story.commits, None, story.blobs, True))
    assert found.findings == ()


# --- tags


def test_a_tag_of_another_kind_is_noticed_and_no_fault() -> None:
    odd = TagRef("release", "t", lived().commits[-1].id, "hello")
    found = lived().verified((odd,))
    assert found.findings == ()
    assert found.notices[0] == "the tag ooo/greet/release is no tag that ouro makes"
    assert found.notices[1] == "tags of ooo/greet are missing: gen_1"


def test_an_archived_tag_is_annotated() -> None:
    story = rewound(lived().then(wondered()), 0)
    tag = TagRef("rewound_1/gen_1", "t", story.commits[2].id, None)
    found = story.verified((tag,)).findings
    assert [f.what for f in found] == ["the tag ooo/greet/rewound_1/gen_1 is no annotated tag"]
    assert story.verified((tag._replace(message="{}"),)).findings == ()


def test_a_tag_on_no_commit() -> None:
    found = lived().verified((TagRef("gen_1", "the blob", None, None),)).findings
    assert found[0].commit == "the blob"
