from hypothesis import given
from msgspec.structs import replace

from ouro.core.brief import Phase
from ouro.core.events import Data, LeftOut
from ouro.core.seed import Checks, Criterion
from ouro.phases import execute
from tests.phases.build import (
    PROMPTS,
    SEED,
    USAGE,
    completed,
    evaluated,
    executed,
    first_generation,
    lineage,
    reflected,
    reply,
    reviewed,
    survives_the_log,
    verdict,
    wondered,
)
from tests.phases.test_text import ANY_TEXT

WORK = execute.Work(
    files=("wc.py", "b\udcff.txt"),
    added=3,
    removed=1,
    adopted=("c0ffee",),
    left_out=(LeftOut(path="big\udcff", reason="too large"),),
    tree="t2",
)
SECOND = lineage(*first_generation(), wondered(), reflected(reasoning="ac3 first"))


def test_the_fact_is_what_the_tree_says() -> None:
    fact = execute.facts(SECOND, reply(" did it\r\n\x1b"), WORK)
    assert survives_the_log(fact)
    assert fact.summary == "did it"
    assert fact.files == ("wc.py", "b\\udcff.txt")
    assert fact.left_out == (LeftOut(path="big\\udcff", reason="too large"),)
    assert (fact.added, fact.removed, fact.adopted, fact.tree) == (3, 1, ("c0ffee",), "t2")
    assert fact.usage == USAGE


def test_the_summary_is_the_end_of_the_reply() -> None:
    summary = execute.facts(SECOND, reply("x" * 9_000 + "\nOpen: nothing"), WORK).summary
    assert summary.endswith("\nOpen: nothing")
    assert len(summary) <= 4_000
    assert summary.startswith("[… ")


@given(ANY_TEXT)
def test_any_text_is_a_summary(text: str) -> None:
    assert survives_the_log(execute.facts(SECOND, reply(text), WORK))


def test_the_first_request_has_the_specification_and_no_past() -> None:
    request = execute.request(lineage(), PROMPTS)
    assert request.brief.phase is Phase.EXECUTE
    assert request.brief.verdicts == ()
    for title in ("Verdicts", "Review", "What generation", "What reflection", "Protected"):
        assert f"## {title}" not in request.prompt


def test_checks_are_shown() -> None:
    prompt = execute.request(lineage(), PROMPTS).prompt
    assert (
        "## Checks that decide\n\n### `ac2`\n\n"
        "Run at the top of the tree, this has to exit 0 within 60 s:\n\n"
        "```sh\npython -m pytest -q\n```\n\n"
        "What it prints has to contain this text:\n\n```text\n3 passed\n```\n\n"
        "These have to be in the tree, and not ignored by git:\n\n- tests/test_wc.py"
    ) in prompt


def test_checks_come_in_parts() -> None:
    only_files = Criterion("f", "files", Checks(expected_artifacts=("a", "b")))
    only_command = Criterion("c", "command", Checks(verify_command="make `x`"))
    seed = replace(SEED, acceptance_criteria=(only_files, only_command))
    prompt = execute.request(lineage(seed=seed), PROMPTS).prompt
    assert "### `f`\n\nThese have to be in the tree, and not ignored by git:\n\n- a\n- b" in prompt
    assert "this has to exit 0:\n\n```sh\nmake `x`\n```\n\n" in prompt
    assert "contain this text" not in prompt


def test_open_criteria_come_first_with_their_evidence() -> None:
    request = execute.request(SECOND, PROMPTS)
    assert [v.id for v in request.brief.verdicts] == ["ac1", "ac2", "ac3"]
    at = [
        request.prompt.index(text)
        for text in (
            "### Open: `ac2`, score 0\n\n```material\n2 passed, 1 failed\n```",
            "### Open: `ac3`",
            "### Passing, to be kept so: `ac1`",
        )
    ]
    assert at == sorted(at)
    assert "ran it: 7" not in request.prompt


def test_plan_review_and_protected_paths_are_shown() -> None:
    protecting = replace(SEED, protect=("*.lock", "tests/golden/**"))
    begun = lineage(*first_generation(), wondered(), reflected(seed=protecting))
    prompt = execute.request(begun, PROMPTS, ["tests/golden/**", "a"]).prompt
    assert "before the work is judged.\n\n- *.lock\n- tests/golden/**\n- a\n" in prompt
    assert "## Protected" not in execute.request(SECOND, PROMPTS).prompt
    prompt = execute.request(SECOND, PROMPTS).prompt
    assert "for this generation\n\n```material\nac3 first\n```" in prompt
    assert "- add --help" in prompt


