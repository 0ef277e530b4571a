"""Secrets: found by name or by shape, masked everywhere, and ordinary text left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouro.core.secrets import MASK, Secrets, names_a_secret, secret_values

VALUE = "correct-horse-battery-staple"


@pytest.mark.parametrize("name", ["API_KEY", "github_token", "DB_PASSWORD", "MY_SECRET", "X_AUTH"])
def test_a_variable_whose_name_says_secret_is_masked(name: str) -> None:
    secrets = Secrets({name: VALUE})
    assert secrets.mask(f"key={VALUE}.") == f"key={MASK}."
    assert secrets.in_bytes(f"x = '{VALUE}'".encode())
    assert secrets.mask_bytes(VALUE.encode()) == MASK.encode()


@pytest.mark.parametrize(
    "environment",
    [
        {"PATH": VALUE},
        {"API_KEY": "short"},
        {"API_KEY": " " * 20},
        {"SSH_AUTH_SOCK": "/tmp/ssh-abcdefgh/agent.1234"},
        {"KEY_FILE": "~/very/long/path/to/a/key.pem"},
        {"API_KEY": "x" * 5000},
        {},
    ],
)
def test_what_is_no_secret_is_left_alone(environment: dict[str, str]) -> None:
    assert list(secret_values(environment)) == []
    text = "a path /tmp/ssh-abcdefgh/agent.1234, and task-sk-based words"
    assert Secrets(environment).mask(text) == text


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-" + "a1B2" * 10,
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a" * 22,
        "AKIA" + "A1B2" * 4,
        "AIza" + "a" * 35,
        "xoxb-1234567890-abc",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
    ],
)
def test_the_shape_of_a_well_known_key_is_enough(key: str) -> None:
    assert MASK in Secrets({}).mask(f"export K={key}")
    assert key not in Secrets({}).mask(f"export K={key}")


def test_of_two_values_the_longer_one_is_masked_whole() -> None:
    secrets = Secrets({"A_KEY": "0123456789abcdef", "B_KEY": "0123456789abcdef-and-more"})
    assert secrets.mask("0123456789abcdef-and-more") == MASK


@given(st.text(min_size=16, max_size=40).filter(lambda t: t.strip()), st.text(), st.text())
def test_no_value_survives_in_a_text(value: str, before: str, after: str) -> None:
    masked = Secrets({"TOKEN": value}).mask(before + value + after)
    for found in secret_values({"TOKEN": value}):
        assert found not in masked or found in MASK


@pytest.mark.parametrize("path", [".env", "a/.env.local", "id_ed25519", "x/key.pem", ".npmrc"])
def test_some_files_are_secret_by_their_name(path: str) -> None:
    assert names_a_secret(path)


@pytest.mark.parametrize(
    "path", [".env.example", "env", "id_rsa.pub", "pem", "a.pem/readme", ".envrc"]
)
def test_other_files_are_not(path: str) -> None:
    assert not names_a_secret(path)
