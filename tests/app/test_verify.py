"""`ouro verify` end to end: a real lineage is clean, and no lie about it stays unfound."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ouro.app import verify
from ouro.core.events import LineageRestored, LineageRewound, Spent
from ouro.core.verify.history import Verified
from ouro.git.repository import Repo
from tests.app.forged import ID, Forger, Step, _joined, swapped
from tests.app.scripted import Project, added, git, mutations, questions, review, verdicts

ZEROS = "0" * 40
PROGRAM = (sys.executable, "-m", "ouro")


def grown(folder: Path) -> Project:
    """Four generations: a failure and a note in the second, another policy and a stagnation in the
    third, lateral thinking in the fourth; ac2 is reflect's."""
    project = Project(folder)
    project.write_seed(
        {"description": "It works", "verify_command": "test -e ok"}, constraints=["no network"]
    )
    agent = project.agent
    agent.on("wonder", questions("tone"))
    more = [{"action": "add", "description": "It is kind"}]
    agent.on("reflect", mutations())
    agent.on("reflect", mutations(added("tone"), criteria=more), gen=2)
    agent.on("execute", {"write": {"x": "1"}})
    agent.on("evaluate", verdicts(ac2=0.5))
    agent.on("qa", {"exit": 1}, review(55), gen=2)
    assert [one.code for one in project.steps(2)] == [3, 75]
    project.ouro("retry", ID)
    project.ouro("note", ID, "be kind")
    assert project.step().code == 3
    assert [one.code for one in project.steps(2, "--max-retries", "3")] == [4, 3]
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = grown(tmp_path_factory.mktemp("verify"))
    project.git("gc", "-q")  # one pack is quicker copied than a thousand objects
    return project


@pytest.fixture
def forger(project: Project, tmp_path: Path) -> Forger:
    """On a bare copy of the lineage's repository."""
    folder = tmp_path / "copy.git"
    # Links will do: git replaces files, and writes to none.
    shutil.copytree(project.root / ".git", folder, copy_function=os.link)
    git(folder, "config", "core.bare", "true")
    return Forger(folder)


def found(forger: Forger) -> Verified:
    return verify.one(Repo(forger.folder), ID)


# --- the honest one


def test_an_honest_lineage_is_verified(project: Project) -> None:
    done = project.ouro("verify")
    assert (done.code, done.err) == (0, "")
    events, commits = len(project.events()), len(Forger(project.root / ".git").steps)
    assert done.out == f"greet: {commits} commits, {events} events, 4 generations verified\n"
    assert project.ouro("verify", "--all").out == project.ouro("verify", ID).out == done.out
    (line,) = project.ouro("verify", "--json").out.splitlines()
    assert json.loads(line) == {
        "lineage_id": ID,
        "commits": commits,
        "events": events,
        "generations": 4,
        "findings": [],
        "notices": [],
        "unknown": None,
    }


def test_written_anew_without_a_lie_it_is_clean(forger: Forger) -> None:
    forger.write()
    assert (found(forger).findings, found(forger).notices) == ((), ())


# --- lies: what is done, what is said of it, and of which step and line


class Told(NamedTuple):
    """What has to be found: a part of the text, the step (None: any), and the log's line."""

    what: str
    step: int | None = None
    line: int | None = None


Lie = Callable[[Forger], Told]
LIES: dict[str, Lie] = {}


def lie(make: Lie) -> Lie:
    LIES[make.__name__] = make
    return make


def raw(forger: Forger, at: int, content: bytes) -> None:
    """From step `at` on the log begins with `content` in place of its own lines up to there."""
    before = len(_joined(forger.lines(at + 1)))
    for index in range(at, len(forger.steps)):
        whole = _joined(forger.lines(index + 1))
        forger.steps[index].log = {"000001.jsonl": content + whole[before:]}
    forger.write(tags=False)


@lie
def a_byte_of_an_old_line_changed(f: Forger) -> Told:
    at = f.at("note.added")
    raw(f, at, _joined(f.lines(at + 1)).replace(b"Greet people", b"Greet peoplf", 1))
    return Told("a line that was committed before is changed", at, 1)


