"""The seed for people: what is written is read again as the same seed."""

from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ouro.core.ontology import normalise
from ouro.core.seed import Checks, Criterion, Field, Ontology, Seed
from ouro.core.seed_file import parse_seed, render_seed

KNOWN = frozenset(Seed.__struct_fields__)

_chars = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
_any_char = st.one_of(_chars, st.sampled_from("\n\t :#-'\"\\|>&*!%@`{}[],?~\u2028\u2029\ufeff"))
_texts = st.one_of(
    st.text(_any_char, min_size=1, max_size=30),
    st.sampled_from(
        ["yes", "NULL", "1", "1.0", "a: b", "a #1", "- a", "a\n\n b\n", "\na", "a\nb "]
    ),
).filter(str.strip)
_blank_or_text = st.just("") | _texts
_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(_any_char, max_size=20)
)
_plain = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(_any_char, max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
_paths = st.sampled_from(["a.py", "src/b c.py", "ü/ñ", "yes", "1"])


@st.composite
def _checks(draw: st.DrawFn) -> Checks:
    command = draw(st.none() | _texts)
    return Checks(
        verify_command=command,
        expected_artifacts=tuple(draw(st.lists(_paths, max_size=2, unique=True))),
        output_assertion=draw(st.none() | _texts) if command else None,
        timeout=draw(st.none() | st.floats(0, 86_400, exclude_min=True)),
    )


@st.composite
def _seeds(draw: st.DrawFn) -> Seed:
    ids = draw(
        st.lists(st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,8}\Z"), min_size=1, unique=True)
    )
    names = draw(st.lists(_texts, max_size=4, unique_by=normalise))
    return Seed(
        goal=draw(_texts),
        acceptance_criteria=tuple(Criterion(i, draw(_texts), draw(_checks())) for i in ids),
        constraints=tuple(draw(st.lists(_texts, max_size=3))),
        ontology_schema=Ontology(
            draw(_blank_or_text),
            draw(_blank_or_text),
            tuple(Field(n, draw(_texts), draw(_blank_or_text), draw(st.booleans())) for n in names),
        ),
        evaluation_principles=draw(_plain),
        exit_conditions=draw(_plain),
        task_type=draw(st.none() | _texts),
        brownfield_context=draw(_plain),
        metadata=draw(_plain),
        extra=draw(
            st.dictionaries(
                st.text(_any_char, max_size=9).filter(lambda key: key not in KNOWN),
                _plain,
                max_size=3,
            )
        ),
    )


EXPECTED = """\
# Derived from the log for people. A change made here has no effect.
goal: 'Grüße: alle'
constraints:
  - schnell
  - 'no'
acceptance_criteria:
  - id: ac1
    description: |
      Zeile eins

        Zeile zwei
    verify_command: ls
    expected_artifacts:
      - a
      - b
    output_assertion: x
    timeout: 2.5
  - id: ac2
    description: hält
    hidden: true
  - id: ac3
    description: more
    verify_command: 'true'
    timeout: 60.0
    added_in: 2
    notes:
      - |-
        why
        not
      - so
ontology_schema:
  name: O
  description: ''
  fields:
    - name: größe
      field_type: int
      description: wie groß 😀
      required: true
metadata:
  list:
    - - 1
      - - 2.0
        - 1.0e+16
    - {}
    - - k: null
        l: []
  ok: true
'a key:': x
"""


@given(_seeds())
def test_what_is_written_is_read_as_the_same_seed(seed: Seed) -> None:
    data = render_seed(seed)
    again = parse_seed(data, "seed.yaml").seed
    assert again == seed
    assert render_seed(again) == data
    assert msgspec.json.decode(msgspec.json.encode(again), type=Seed) == seed


@given(_plain)
def test_other_readers_of_yaml_agree(value: Any) -> None:
    data = render_seed(Seed("g", (Criterion("a", "b"),), metadata=value))
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "CSafeLoader", raising=False)
        assert parse_seed(data, "seed.yaml").seed.metadata == value
    assert yaml.safe_load(data).get("metadata") == value


def test_the_text_itself() -> None:
    seed = Seed(
        "Grüße: alle",
        (
            Criterion("ac1", "Zeile eins\n\n  Zeile zwei\n", Checks("ls", ("a", "b"), "x", 2.5)),
            Criterion("ac2", "hält", hidden=True),
            Criterion("ac3", "more", Checks("true", timeout=60.0), False, 2, ("why\nnot", "so")),
        ),
        ("schnell", "no"),
        Ontology("O", "", (Field("größe", "int", "wie groß 😀"),)),
        metadata={"list": [[1, [2.0, 1e16]], {}, [{"k": None, "l": []}]], "ok": True},
        extra={"a key:": "x"},
    )
    assert render_seed(seed).decode() == EXPECTED


def test_what_a_generation_added_is_the_users_own_in_a_new_lineage() -> None:
    criterion = Criterion("ac1", "more", added_in=3, notes=("a", "b c"))
    again = parse_seed(render_seed(Seed("g", (criterion,))), "seed.yaml").seed
    assert again.acceptance_criteria == (replace(criterion, added_in=0, notes=()),)
