"""Keys of `ouro.yaml` and the environment: what they may say, and the line where they do not."""

from pathlib import Path
from typing import Any

import pytest

from ouro.config import Caps, Settings, load
from ouro.errors import UsageProblem


def of_file(folder: Path, text: str) -> Settings:
    (folder / "ouro.yaml").write_text(text)
    return load(folder, {}, {}).settings


def of_environment(**variables: str) -> Settings:
    said = {f"OURO_{name.upper()}": text for name, text in variables.items()}
    return load(Path("/nowhere"), said, {}).settings


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("1", 1),
        ("1500", 1500),
        ("50MB", 50_000_000),
        ("50 mb", 50_000_000),
        ("1.5 GiB", 3 * 2**29),
        ("2KiB", 2048),
        ("7kB", 7000),
        ("1e3", 0),
        ("3MiB", 3 * 2**20),
        ("1GB", 10**9),
    ],
)
def test_sizes(tmp_path: Path, said: str, size: int) -> None:
    text = f"snapshot: {{file: {said}}}\n"
    if not size:
        with pytest.raises(UsageProblem):
            of_file(tmp_path, text)
        return
    assert of_file(tmp_path, text).snapshot == Caps(file=size)
    assert of_environment(snapshot=f'{{"total": "{said}"}}').snapshot == Caps(total=size)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("snapshot: 50MB", "snapshot cannot be '50MB': expected `object`, got `str`"),
        ("snapshot: {file: 50 apples}", "snapshot.file cannot be '50 apples'"),
        ("snapshot: {total: 0}", "snapshot.total cannot be 0"),
        ("snapshot: {total: -1}", "snapshot.total cannot be -1"),
        ("snapshot: {total: 0.2B}", "snapshot.total cannot be '0.2B'"),
        ("snapshot: {total: true}", "snapshot.total cannot be True"),
        ("snapshot: {total: }", "snapshot.total cannot be None"),
        ("snapshot: {size: 1MB}", "object contains unknown field `size`"),
        ("setup: npm ci", "setup cannot be 'npm ci': expected `array`, got `str`"),
        ("setup: [[a]]", "setup cannot be"),
        ("setup: ['']", "setup: '' is empty"),
        ("on_end: ' '", "on_end: '' is empty"),
        ("on_end: [a]", "on_end cannot be ['a']: expected `str | null`, got `array`"),
        ("copy: .env", "copy cannot be '.env': expected `array`, got `str`"),
        ("copy: [/etc/passwd]", "copy: '/etc/passwd' must lie inside the repository"),
        ("protect: {a: b}", "protect cannot be"),
        ("protect: [a/../../b]", "protect: 'a/../../b' must lie inside the repository"),
    ],
)
def test_what_cannot_be_is_refused_with_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        of_file(tmp_path, f"{text}\n")
    assert refused.value.message.startswith(f"{tmp_path / 'ouro.yaml'}: ")
    assert said in refused.value.message
    assert "\n" not in refused.value.message


def test_lists_of_the_environment_are_json(tmp_path: Path) -> None:
    found: Any = of_environment(setup='["a b"]', copy='[".env"]', protect='["*.lock"]')
    assert (found.setup, found.copy, found.protect) == (("a b",), (".env",), ("*.lock",))
    assert of_environment(on_end="[ -e x ] || true").on_end == "[ -e x ] || true"
    with pytest.raises(UsageProblem, match="environment: snapshot"):
        of_environment(snapshot="5")
    with pytest.raises(UsageProblem, match="OURO_SNAPSHOT: "):
        of_environment(snapshot="{file: 1}")