@lie
def a_line_dropped(f: Forger) -> Told:
    at = f.at("policy.changed")
    lines = f.lines(at + 1)
    raw(f, at, _joined(lines[:3] + lines[4:]))
    return Told("a line that was committed before is changed", at, 4)


@lie
def two_lines_swapped(f: Forger) -> Told:
    at = f.at("policy.changed")
    raw(f, at, _joined(swapped(f.lines(at + 1), 4, 6)))
    return Told("a line that was committed before is changed", at, 5)


@lie
def a_line_twice(f: Forger) -> Told:
    at = f.at("note.added")
    lines = f.lines(at + 1)
    raw(f, at, _joined([*lines, lines[-1]]))
    return Told("seq is", at, len(lines) + 1)


@lie
def the_log_cut_without_a_jump(f: Forger) -> Told:
    f.steps.append(Step([], f.steps[-1].code, "mine", log={"000001.jsonl": _joined(f.lines(3))}))
    f.write(tags=False)
    return Told("are gone", len(f.steps) - 1, len(f.lines(3)) + 1)


@lie
def the_log_emptied(f: Forger) -> Told:
    f.steps.append(Step([], f.steps[-1].code, "mine", log={"000001.jsonl": b""}))
    f.write(tags=False)
    return Told("are gone", len(f.steps) - 1, 1)


@lie
def the_log_removed(f: Forger) -> Told:
    f.steps.append(Step([], f.steps[-1].code, "mine", log={}))
    f.write(tags=False)
    return Told("is gone", len(f.steps) - 1, 1)


@lie
def the_log_renamed(f: Forger) -> Told:
    f.steps.append(Step([], f.steps[-1].code, "mine", log={"000002.jsonl": _joined(f.lines())}))
    f.write(tags=False)
    return Told("000001.jsonl must be here", len(f.steps) - 1, 1)


@lie
def a_new_file_in_the_middle_of_a_generation(f: Forger) -> Told:
    at = f.at("note.added")
    before = _joined(f.lines(at))
    for index in range(at, len(f.steps)):
        rest = _joined(f.lines(index + 1))[len(before) :]
        f.steps[index].log = {"000001.jsonl": before, "000002.jsonl": rest}
    f.write(tags=False)
    return Told("a new file begins in the middle of a generation", at, 1)


@lie
def line_ends_converted(f: Forger) -> Told:
    at = f.at("note.added")
    raw(f, at, _joined(f.lines(at)) + f.lines(at + 1)[-1] + b"\r\n")
    return Told("a carriage return", at, len(f.lines(at + 1)))


@lie
def a_byte_order_mark(f: Forger) -> Told:
    f.steps[0].log = {"000001.jsonl": b"\xef\xbb\xbf" + _joined(f.lines(1))}
    f.write(tags=False)
    return Told("byte order mark", 0, 1)


@lie
def a_similarity_with_a_mended_chain(f: Forger) -> Told:
    at = f.change("evolve_step.completed", 1, lambda e: e["data"].update(similarity=0.99))
    f.write()
    line = f.line_of("evolve_step.completed", 1)
    return Told("the decision's similarity is 0.99, rule 1 gives 0.5", at, line)


@lie
def a_verdict_with_a_mended_chain(f: Forger) -> Told:
    def edit(event: dict[str, Any]) -> None:
        event["data"]["verdicts"][0].update(passed=True, score=1.0)
        event["data"]["score"] = 1.0

    at = f.change("evaluate.completed", 0, edit)
    f.write()
    return Told("the decision's reason is", at + 1, f.line_of("evolve_step.completed", 0))


@lie
def a_verdict_that_passes_below_the_mark(f: Forger) -> Told:
    def edit(event: dict[str, Any]) -> None:
        event["data"]["verdicts"][1].update(passed=True)

    at = f.change("evaluate.completed", 1, edit)
    f.write()
    return Told("ac2 passes with a score of 0.5", at, f.line_of("evaluate.completed", 1))


