"""YAML that wants to be more than plain data, and files that want to be more than text."""

import subprocess
import sys
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ouro.core.yaml_reader import MAX_BYTES, read_yaml
from ouro.errors import OuroError
from tests.core.refused_seeds import REFUSED
from tests.core.test_seed_file import survives


def value(text: str) -> object:
    return read_yaml(text.encode(), "f.yaml")[0].plain()


def refusal(data: str | bytes) -> OuroError:
    with pytest.raises(OuroError) as caught:
        read_yaml(data.encode() if isinstance(data, str) else data, "f.yaml")
    return caught.value


@pytest.fixture(params=["c", "pure"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both of PyYAML's loaders; machines without libyaml have the pure one only."""
    if request.param == "pure":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    return str(request.param)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "a"),
        ("'1'", "1"),
        ("! 1", "1"),
        ("!!str 1", "1"),
        ("!!seq [1]", [1]),
        ("!!map {a: 1}", {"a": 1}),
        ("yes", True),
        ("OFF", False),
        ("y", "y"),
        ("~", None),
        ("[a,]", ["a"]),
        ("-0", 0),
        ("+12", 12),
        ("012", "012"),
        ("1_000", "1_000"),
        ("0x1f", "0x1f"),
        ("12:30:00", "12:30:00"),
        ("1e3", "1e3"),
        (".5", 0.5),
        ("1.", 1.0),
        ("-1.5e+3", -1500.0),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("2026-11-30", "2026-11-30"),
        ("=", "="),
        ('"\\u2028\\t"', "\u2028\t"),
        ("{'<<': 1}", {"<<": 1}),
        ("{&k a: 1, b: *k}", {"a": 1, "b": "a"}),
        ("[&a {x: [1]}, *a, &a 2, *a]", [{"x": [1]}, {"x": [1]}, 2, 2]),
        ("{? a : 1}", {"a": 1}),
        ("%YAML 1.1\n---\na", "a"),
        ("\ufeffa: b", {"a": "b"}),
        ("a: |\r\n  b\r\n  c\r\n", {"a": "b\nc\n"}),
        ("a: 1\rb: 2\r", {"a": 1, "b": 2}),
        ("'it''s 5 > 4'", "it's 5 > 4"),
    ],
)
@pytest.mark.usefixtures("loader")
def test_plain_data(text: str, expected: object) -> None:
    read = value(text)
    assert read == expected
    assert type(read) is type(expected)


@pytest.mark.parametrize(
    ("data", "start", "hint"),
    [
        (b"a: b\nc: \xff\n", "f.yaml:2: is not UTF-8: byte 0xff", "save it as UTF-8"),
        ("goal: x".encode("utf-16"), "f.yaml:1: is UTF-16, UTF-32 or binary", "save it as UTF-8"),
        ("goal: x".encode("utf-16-be"), "f.yaml:1: is UTF-16", "save it as UTF-8"),
        (b"\x7fELF\x01\x02", "f.yaml:1: holds '\\x7f'", "remove it"),
        (b"a: b\nc: \0\n", "f.yaml:2: holds '\\x00'", "remove it"),
        ("a: x\u2028y", "f.yaml:1: holds '\\u2028'", "escaped"),
        ("a: \ud800".encode(errors="surrogatepass"), "f.yaml:1: is not UTF-8", "UTF-8"),
        (b"%TAG ! tag:x,1:\n--- a", "f.yaml:1: holds '%TAG'", "tags are not used"),
        (b"a: [1.0e999]", "f.yaml:1: a #1: the number 1.0e999 is too long or large", "quotes"),
        (b"a: 1\n2: 3", "f.yaml:2: the key '2' is not text", 'write "2"'),
        (b"&a x: 1\n*a : 2", "f.yaml:2: *a stands where a key belongs", "quotes"),
        (b"? {a: b}\n: c", "f.yaml:1: a list or mapping stands where a key", "quotes"),
        (b"? " + b"k" * 201 + b"\n: c", "f.yaml:1: the key 'kkk", "colon"),
        (b"a: !!binary x", "f.yaml:1: a: the tag !!binary is not allowed", "remove the tag"),
        (b"a: !!set {}", "f.yaml:1: a: the tag !!set", "remove the tag"),
        (b'a: "\\q"', "f.yaml:1: is not valid YAML", "\\ begins an escape"),
        (b"a: @b", "f.yaml:1: is not valid YAML", "begins with @"),
        (b"a: *", "f.yaml:1: is not valid YAML", "begins with *"),
        (b"a: 'b", "f.yaml:1: is not valid YAML", "closing quote"),
        (b"a: b: c", "f.yaml:1: is not valid YAML", "in quotes"),
        (b"a: b\n c: d\n- e", "f.yaml:2: is not valid YAML", ""),
        (b"a:\n - b\n- c\n] d", "f.yaml:3: is not valid YAML", "check the indentation"),
        (b'"a": 1\n"a": 2', "f.yaml:2: the key a stands twice", "keep one"),
    ],
)
@pytest.mark.usefixtures("loader")
def test_refused(data: str | bytes, start: str, hint: str) -> None:
    error = refusal(data)
    assert error.message.startswith(start)
    assert hint in error.hint


