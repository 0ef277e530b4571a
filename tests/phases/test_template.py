from hypothesis import given
from hypothesis import strategies as st

from ouro.phases.template import fill


@given(st.text(), st.text())
def test_values_are_never_scanned_again(goal: str, notes: str) -> None:
    filled = fill("<$goal|$notes>", {"goal": goal + "$notes $$", "notes": notes + "${goal}"})
    assert filled == f"<{goal}$notes $$|{notes}${{goal}}>\n"


def test_what_names_no_value_stays() -> None:
    assert (
        fill("$unknown ${unknown} $HOME $5 $( $$ $", {}) == "$unknown ${unknown} $HOME $5 $( $ $\n"
    )


def test_a_line_with_an_empty_value_goes_with_its_blank_line() -> None:
    template = "first\n\n$empty\n\n${empty}\n$full\n\nin $empty line\n\n$empty"
    assert fill(template, {"empty": "", "full": "x\n\n\ny"}) == "first\n\nx\n\n\ny\n\nin  line\n"


def test_an_unknown_name_alone_on_its_line_stays() -> None:
    assert fill("$later\n\nend", {}) == "$later\n\nend\n"


def test_a_template_from_another_editor_serves_too() -> None:
    assert fill("a\r\n\r\n$empty\r\n\r\nb", {"empty": ""}) == "a\n\nb\n"