@lie
def a_check_outvoted_by_an_agent(f: Forger) -> Told:
    def edit(event: dict[str, Any]) -> None:
        event["data"]["verdicts"][0].update(method="agent")

    at = f.change("evaluate.completed", 1, edit)
    f.write()
    return Told("ac1 is judged by agent", at, f.line_of("evaluate.completed", 1))


@lie
def verdicts_carried_over_that_were_not(f: Forger) -> Told:
    def edit(event: dict[str, Any]) -> None:
        event["data"]["verdicts"][0].update(method="carried")

    at = f.change("evaluate.completed", 2, edit)
    f.write()
    return Told("ac1 is judged by carried", at, f.line_of("evaluate.completed", 2))


@lie
def a_verdict_left_out(f: Forger) -> Told:
    at = f.change("evaluate.completed", 1, lambda e: e["data"]["verdicts"].pop())
    f.write()
    return Told(
        "verdicts on ac1; the criteria are ac1, ac2", at, f.line_of("evaluate.completed", 1)
    )


@lie
def a_score_that_is_no_mean(f: Forger) -> Told:
    at = f.change("evaluate.completed", 1, lambda e: e["data"].update(score=0.9))
    f.write()
    return Told("the score is 0.9, the mean", at, f.line_of("evaluate.completed", 1))


@lie
def an_action(f: Forger) -> Told:
    edit = {"action": "converged", "next_generation": None}
    at = f.change("evolve_step.completed", 3, lambda e: e["data"].update(edit))
    f.write()
    line = f.line_of("evolve_step.completed", 3)
    return Told("the decision's action is 'converged', rule 1 gives 'continue'", at, line)


@lie
def a_delta(f: Forger) -> Told:
    at = f.change("evolve_step.completed", 1, lambda e: e["data"]["delta"].update(added=[]))
    f.write()
    return Told("the decision's delta is", at, f.line_of("evolve_step.completed", 1))


@lie
def an_event_by_hand(f: Forger) -> Told:
    at = f.at("note.added")
    made = json.loads(f.steps[f.at("wonder.completed")].lines[0]) | {"id": "by hand"}
    f.steps.insert(at, Step([json.dumps(made).encode()], f.steps[at - 1].code, None))
    f.mend()
    f.write()
    line = f.line_of("wonder.completed", 1)
    return Told("this event is wonder's, but qa was due", at, line)


@lie
def a_pause_cleared_that_was_none(f: Forger) -> Told:
    at = f.at("note.added") + 1
    made = json.loads(f.steps[f.at("pause.cleared")].lines[0]) | {"id": "by hand"}
    f.steps.insert(at, Step([json.dumps(made).encode()], f.steps[at - 1].code, None))
    f.mend()
    f.write()
    return Told("a pause is cleared where there was none", at, f.line_of("pause.cleared", 1))


@lie
def a_phase_left_out(f: Forger) -> Told:
    at = f.at("execute.completed", 1)
    del f.steps[at]
    f.mend()
    f.write()
    line = f.line_of("evaluate.completed", 1)
    return Told("this event is evaluate's, but execute was due", at, line)


@lie
def other_code(f: Forger) -> Told:
    at = f.at("execute.completed", 0)
    code = f.code()
    for step in f.steps[at:]:
        step.code = code
    f.write()
    return Told("the commit's code is not the tree", at, f.line_of("execute.completed", 0))


@lie
def code_changed_in_a_wonder_commit(f: Forger) -> Told:
    at = f.at("wonder.completed", 1)
    f.steps[at].code = f.code()
    f.write()
    return Told("the code is changed in a commit that executed nothing", at)


@lie
def trailers_amended(f: Forger) -> Told:
    at = f.at("evolve_step.completed", 3)
    step = f.steps[at]
    assert step.message
    step.message = step.message.replace("Ouro-Action: continue", "Ouro-Action: converged")
    f.write()
    return Told("the message's trailers are", at)