@pytest.mark.parametrize("text", [r'"\ud800"', r'"\U00110000"', r'"\UFFFFFFFF"', r'"\0"'])
@pytest.mark.usefixtures("loader")
def test_escapes_of_what_is_no_text(text: str) -> None:
    assert refusal(f"a: {text}").message.startswith("f.yaml")


@pytest.mark.usefixtures("loader")
def test_a_version_of_5000_digits() -> None:
    assert "is not valid YAML" in refusal(f"%YAML 1.{'9' * 5000}\n--- a").message


@pytest.mark.parametrize(("text", "line", "path", "part"), REFUSED.values(), ids=REFUSED.keys())
def test_the_pure_loader_refuses_the_same_seeds(
    text: str, line: int, path: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ouro.core.seed_file import parse_seed

    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    with pytest.raises(OuroError) as caught:
        parse_seed(text.encode(), "s")
    assert caught.value.message.startswith(f"s:{line}: {path}")
    assert part in caught.value.message


@pytest.mark.usefixtures("loader")
def test_depth_has_an_edge() -> None:
    assert value("[" * 64 + "]" * 64)
    assert "nested deeper than 64 levels" in refusal("[" * 65 + "]" * 65).message
    assert "nested deeper than 64 levels" in refusal("- " * 65 + "a").message


def test_depth_counts_through_aliases() -> None:
    nest = f"a: &a {'[' * 40}{']' * 40}\n"
    assert value(f"{nest}b: {'[' * 23}*a{']' * 23}")
    error = refusal(f"{nest}b: {'[' * 24}*a{']' * 24}")
    assert "nested deeper than 64 levels, by an alias" in error.message


def test_aliases_of_long_text_are_counted_by_length() -> None:
    error = refusal(f"a: &a {'x' * 50_000}\nb: [*a, *a, *a, *a, *a]")
    assert error.message == "f.yaml:2: b #4: the aliases stand for too much data"


def test_an_alias_stands_in_the_line_where_it_is_used() -> None:
    top, _ = read_yaml(b"a: &a [1]\nb:\n  - *a\n", "f.yaml")
    assert top.mapping()["b"].items()[0].node.line == 3


def test_issue_numbers_are_remarked_on_and_comments_are_not() -> None:
    assert read_yaml(b"a: b #1\n", "f")[1] != ()
    assert read_yaml(b"a: b # 1\nc: 'd' #1\ne: f#1\n", "f")[1] == ()


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(20)
)
HOSTILE = {
    "ten-megabytes": "x" * 10_000_000,
    "alias-bomb": BOMB,
    "brackets": "[" * MAX_BYTES,
    "braces": "{" * MAX_BYTES,
    "dashes": "- " * (MAX_BYTES // 2),
    "questions": "? " * (MAX_BYTES // 2),
    "indented": "".join(" " * n + "a:\n" for n in range(1300)),
    "items": "-\n" * (MAX_BYTES // 2),
    "keys": "".join(f"k{n}: 1\n" for n in range(90_000)),
    "colons": "a:" * (MAX_BYTES // 2),
    "documents": "---\n" * (MAX_BYTES // 4),
    "tag-directives": "".join(f"%TAG !a{n}! b\n" for n in range(60_000)),
    "directives": "%A\n" * 300_000,
    "digits": "goal: " + "9" * 1_000_000,
    "decimals": "goal: 1." + "9" * 1_000_000,
    "long-tag": "goal: !" + "a" * 1_000_000,
    "blanks": " " * MAX_BYTES,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused_quickly(text: str) -> None:
    begun = time.process_time()
    error = refusal(text)
    # Well under a second; twice that where coverage traces every line.
    assert time.process_time() - begun < 2
    assert len(error.message) < 600


@given(st.text(alphabet="ab01-:?,[]{}#&*!|>'\"%@`\\ \n\t.~<=Uux", max_size=40))
def test_the_pure_loader_raises_nothing_else_either(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "CSafeLoader", raising=False)
        survives(text.encode())


def test_yaml_is_imported_only_to_read() -> None:
    code = "import sys, ouro.core.seed_file; sys.exit('yaml' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
