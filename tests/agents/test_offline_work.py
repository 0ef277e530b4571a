"""Whole seeds, written and judged by the agent itself."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouro.agents.offline import uncovered
from tests.agents.offline_support import HELLO, evaluate, execute, passed, seed_of, tree

COVERED = {
    "hello world": HELLO,
    "other names and quotes": (
        "There is a file named greeting.py with a function `salute` returning `Good day, {who}.`",
        "test_greeting.py holds two or more tests",
        "Running pytest succeeds",
    ),
    "one sentence for all": (
        (
            "wave.py has a function wave(person) that returns 'Bye, <person>...', and "
            "test_wave.py has exactly five tests for wave, and all tests pass"
        ),
    ),
    "an example beside the template": (
        "hello.py contains a function named greet that takes a name and returns “Hi {name}”.",
        "Calling greet('Ada') gives «Hi Ada»",
        "There are at least three tests in tests/test_hello.py",
        "The test suite passes",
    ),
    "only examples": (
        "The function shout is defined in src/loud.py",
        "shout('hey') returns 'hey!!!'",
        "shout('oh no') evaluates to 'oh no!!!'",
        "at least 2 tests for shout exist",
        "`python -m pytest` exits with code 0",
    ),
    "a constant": (
        "app/meta.py defines version() which returns the constant text '1.2.0'",
        "app/test_meta.py has three test functions",
        "pytest passes",
    ),
    "two parameters": (
        '`names.py` provides `join(first, last)`, which gives "{last}, {first}"',
        "join('Ada', 'Lovelace') returns 'Lovelace, Ada'",
        "test_names.py includes a test",
        "All tests pass",
    ),
    "two functions in one file": (
        "talk.py defines hello(name) which returns 'Hello {name}'.",
        "talk.py defines bye() which returns 'Bye'.",
        "test_talk.py has at least two tests for hello and at least three tests for bye",
        "tests pass",
    ),
    "exceptions to a template": (
        "hello.py has a function greet(name) returning 'Hello, {name}!'",
        "greet('') returns 'Hello, stranger!'",
        "greet() returns 'Hello, world!'",
        "test_hello.py has four tests, and all of them pass",
    ),
    "names that get in each other's way": (
        'string.py has a function format(text) that returns \'a "quoted" {text}: {"a": 1}\'',
        "my-tools.py has a function str(a) that returns '<{a}>'",
        "test_string.py has two tests and test_tools.py has two tests for str",
        "pytest is green",
    ),
    "files and texts": (
        "The project contains go.mod, main.go and config.json",
        "README.md mentions \"pip install\" and docs/usage.md has the line 'Usage'",
        "notes.txt contains exactly 'abc'",
        "An empty file named pkg/__init__.py exists",
    ),
    "tests of files alone": (
        "report.py exists",
        "test_report.py has at least 3 tests",
        "tests pass",
    ),
}


@pytest.mark.parametrize("criteria", COVERED.values(), ids=COVERED)
def test_a_covered_seed_is_written_and_passes(criteria: tuple[str, ...], tmp_path: Path) -> None:
    seed = seed_of(*criteria)
    assert uncovered(seed) == ()
    execute(seed, tmp_path)
    written = tree(tmp_path)
    verdicts = evaluate(seed, tmp_path)
    assert {n: e["evidence"] for n, e in verdicts.items() if not e["passed"]} == {}
    assert tree(tmp_path) == written, "judging leaves nothing behind"
    assert "Wrote:\n- nothing" in execute(seed, tmp_path)
    assert tree(tmp_path) == written


@pytest.mark.parametrize("criteria", COVERED.values(), ids=COVERED)
def test_nothing_passes_before_it_is_written(criteria: tuple[str, ...], tmp_path: Path) -> None:
    seed = seed_of(*(text for text in criteria if "pytest" not in text))
    assert passed(evaluate(seed, tmp_path)) == []


LETTERS = st.characters(exclude_characters="\\”", exclude_categories=["Cs"])


@settings(max_examples=15)
@given(before=st.text(LETTERS, max_size=12), after=st.text(LETTERS, max_size=12))
def test_whatever_the_text_covered_means_that_it_passes(before: str, after: str) -> None:
    """Texts that could be meant otherwise are not covered; all others come out to the letter."""
    seed = seed_of(f"a.py has a function f(who) that returns “{before}{{who}}{after}”")
    with tempfile.TemporaryDirectory() as folder:
        execute(seed, Path(folder))
        verdicts = evaluate(seed, Path(folder))
    assert passed(verdicts) == ([] if uncovered(seed) else ["ac1"])


UNLIKE = {
    "a command line tool in Go": (
        (
            "main.go exists",
            "`go build ./...` succeeds",
            "main.go has a function add(a, b) that returns 'x'",
            "Running `tool --version` prints 1.0",
            "main_test.go has at least three tests",
        ),
        ["ac1"],
    ),
    "a report": (
        (
            "report.md exists",
            "report.md mentions 'Findings'",
            "The report is at most two pages long",
            "report.md has a chapter for every customer",
        ),
        ["ac1", "ac2"],
    ),
    "a REST API": (
        (
            "service.py defines a function health() that returns 'ok'",
            "GET /users returns a list of users",
            "Requests without a token are answered with 401",
            "pytest passes",
        ),
        ["ac1", "ac4"],
    ),
    "a data model": (
        (
            "models.py defines a class User with the fields name and age",
            "User has at least two methods",
            "models.py exists",
            "Ages below zero are refused",
        ),
        ["ac3"],
    ),
    "a refactoring": (
        (
            "utils.py no longer contains `old_name`",
            "No function is longer than twenty lines",
            "Behaviour does not change",
            "All tests still pass",
            "CHANGES.md contains the line 'renamed old_name'",
        ),
        ["ac5"],
    ),
}


@pytest.mark.parametrize(("criteria", "met"), UNLIKE.values(), ids=UNLIKE)
def test_of_other_seeds_only_what_is_met_passes(
    criteria: tuple[str, ...], met: list[str], tmp_path: Path
) -> None:
    seed = seed_of(*criteria)
    rest = [c.id for c in seed.acceptance_criteria if c.id not in met]
    assert list(uncovered(seed)) == rest
    summary = execute(seed, tmp_path)
    verdicts = evaluate(seed, tmp_path)
    assert passed(verdicts) == met
    for name in rest:
        evidence = verdicts[name]["evidence"]
        unresolved = evidence.startswith("unresolved: no rule can establish this")
        assert unresolved or evidence == "main_test.go is not in the tree"
        assert f"- {name}: no rule writes this" in summary


def test_a_file_of_others_is_extended_and_not_rewritten(tmp_path: Path) -> None:
    module, tests = tmp_path / "hello.py", tmp_path / "test_hello.py"
    module.write_text("SIZE = 3\n\n\ndef other():\n    return SIZE\n")
    tests.write_text("from hello import other\n\n\ndef test_other():\n    assert other() == 3\n")
    before = module.read_text(), tests.read_text()
    seed = seed_of(HELLO[0], "test_hello.py has at least three tests for greet", "pytest passes")
    execute(seed, tmp_path)
    assert module.read_text().startswith(before[0])
    assert tests.read_text().startswith(before[1])
    assert passed(evaluate(seed, tmp_path)) == ["ac1", "ac2", "ac3"]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("hello.py", "def greet(name):\n    return 'Hi'\n"),
        ("hello.py", "this is no Python\n"),
        ("hello.py", "# \xff is no UTF-8\n"),
        ("test_hello.py", "def test_a(: broken\n"),
        ("notes.txt", "something else\n"),
        ("main.c", "int main;\n"),
    ],
)
def test_what_cannot_be_extended_safely_stays(path: str, content: str, tmp_path: Path) -> None:
    (tmp_path / path).write_text(content, encoding="latin-1")
    before = (tmp_path / path).read_bytes()
    seed = seed_of(*HELLO, "notes.txt contains exactly 'abc'", "main.c contains 'void'")
    summary = execute(seed, tmp_path)
    assert (tmp_path / path).read_bytes() == before
    assert f"- {path}: " in summary.partition("Left alone:")[2]


def test_nothing_is_written_outside(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "tree", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (workspace / "link").symlink_to(outside)
    (workspace / "hello.py").symlink_to(outside / "hello.py")
    (workspace / "round.txt").symlink_to("round.txt")
    (workspace / ".git").mkdir()
    (workspace / "inner").symlink_to(".git")
    seed = seed_of(
        *HELLO,
        "link/notes.txt exists",
        "../outside/a.txt exists",
        f"{outside}/b.txt exists",
        "inner/c.txt exists",
        ".git/d.txt exists",
        ".ouro/e.txt exists",
        "round.txt exists",
    )
    summary = execute(seed, workspace)
    assert list(outside.iterdir()) == []
    assert list((workspace / ".git").iterdir()) == []
    assert not (workspace / ".ouro").exists()
    assert "symbolic link" in summary
    assert passed(evaluate(seed, workspace)) == []


def test_a_place_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "hello.py").mkdir()
    (tmp_path / "docs").write_text("a file\n")
    seed = seed_of("hello.py exists", "docs/a.md exists")
    summary = execute(seed, tmp_path)
    assert "- hello.py: is there and is no regular file" in summary
    assert "- docs/a.md: cannot be written" in summary
    assert passed(evaluate(seed, tmp_path)) == []


CONTRADICTIONS = (
    ("hello.py has greet(name) that returns 'a'", "hello.py has greet(name) that returns 'b'"),
    ("hello.py has greet(name) that returns 'a {name}'", "greet('Ada') returns 'b Ada'"),
    ("hello.py has greet(name) that returns 'a'", "hello.py has greet(who) that returns 'a'"),
    ("hello.py exists", "greet('a') returns 'b'", "greet('b') returns 'c'"),
    ("f.txt contains exactly 'a'", "f.txt contains exactly 'b'"),
    ("a.py has f() that returns 'x'", "test_a.py has two tests", "test_a.py has three tests"),
)


@pytest.mark.parametrize("criteria", CONTRADICTIONS)
def test_contradictions_are_not_covered(criteria: tuple[str, ...], tmp_path: Path) -> None:
    seed = seed_of(*criteria)
    assert set(uncovered(seed)) >= {"ac2"}
    execute(seed, tmp_path)
    assert len(passed(evaluate(seed, tmp_path))) < len(criteria)