@lie
def parents_that_nobody_adopted(f: Forger) -> Told:
    at = f.at("execute.completed", 1)
    f.steps[at].adopted = [f.base]
    f.write()
    return Told("other parents than its events say", at)


@lie
def a_tag_moved(f: Forger) -> Told:
    f.tag("gen_2", f.ids[3], f.message_of("gen_2"))
    return Told("the tag ooo/greet/gen_2 does not name", 3)


@lie
def a_tag_on_another_tag(f: Forger) -> Told:
    f.point("refs/tags/ooo/greet/gen_2", f.target("gen_3"))
    return Told("the tag ooo/greet/gen_2 does not name", f.at("evolve_step.completed", 2))


@lie
def a_lightweight_tag(f: Forger) -> Told:
    at = f.at("evolve_step.completed", 1)
    f.point("refs/tags/ooo/greet/gen_2", f.ids[at])
    return Told("the tag ooo/greet/gen_2 is no annotated tag", at)


@lie
def a_tag_with_another_message(f: Forger) -> Told:
    at = f.at("evolve_step.completed", 1)
    f.tag("gen_2", f.ids[at], f.message_of("gen_2").replace('"continue"', '"converged"'))
    return Told("the tag ooo/greet/gen_2 says otherwise than the log: action", at)


@lie
def a_tag_with_a_message_of_its_own(f: Forger) -> Told:
    at = f.at("evolve_step.completed", 1)
    f.tag("gen_2", f.ids[at], "release!")
    return Told("the tag ooo/greet/gen_2 has another message", at)


@lie
def a_tag_of_a_generation_to_come(f: Forger) -> Told:
    f.tag("gen_9", f.ids[-1], f.message_of("gen_4"))
    return Told("gen_9 is of a generation that the log does not hold", len(f.ids) - 1)


@lie
def an_archived_tag_without_a_jump(f: Forger) -> Told:
    f.point("refs/tags/ooo/greet/rewound_7/gen_2", f.target("gen_2"))
    return Told("rewound_7/gen_2 is of a generation that no such jump left behind")


@lie
def the_branch_moved_back(f: Forger) -> Told:
    f.point(f.branch, f.ids[f.at("evolve_step.completed", 2)])
    return Told("gen_4 is of a generation that the log does not hold", len(f.ids) - 1)


@lie
def another_log_in_the_tree(f: Forger) -> Told:
    for step in f.steps[5:]:
        step.others = {"other": _joined(f.lines(1))}
    f.write()
    return Told("the tree holds the logs of several lineages: greet, other", 5)


@lie
def a_merge_that_brings_another_log(f: Forger) -> Told:
    theirs = _joined(f.lines(3)) + f.lines()[-1] + b"\n"
    merge = Step([], f.steps[-1].code, "merge", [f.ids[0]], log={"000001.jsonl": theirs})
    f.steps.append(merge)
    f.write(tags=False)
    return Told("is changed", len(f.steps) - 1, len(f.lines(3)) + 1)


@lie
def another_lineages_id(f: Forger) -> Told:
    at = f.change("note.added", 0, lambda e: e.update(lineage_id="other"))
    f.steps = f.steps[: at + 1]
    f.steps[at].message = "mine"
    raw(f, at, _joined(f.lines(at + 1)))
    return Told("a line of other in the log of greet", at, f.line_of("note.added"))


@lie
def another_folder(f: Forger) -> Told:
    for step in f.steps:
        step.folder = "other"
    f.write(tags=False)
    return Told("a line of greet in the folder of another", 0, 1)


@lie
def generation_numbers(f: Forger) -> Told:
    at = f.change("wonder.completed", 1, lambda e: e.update(generation=4))
    f.write()
    line = f.line_of("wonder.completed", 1)
    return Told("the event is of generation 4, 3 is under way", at, line)


@lie
def a_usage_below_zero(f: Forger) -> Told:
    at = f.change("wonder.completed", 1, lambda e: e["data"]["usage"].update(cost=-5.0))
    f.write()
    return Told("a usage below zero", at, f.line_of("wonder.completed", 1))


