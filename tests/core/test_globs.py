"""Globs of protected files: what a seed may say, and the line that says what is wrong."""

import pytest

from ouro.core.globs import fault
from ouro.core.seed_file import parse_seed
from ouro.errors import UsageProblem

SEED = "goal: g\nacceptance_criteria: [a]\n"


@pytest.mark.parametrize("glob", ["tests/**", "*.lock", "a b", "[ab]?", "x..y", "tests/", "ü"])
def test_what_is_a_glob(glob: str) -> None:
    assert fault(glob) is None


@pytest.mark.parametrize("glob", ["", " ", "/a", "~/a", "..", "a/../b", ":(top)a", ":!a", "a\0"])
def test_what_is_none(glob: str) -> None:
    assert fault(glob)


def test_a_seed_protects_files() -> None:
    parsed = parse_seed(f"{SEED}protect: ['*.lock', tests/**]\n".encode(), "seed.yaml")
    assert parsed.seed.protect == ("*.lock", "tests/**")
    assert parsed.warnings == ()
    assert parse_seed(f"{SEED}protect:\n".encode(), "seed.yaml").seed.protect == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("protect: tests/**", "seed.yaml:3: protect: must be a list, but is text"),
        ("protect:\n  - ok\n  - /tests", "seed.yaml:5: protect #2: must lie inside the repository"),
        ("protect: [{a: b}]", "seed.yaml:3: protect #1: "),
    ],
)
def test_a_seed_with_a_wrong_glob_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        parse_seed(f"{SEED}{text}\n".encode(), "seed.yaml")
    assert refused.value.message.startswith(said)
