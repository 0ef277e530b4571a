"""Commit messages: the history as `git log` tells it."""

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from ouro.core.events import (
    Action,
    CriterionChange,
    Data,
    Event,
    EvolveStepInterrupted,
    Method,
    Mutation,
    NoteAdded,
    PauseCleared,
    PolicyChanged,
    Question,
)
from ouro.core.policy import Given, Policy
from ouro.core.story import SUBJECT, counted, cut, headline, message, one_line
from tests.core.arbitrary import logs
from tests.core.builders import (
    EVERYTHING,
    TWO,
    completed,
    created,
    evaluated,
    executed,
    failed,
    judged,
    log_of,
    persona,
    qa,
    reflected,
    seal_all,
    verdict,
    wondered,
)


def events(*facts: Data) -> tuple[Event, ...]:
    return seal_all(facts, log_of())


CARRIED = evaluated(*(replace(verdict(f"ac{n}", True), method=Method.CARRIED) for n in (1, 2)))
THOUGHT = replace(
    reflected(TWO),
    mutations=(Mutation(action="add", name="tone"), Mutation(action="remove", name="a\nb")),
    criteria=(CriterionChange(action="note", id="ac1", description="x"),),
)


@pytest.mark.parametrize(
    ("fact", "wanted"),
    [
        (PolicyChanged(policy=Policy(), given=Given()), "policy changed"),
        (NoteAdded(text="be\n  kind "), "note: be kind"),
        (persona("hacker", "spinning"), "lateral thinking, hacker (spinning)"),
        (wondered(), "wonder, 0 questions"),
        (wondered(Question(question="Why?")), "wonder, 1 question"),
        (reflected(TWO), "reflect, no change"),
        (THOUGHT, "reflect, 2 mutations, 1 criterion change"),
        (replace(THOUGHT, mutations=()), "reflect, 1 criterion change"),
        (executed(), "execute, 1 file changed (+10 −2)"),
        (judged(True, False), "evaluate, 1/2 passed"),
        (CARRIED, "verdicts carried over, 2/2 passed"),
        (qa(92.3), "qa pass (92.3)"),
        (qa(55.0), "qa revise (55)"),
        (completed(), "continue"),
        (replace(completed(), similarity=0.9), "continue (similarity 0.9)"),
        (failed(), "execute failed, overloaded: too busy"),
        (EvolveStepInterrupted(phase="wonder", rescue=None), "wonder interrupted"),
        (PauseCleared(), "pause cleared"),
    ],
)
def test_one_event_in_a_few_words(fact: Data, wanted: str) -> None:
    (event,) = events(fact)
    assert headline(event) == wanted


def test_the_creation() -> None:
    assert message(log_of().events) == (
        "lineage greet created: Greet people\n\n"
        "Ouro-Lineage: greet\nOuro-Generation: 0\nOuro-Event: lineage.created\n"
    )


def test_a_phase_with_the_decision_in_one_commit() -> None:
    done = replace(completed(Action.STAGNATED), similarity=0.9047, reason="plateau: no progress")
    assert message(events(judged(True, False), done)) == (
        "gen 1: evaluate, 1/2 passed; stagnated (similarity 0.9047)\n\n"
        "- ac1: passed (check)\n- ac2: open (check)\n\n"
        "plateau: no progress\n\n"
        "Ouro-Lineage: greet\nOuro-Generation: 1\n"
        "Ouro-Event: evaluate.completed\nOuro-Event: evolve_step.completed\n"
        "Ouro-Action: stagnated\nOuro-Similarity: 0.9047\n"
    )


def test_generation_1_has_no_similarity() -> None:
    text = message(events(completed()))
    assert "Ouro-Action: continue\n" in text
    assert "Similarity" not in text


@pytest.mark.parametrize(
    ("fact", "body"),
    [
        (wondered(Question(question="Why\nnot?"), Question(question="How?")), "- Why not?\n- How?"),
        (THOUGHT, "- add tone\n- remove a b"),
        (executed(summary="  wrote it\n\nand more \n"), "wrote it\n\nand more"),
    ],
)
def test_bodies(fact: Data, body: str) -> None:
    assert message(events(fact)).split("\n\n", 1)[1].startswith(body + "\n\nOuro-Lineage: greet\n")


def test_long_texts_are_cut() -> None:
    text = message(events(NoteAdded(text="word " * 100), executed(summary="x" * 5000)))
    subject, body, _ = text.split("\n\n")
    assert len(subject) == SUBJECT
    assert subject.endswith(" word w…")
    assert body == "x" * 1999 + "…"


def test_what_an_agent_wrote_ends_no_message_and_drives_no_terminal() -> None:
    """libgit2 ends a message at NUL: the trailers would be gone."""
    summary = "a\0b\x1b[2Jc\td\re\x9b1mf\x7f"
    text = message(events(NoteAdded(text="x\0y\x1b[0m"), executed(summary=summary)))
    assert text.startswith("gen 1: note: xy[0m; execute")
    assert "\n\nab[2Jc\tde1mf\n\n" in text
    assert text.endswith("Ouro-Event: execute.completed\n")


def test_trailers_in_the_summary_stay_in_the_body() -> None:
    text = message(events(executed(summary="done\n\nOuro-Action: converged")))
    assert "Ouro-Action" not in text.rsplit("\n\n", 1)[1]


@settings(max_examples=50)
@given(logs(2))
def test_any_events_have_a_message(every: tuple[Event, ...]) -> None:
    text = message(every)
    assert text.isprintable() or set(text) & {"\n", "\t"}
    assert "\0" not in text
    assert f"Ouro-Generation: {every[-1].generation}\n" in text.rsplit("\n\n", 1)[1]
    assert len(text.split("\n")[0]) <= SUBJECT


def test_every_kind_is_in_the_trailers() -> None:
    text = message(seal_all([created(), *EVERYTHING]))
    assert text.count("\nOuro-Event: ") == len(EVERYTHING) + 1


def test_small_words() -> None:
    assert (counted(0, "file"), counted(1, "file"), counted(2, "file")) == (
        "0 files",
        "1 file",
        "2 files",
    )
    assert one_line(" a\u2028 b\n") == "a b"
    assert (cut("abc", 3), cut("abcd", 3), cut("a bcd", 3)) == ("abc", "ab…", "a…")