@lie
def a_persona_that_was_not_called_for(f: Forger) -> Told:
    at = f.change("lateral_think.applied", 0, lambda e: e["data"].update(persona="architect"))
    f.write()
    line = f.line_of("lateral_think.applied")
    return Told("architect (spinning) is not what the stagnation called for: hacker", at, line)


def seed_lie(f: Forger, what: str, edit: Callable[[dict[str, Any]], object]) -> Told:
    at = f.change("reflect.completed", 0, lambda e: edit(e["data"]["seed"]))
    f.write()
    return Told(what, at, f.line_of("reflect.completed", 0))


@lie
def a_criterion_of_the_users_dropped(f: Forger) -> Told:
    what = "ac1, a criterion of the user's, is gone from the new seed"
    return seed_lie(f, what, lambda seed: seed["acceptance_criteria"].pop(0))


@lie
def a_criterion_of_the_users_weakened(f: Forger) -> Told:
    def edit(seed: dict[str, Any]) -> None:
        seed["acceptance_criteria"][0]["checks"]["verify_command"] = "true"

    return seed_lie(f, "ac1, a criterion of the user's, is changed in the new seed", edit)


@lie
def another_goal(f: Forger) -> Told:
    return seed_lie(f, "the user's goal is changed", lambda seed: seed.update(goal="Rest"))


@lie
def another_constraint(f: Forger) -> Told:
    what = "the user's constraints are changed"
    return seed_lie(f, what, lambda seed: seed.update(constraints=["all is allowed"]))


@lie
def an_ontology_that_nobody_asked_for(f: Forger) -> Told:
    what = "the new seed is not the one before with the changes that are listed"
    return seed_lie(f, what, lambda seed: seed["ontology_schema"]["fields"].pop())


@lie
def a_revision_of_the_users_criterion(f: Forger) -> Told:
    change = {"action": "revise", "id": "ac1", "description": "It may work"}
    at = f.change("reflect.completed", 0, lambda e: e["data"]["criteria"].append(change))
    f.write()
    what = "it revises ac1, a criterion of the user's"
    return Told(what, at, f.line_of("reflect.completed", 0))


@lie
def a_qa_verdict_against_its_score(f: Forger) -> Told:
    at = f.change("qa.completed", 1, lambda e: e["data"].update(verdict="pass"))
    f.write()
    return Told("QA says pass at a score of 55", at, f.line_of("qa.completed", 1))


@lie
def a_qa_verdict_that_was_not_carried_over(f: Forger) -> Told:
    at = f.change("qa.completed", 1, lambda e: e["data"].update(carried=True))
    f.write()
    return Told("the QA verdict is not carried over", at, f.line_of("qa.completed", 1))


@lie
def a_failure_that_counts_wrong(f: Forger) -> Told:
    at = f.change("evolve_step.failed", 0, lambda e: e["data"].update(attempt=4))
    f.write()
    line = f.line_of("evolve_step.failed")
    return Told("it is failure number 1 in a row, not 4", at, line)


@lie
def a_failure_of_another_phase(f: Forger) -> Told:
    at = f.change("evolve_step.failed", 0, lambda e: e["data"].update(phase="wonder"))
    f.write()
    return Told("this event is wonder's, but qa was due", at, f.line_of("evolve_step.failed"))


@lie
def a_base_that_is_none(f: Forger) -> Told:
    f.change("lineage.created", 0, lambda e: e["data"].update(base="c0" * 20))
    f.write()
    return Told("its commit from another parent", 0, 1)


@lie
def a_fork_in_the_middle(f: Forger) -> Told:
    at = f.at("note.added")
    made = json.loads(f.steps[at].lines[0])
    data = {"source": ID, "generation": 1, "commit": f.ids[at - 1], "seed": None, "hidden": None}
    made |= {"lineage_id": "other", "type": "lineage.forked", "data": data | {"seed_sha256": "0"}}
    f.steps = f.steps[:at]
    f.steps.append(Step([json.dumps(made).encode()], f.steps[-1].code, None))
    f.mend()
    f.write(tags=False)
    return Told("a line of other in the folder of another", at, len(f.lines()))