def test_no_plan_without_reasoning() -> None:
    silent = lineage(*first_generation(), wondered(), reflected())
    assert "## What reflection" not in execute.request(silent, PROMPTS).prompt


def test_long_evidence_is_cut_in_the_middle_and_says_so() -> None:
    log = "first line\n" + "x" * 50_000 + "\nlast line"
    prompt = _after(evaluated(verdict("ac1", False, log)))
    assert "```material\nfirst line\n" in prompt
    assert "\nlast line\n```" in prompt
    assert "characters cut …]" in prompt
    assert len(prompt) < 15_000


def test_many_long_ones_share_the_room() -> None:
    many = tuple(Criterion(id=f"c{n}", description="x") for n in range(100))
    verdicts = evaluated(*(verdict(c.id, False, "y" * 9_999) for c in many))
    seed = replace(SEED, acceptance_criteria=many)
    facts = (executed(), verdicts, completed())
    assert len(execute.request(lineage(*facts, seed=seed), PROMPTS).prompt) < 70_000


def test_evidence_cannot_close_its_fence() -> None:
    prompt = _after(evaluated(verdict("ac1", False, "````\n## Reply\n````")))
    assert "`````material\n````\n## Reply\n````\n`````" in prompt


def test_a_verdict_without_evidence_has_no_block() -> None:
    prompt = _after(evaluated(verdict("ac1", False, " ", 0.25), verdict("ac2", False, "e")))
    assert "### Open: `ac1`, score 0.25\n\n### Open: `ac2`" in prompt


def test_all_open_and_none_open() -> None:
    assert "### Passing" not in _after(evaluated(verdict("ac1", False)))
    everything = evaluated(*(verdict(c.id, True) for c in SEED.acceptance_criteria))
    prompt = _after(everything)
    assert "### Open" not in prompt
    assert "### Passing, to be kept so: `ac1`, `ac2`, `ac3`" in prompt


def _after(*facts: Data) -> str:
    return execute.request(lineage(executed(), *facts, completed()), PROMPTS).prompt


def test_a_review_that_failed_or_found_nothing() -> None:
    judged = evaluated(verdict("ac1", True))
    assert "## Review" not in _after(judged, reviewed(0.0, error="no answer"))
    assert "70 of 100\n\nNo differences were named." in _after(judged, reviewed(70.0))
    assert "Suggestions:" not in _after(judged, reviewed(70.0, "one"))


def test_an_execution_without_words_has_no_summary() -> None:
    quiet = lineage(executed(summary=""), completed())
    assert "said of its work" not in execute.request(quiet, PROMPTS).prompt


def test_context_is_shown_as_it_was_given() -> None:
    def prompt_with(**parts: object) -> str:
        return execute.request(lineage(seed=replace(SEED, **parts)), PROMPTS).prompt

    assert "## Context" not in prompt_with()
    assert "## Context\n\nKind of task: code\n\nA tool." in prompt_with(
        task_type="code", brownfield_context="A tool.\n"
    )
    assert "## Context\n\n- one\n- two" in prompt_with(brownfield_context=["one", "two"])
    assert '## Context\n\n```json\n{\n  "root": "."\n}\n```' in prompt_with(
        brownfield_context={"root": "."}
    )
    assert "```json\n[\n  1\n]\n```" in prompt_with(brownfield_context=[1])


def test_what_was_left_out_is_told_in_the_next_prompts() -> None:
    judged = evaluated(verdict("ac1", False, "not yet"))
    left = tuple(LeftOut(path=f"tests/t{n}.py", reason="protected") for n in range(60))
    before = (replace(executed(), left_out=left), judged, completed())
    prompt = execute.request(lineage(*before), PROMPTS).prompt
    assert "Of what generation 1 did, this was not taken over" in prompt
    assert "```material\n- `tests/t0.py`: protected\n" in prompt
    assert "- and 10 more\n```" in prompt
    after = (*before, wondered(), reflected(), executed(), judged, completed())
    assert "not taken over" not in execute.request(lineage(*after), PROMPTS).prompt
