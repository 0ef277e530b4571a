"""Seeds that are read, and many that are refused: each in one line with file, line and key."""

from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouro.core.seed import Checks, Criterion, Field, Ontology, Seed
from ouro.core.seed_file import ParsedSeed, parse_seed, render_seed
from ouro.errors import OuroError
from tests.core.refused_seeds import CRITERIA, GOAL, REFUSED, SMALL, criterion, ontology

NAME = "my seed.yaml"
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


def read(text: str) -> ParsedSeed:
    return parse_seed(text.encode(), NAME)


def refusal(text: str) -> OuroError:
    with pytest.raises(OuroError) as caught:
        read(text)
    return caught.value


@pytest.mark.parametrize(("text", "line", "path", "part"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_in_one_line_with_file_line_and_key(
    text: str, line: int, path: str, part: str
) -> None:
    error = refusal(text)
    start = f"{NAME}:{line}: " + (f"{path}: " if path else "")
    assert error.message.startswith(start)
    assert part in error.message
    assert len(error.message.splitlines()) == 1
    assert len(error.hint.splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (f"goal: yes\n{CRITERIA}", 'write it in quotes: "yes"'),
        (f"goall: x\n{CRITERIA}", "did you mean this by goall?"),
        (CRITERIA, "add `goal: …`"),
        (f"{GOAL}acceptance_criteria:\n  - prints: x\n", 'if "prints: …" is meant as text'),
        (f"{GOAL}acceptance_criteria:\n  - id: x\n", "say what must be true"),
        (f"{GOAL}acceptance_criteria:\n\t- x\n", "indent with spaces"),
    ],
)
def test_the_hint_says_what_to_do(text: str, hint: str) -> None:
    assert hint in refusal(text).hint


def test_the_smallest_seed() -> None:
    parsed = read(SMALL)
    assert parsed.seed == Seed("Greet people", (Criterion("ac1", "It greets"),))
    assert parsed.hidden == {}
    assert parsed.sha256 == sha256(SMALL.encode()).hexdigest()
    assert parsed.warnings == ()


def test_keys_without_a_value_are_as_good_as_absent() -> None:
    bare = "constraints:\ntask_type:\nontology_schema:\nmetadata:\n"
    assert read(SMALL + bare).seed == read(SMALL).seed
    inner = criterion("id:", "hidden:", "timeout:", "expected_artifacts:", "verify_command:")
    assert read(inner).seed == read(SMALL).seed
    assert read(ontology("name:", "description:", "fields:")).seed == read(SMALL).seed


def test_every_key_is_read() -> None:
    text = SMALL + (
        "constraints: [quick, 'on']\n"
        "task_type: code\n"
        "evaluation_principles: [{name: clear, weight: 0.5}]\n"
        "exit_conditions: {all: true}\n"
        "brownfield_context: none yet\n"
        "metadata: {made: 2026-11-30, at: 2026-11-30 18:00:00, n: -3, clock: 12:30, hex: 0x1f}\n"
    )
    seed = read(text).seed
    assert seed.constraints == ("quick", "on")
    assert seed.task_type == "code"
    assert seed.evaluation_principles == [{"name": "clear", "weight": 0.5}]
    assert seed.exit_conditions == {"all": True}
    assert seed.brownfield_context == "none yet"
    assert seed.metadata == {
        "made": "2026-11-30",
        "at": "2026-11-30 18:00:00",
        "n": -3,
        "clock": "12:30",
        "hex": "0x1f",
    }


def test_ontology_fields_with_the_alias_and_the_defaults() -> None:
    parsed = read(
        ontology(
            "name: Shop",
            'description: ""',
            "fields:",
            "  - {name: a, type: int, description: first, required: no}",
            "  - {name: b, field_type: text}",
            "  - name: c",
        )
    )
    fields = (Field("a", "int", "first", required=False), Field("b", "text"), Field("c"))
    assert parsed.seed.ontology_schema == Ontology("Shop", "", fields)


def test_checks_stay_with_criteria_that_are_not_hidden() -> None:
    parsed = read(
        criterion(
            "verify_command: python3 x.py",
            "expected_artifacts: [./a//b.py, a/b.py, c/]",
            "output_assertion: 'ok'",
            "timeout: 5",
        )
    )
    checks = Checks("python3 x.py", ("a/b.py", "c"), "ok", 5.0)
    assert parsed.seed.acceptance_criteria == (Criterion("ac1", "It greets", checks),)
    assert parsed.hidden == {}


def test_hidden_checks_are_apart_from_the_seed() -> None:
    parsed = read(criterion("expected_artifacts: secret.py", "hidden: true") + "  - other\n")
    assert parsed.seed.acceptance_criteria == (
        Criterion("ac1", "It greets", hidden=True),
        Criterion("ac2", "other"),
    )
    assert parsed.hidden == {"ac1": Checks(expected_artifacts=("secret.py",))}
    assert b"secret" not in msgspec.json.encode(parsed.seed)


@pytest.mark.parametrize(
    ("explicit", "ids"),
    [
        ([None, None, None], ["ac1", "ac2", "ac3"]),
        (["x", None, None], ["x", "ac2", "ac3"]),
        (["ac2", None, None], ["ac2", "ac3", "ac4"]),
        ([None, None, "ac2"], ["ac1", "ac3", "ac2"]),
        ([None, "ac1", None], ["ac2", "ac1", "ac3"]),
    ],
)
def test_missing_ids_follow_the_position_and_never_clash(
    explicit: list[str | None], ids: list[str]
) -> None:
    entries = [f"{{description: d, id: {i}}}" if i else "d" for i in explicit]
    text = f"{GOAL}acceptance_criteria: [{', '.join(entries)}]\n"
    assert [c.id for c in read(text).seed.acceptance_criteria] == ids


def test_unknown_keys_are_kept_and_warned_about() -> None:
    parsed = read(f"{SMALL}ontology_shema: {{a: [1, null]}}\nteam: us\n")
    assert parsed.seed.extra == {"ontology_shema": {"a": [1, None]}, "team": "us"}
    assert parsed.warnings == (
        "line 4: ontology_shema: unknown key, kept as it is; did you mean ontology_schema?",
        "line 5: team: unknown key, kept as it is",
    )


def test_unknown_keys_further_down_are_dropped_and_warned_about() -> None:
    inner = read(criterion("verify_comand: x"))
    assert [warning.split("verify_comand: ") for warning in inner.warnings] == [
        ["line 4: acceptance_criteria #1.", "unknown key, dropped; did you mean verify_command?"]
    ]
    fields = read(ontology("colour: x", "fields: [{name: a, unit: m}]"))
    assert fields.warnings == (
        "line 5: ontology_schema.colour: unknown key, dropped",
        "line 6: ontology_schema.fields #1.unit: unknown key, dropped",
    )


def test_checks_that_do_less_than_they_seem_to_are_warned_about() -> None:
    parsed = read(criterion("timeout: 3", "expected_artifacts: 'src/*.py'"))
    artifacts, timeout = parsed.warnings
    assert artifacts.startswith("line 5: acceptance_criteria #1.expected_artifacts: * and ? are")
    assert timeout == "line 4: acceptance_criteria #1.timeout: has no effect without verify_command"


def test_warnings_are_not_endless() -> None:
    parsed = read(SMALL + "".join(f"k{n}: 1\n" for n in range(50)))
    assert len(parsed.warnings) == 21
    assert parsed.warnings[-1] == "and 30 more warnings of this kind"


def test_text_that_looks_like_a_comment_is_warned_about() -> None:
    assert read(f"goal: Fix issue #12 and more\n{CRITERIA}").warnings == (
        'line 1: goal: the text ends before " #"; quotes would keep the rest',
    )


def test_the_name_of_the_file_cannot_break_the_line() -> None:
    with pytest.raises(OuroError) as caught:
        parse_seed(b"", "a\nb\x1b[2J.yaml")
    assert caught.value.message.startswith("a b [2J.yaml:1: ")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_read_without_a_warning(path: Path) -> None:
    parsed = parse_seed(path.read_bytes(), path.name)
    assert parsed.warnings == ()
    assert parsed.seed.ontology_schema.fields
    if not parsed.hidden:
        assert parse_seed(render_seed(parsed.seed), "again").seed == parsed.seed


def test_the_examples_are_there() -> None:
    assert {path.stem for path in EXAMPLES} >= {"dummy_seed", "checks_seed"}


_KEYS = "goal acceptance_criteria ontology_schema fields name id hidden verify_command timeout ac1"
_SIGNS = "yes 1 -1.5 1e400 .nan ~ &a *a !!str !x << ? | >- [ ] { } ' \" # %YAML --- ... \\ \\U0011"
_BLANKS = ["- ", ": ", ", ", "\n", "\n  ", "\n    ", "\t", " ", "\r", "\u2028", "\ufeff", "é", "😀"]
_words = st.sampled_from([*_KEYS.split(), *_SIGNS.split(), *_BLANKS])


def survives(data: bytes) -> None:
    """Reading ends in a seed that JSON carries unchanged, or in one clear line."""
    try:
        seed = parse_seed(data, NAME).seed
    except OuroError as error:
        message = error.message
    else:
        message = NAME
        assert msgspec.json.decode(msgspec.json.encode(seed), type=Seed) == seed
    assert message.startswith(NAME)
    assert len(message.splitlines()) == 1


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    survives(data)


@given(st.lists(_words, max_size=40), st.sampled_from(["", SMALL, GOAL]))
def test_any_text_like_yaml_is_read_or_refused(words: list[str], start: str) -> None:
    survives((start + "".join(words)).encode())


@given(st.text(max_size=60), st.sampled_from(["metadata: ", 'metadata: "', "metadata: |\n  "]))
def test_any_text_as_a_value_is_read_or_refused(text: str, start: str) -> None:
    survives((SMALL + start + text).encode(errors="surrogatepass"))