# --- lies about jumps; the honest ones are below


def rewound(f: Forger, **lies: Any) -> int:
    f.write(tags=False)
    f.jump(LineageRewound, f.at("evolve_step.completed", 1), **lies)
    f.write(tags=False)
    return len(f.steps) - 1


NUMBERS = "its numbers are not those of the logs that it goes from and to"


@lie
def a_jump_with_a_wrong_number(f: Forger) -> Told:
    return Told(NUMBERS, rewound(f, n=3), jump_line(f))


@lie
def a_jump_that_gives_money_back(f: Forger) -> Told:
    return Told(NUMBERS, rewound(f, spent=Spent()), jump_line(f))


@lie
def a_jump_from_elsewhere(f: Forger) -> Told:
    return Told(NUMBERS, rewound(f, left=f.ids[3]), jump_line(f))


@lie
def a_jump_to_a_commit_that_is_none(f: Forger) -> Told:
    return Told("no commit of this branch", rewound(f, commit="c0" * 20), jump_line(f))


@lie
def a_jump_to_another_commit(f: Forger) -> Told:
    f.write(tags=False)
    at = rewound(f, commit=f.ids[f.at("evolve_step.completed", 0)])
    return Told("it stands in a commit together with other events", at, jump_line(f))


def jump_line(f: Forger) -> int:
    log = f.steps[-1].log
    assert log
    return log["000001.jsonl"].count(b"\n")


@lie
def a_jump_with_other_code(f: Forger) -> Told:
    f.write(tags=False)
    f.jump(LineageRewound, f.at("evolve_step.completed", 1)).code = f.code()
    f.write(tags=False)
    return Told("the code is not that of", len(f.steps) - 1, jump_line(f))


@lie
def a_jump_into_the_middle(f: Forger) -> Told:
    f.write(tags=False)
    f.jump(LineageRewound, f.at("wonder.completed", 1))
    f.write(tags=False)
    what = "it goes back into the middle of a generation"
    return Told(what, len(f.steps) - 1, jump_line(f))


@lie
def an_undo_without_a_jump(f: Forger) -> Told:
    f.write(tags=False)
    f.jump(LineageRestored, f.at("evolve_step.completed", 1))
    f.write(tags=False)
    what = "it does not go where the last jump left"
    return Told(what, len(f.steps) - 1, jump_line(f))


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_found(forger: Forger, name: str) -> None:
    ids = list(forger.ids)
    told = LIES[name](forger)
    result = found(forger)
    assert result.unknown is None
    matching = [f for f in result.findings if told.what in f.what]
    assert matching, result.findings
    finding = matching[0]
    if told.step is not None:
        commits = ids if name in UNWRITTEN else forger.ids
        assert finding.commit == commits[told.step]
    if told.line is not None:
        assert finding.line == told.line
        assert str(finding.file).startswith(".ouro/lineages/")


UNWRITTEN = {"the_branch_moved_back"}


# --- jumps that are honest


def test_honest_jumps_are_clean(forger: Forger) -> None:
    forger.write()
    left, third = len(forger.ids) - 1, forger.target("gen_3")
    forger.jump(LineageRewound, forger.at("evolve_step.completed", 1))
    forger.write(tags=False)
    said = [f.what for f in found(forger).findings]
    assert [text.split(" is ")[0] for text in said] == [
        "the tag ooo/greet/gen_3",
        "the tag ooo/greet/gen_4",
    ]
    for number in (3, 4):  # as a jump that is cut off leaves it, then as it should be
        forger.point(f"refs/tags/ooo/greet/rewound_1/gen_{number}", forger.target(f"gen_{number}"))
    assert found(forger).findings == ()
    assert "gen_3 is archived, and still there" in found(forger).notices[0]
    for number in (3, 4):
        forger.handle.references.delete(f"refs/tags/ooo/greet/gen_{number}")
    assert (found(forger).findings, found(forger).notices) == ((), ())
    forger.point("refs/tags/ooo/greet/rewound_1/gen_4", third)
    assert "rewound_1/gen_4 does not name" in found(forger).findings[0].what
    old, new = forger.ids[left], forger.ids[-1]
    assert verify.between(Repo(forger.folder), old, new).findings == ()
    assert verify.between(Repo(forger.folder), ZEROS, new).findings == ()


