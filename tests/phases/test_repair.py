from hypothesis import given

from ouro.phases import repair, wonder
from tests.phases.build import PROMPTS, first_generation, lineage
from tests.phases.test_text import ANY_TEXT

FAILED = wonder.request(lineage(*first_generation()), PROMPTS)


def test_the_prompt_is_the_old_one_and_what_was_wrong() -> None:
    again = repair.request(FAILED, "```json\n{}\n```", "the $problem\nwith $reply", PROMPTS)
    assert again.brief == FAILED.brief
    assert again.prompt.startswith(FAILED.prompt.rstrip())
    rest = again.prompt[len(FAILED.prompt) :]
    assert "could not be read: the $problem with $reply\n" in rest
    assert "````material\n```json\n{}\n```\n````" in rest
    assert rest.endswith(PROMPTS["reply/wonder"])


def test_a_long_reply_is_cut_in_the_middle() -> None:
    again = repair.request(FAILED, "head" + "x" * 99_999 + "tail", "no", PROMPTS)
    assert len(again.prompt) < len(FAILED.prompt) + 10_000
    assert "```material\nhead" in again.prompt
    assert "tail\n```" in again.prompt


@given(ANY_TEXT, ANY_TEXT)
def test_any_reply_can_be_shown(text: str, problem: str) -> None:
    assert repair.request(FAILED, text, problem, PROMPTS).prompt.encode()