def test_rewind_undo_and_fork_are_clean(tmp_path: Path) -> None:
    project = Project(tmp_path / "jumps")
    project.agent.on("wonder", questions("tone"))

    def clean() -> None:
        done = project.ouro("verify", "--all")
        assert (done.code, done.err) == (0, ""), done

    project.agent.on("reflect", mutations(added("tone")), mutations(added("mood")))
    project.steps(3, "--no-execute")
    for words in (["rewind", "greet", "--to", "1"], ["undo", "greet"], ["undo", "greet"]):
        assert project.ouro(*words).code == 0
        clean()
    project.agent.on("reflect", mutations(added("time")))
    project.step()
    clean()
    assert project.ouro("undo", "greet").code == 0
    clean()
    assert project.ouro("fork", "greet", "other", "--at", "2").code == 0
    project.lineage = "other"
    project.step()
    clean()
    assert project.ouro("verify", "other").out.endswith("3 generations verified\n")


# --- ranges, clones, hooks


def test_a_range_trusts_where_it_begins(project: Project) -> None:
    done = project.ouro("verify", "ooo/greet/gen_3..ooo/greet")
    assert (done.code, done.err) == (0, "")
    assert done.out == "greet: 6 commits, 7 events, 1 generation verified\n"
    nothing = project.ouro("verify", "ooo/greet..ooo/greet")
    assert nothing.out == "greet: 0 commits, 0 events, 0 generations verified\n"
    everything = project.ouro("verify", f"{ZEROS}..ooo/greet")
    assert everything.out == project.ouro("verify", "main..ooo/greet").out
    assert "4 generations verified" in everything.out


def test_a_rewritten_history_is_a_finding(project: Project) -> None:
    done = project.ouro("verify", "ooo/greet..ooo/greet/gen_3")
    assert done.code == 1
    assert "history was rewritten" in done.out


def test_findings_are_lines_that_name_commit_file_and_line(
    project: Project, forger: Forger
) -> None:
    told = a_similarity_with_a_mended_chain(forger)
    assert told.step is not None
    done = project.ouro("verify", "greet", cwd=forger.folder)
    assert (done.code, done.err) == (1, "")
    (line,) = done.out.splitlines()
    where = f"{forger.ids[told.step][:12]} .ouro/lineages/greet/events/000001.jsonl:{told.line}: "
    assert line.startswith(where)
    (one,) = done_json(project, forger)["findings"]
    assert one["commit"] == forger.ids[told.step]


def done_json(project: Project, forger: Forger) -> dict[str, Any]:
    return project.ouro("verify", "greet", "--json", cwd=forger.folder).json


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nobody"], "lineages here: greet"),
        (["greet", "--all"], "give one of them"),
        (["..ooo/greet"], "no range"),
        (["a...b"], "no range"),
        (["nothing..ooo/greet"], "names no commit"),
        (["NO"], "cannot name a lineage"),
    ],
)
def test_what_cannot_be_meant(project: Project, words: list[str], said: str) -> None:
    project.ouro("verify", *words).refused(2, said)


def test_which_lineage(project: Project, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "empty")
    done = project.ouro("verify", cwd=tmp_path / "empty")
    done.refused(2, "there is no lineage here", "--all")
    assert project.ouro("verify", "--all", cwd=tmp_path / "empty").code == 0


def test_a_clone_has_no_branch_and_is_verified_from_its_remote(
    project: Project, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", str(project.root), "clone")
    clone = tmp_path / "clone"
    done = project.ouro("verify", "greet", cwd=clone)
    assert (done.code, done.out) == (0, project.ouro("verify").out)
    for tag in git(clone, "tag").split():
        git(clone, "tag", "-d", tag)
    done = project.ouro("verify", "greet", cwd=clone)
    assert done.code == 0
    assert "tags of ooo/greet are missing: gen_1, gen_2, gen_3, gen_4" in done.err
    git(clone, "update-ref", "refs/remotes/other/ooo/greet", "HEAD")
    project.ouro("verify", "greet", cwd=clone).refused(2, "several remotes hold greet")


def test_a_shallow_clone_cannot_be_verified(project: Project, tmp_path: Path) -> None:
    words = ("clone", "-q", "--depth=3", "--branch=ooo/greet", f"file://{project.root}")
    git(tmp_path, *words, "shallow")
    done = project.ouro("verify", "greet", cwd=tmp_path / "shallow")
    assert (done.code, done.out) == (75, "")
    assert "cannot verify: this clone is shallow" in done.err
    assert "git fetch --unshallow" in done.err
    done = project.ouro("verify", "ooo/greet~1..ooo/greet", cwd=tmp_path / "shallow")
    assert (done.code, done.out) == (0, "greet: 1 commit, 2 events, 1 generation verified\n")


def test_a_clone_without_the_blobs_cannot_be_verified(project: Project, tmp_path: Path) -> None:
    project.git("config", "uploadpack.allowFilter", "true")
    words = ("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{project.root}")
    git(tmp_path, *words, "partial")
    done = project.ouro("verify", "greet", cwd=tmp_path / "partial")
    assert (done.code, done.out) == (75, "")
    assert "cannot verify: the object" in done.err


def test_nothing_is_written(project: Project, forger: Forger) -> None:
    before = project.everything()
    assert project.ouro("verify", "--all").code == 0
    assert project.everything() == before
    paths = [forger.folder, *forger.folder.rglob("*")]
    for path in paths:
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        done = project.ouro("verify", cwd=forger.folder)
        assert (done.code, done.out) == (0, project.ouro("verify").out)
    finally:
        for path in paths:
            path.chmod(path.stat().st_mode | 0o200)


HOOK = """#!/bin/sh
while read -r old new ref; do
    case $ref in refs/heads/ooo/*) ;; *) continue ;; esac
    {program} verify "$old..$new" || exit 1
done
"""


@pytest.fixture
def server(forger: Forger, tmp_path: Path) -> Path:
    """A bare repository whose `pre-receive` verifies what is pushed, and that has nothing yet."""
    folder = tmp_path / "server.git"
    git(tmp_path, "init", "-q", "--bare", str(folder))
    hook = folder / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    program = f"PYTHONPATH={Path(__file__).parents[2]} {PROGRAM[0]} -m ouro"
    hook.write_text(HOOK.format(program=program))
    hook.chmod(0o755)
    git(forger.folder, "remote", "add", "server", str(folder))
    return folder


def push(forger: Forger, *words: str) -> str:
    done = subprocess.run(
        ["git", "push", *words], cwd=forger.folder, capture_output=True, text=True
    )
    return "" if done.returncode == 0 else done.stderr


def test_in_pre_receive_a_lie_does_not_get_in(forger: Forger, server: Path) -> None:
    half = forger.ids[forger.at("evolve_step.completed", 1)]
    assert push(forger, "server", f"{half}:refs/heads/ooo/greet") == ""
    assert push(forger, "server", "ooo/greet") == ""
    honest = list(forger.ids)
    forger.write()
    said = push(forger, "--force", "server", "ooo/greet")
    assert "history was rewritten" in said
    assert git(server, "rev-parse", "ooo/greet") == honest[-1]
    line = forger.line_of("evolve_step.completed", 3)
    an_action(forger)
    said = push(forger, "server", "ooo/greet:refs/heads/ooo/again")
    assert f"000001.jsonl:{line}: the decision's action is 'converged'" in said
    assert git(server, "for-each-ref", "--format=%(refname)") == "refs/heads/ooo/greet"
