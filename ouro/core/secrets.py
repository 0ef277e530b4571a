"""Secrets: what must not get into the log, the tree or a kept output, and the mask for it.

A secret is the value of an environment variable whose name says so, or a text in the shape of a
well-known kind of key. Both err on the side of masking: a masked word is a nuisance, a leaked key
is in the history for good.
"""

import re
from collections.abc import Iterable, Mapping

MASK = "[masked]"
SHORTEST = 16
"""Characters from which a variable's value counts: shorter ones occur in ordinary text."""

_NAMED = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)

# The shapes as their issuers document them: letters that ordinary text has not, and what follows.
_SHAPES = (
    ("sk-", r"[A-Za-z0-9_-]{20,}"),
    ("gh", r"[pousr]_[A-Za-z0-9]{36,}"),
    ("github_pat_", r"[A-Za-z0-9_]{22,}"),
    ("glpat-", r"[A-Za-z0-9_-]{20,}"),
    ("AKIA", r"[A-Z0-9]{16}"),
    ("ASIA", r"[A-Z0-9]{16}"),
    ("AIza", r"[A-Za-z0-9_-]{35}"),
    ("xox", r"[abprs]-[A-Za-z0-9-]{10,}"),
    ("hf_", r"[A-Za-z0-9]{30,}"),
    ("npm_", r"[A-Za-z0-9]{36}"),
    ("pypi-", r"[A-Za-z0-9_-]{50,}"),
    ("-----BEGIN ", r"(?:[A-Z]+ )*PRIVATE KEY-----"),
)
_SECRET_FILE = re.compile(
    r"\.env(\..*)?|\.netrc|\.npmrc|\.pypirc|id_(rsa|dsa|ecdsa|ed25519)|.*\.(pem|p12|pfx|keystore)"
)
_HARMLESS = (".example", ".sample", ".template", ".dist")
LONGEST = 4096
"""No value that is looked for is longer (characters)."""


class Secrets:
    """Finds and masks the secrets of one environment."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        values = sorted(set(secret_values(environment)), key=len, reverse=True)
        # One expression each, that begins with letters: those are found a hundred times faster
        # than the first of many alternatives.
        shapes = (f"{start}(?<![A-Za-z0-9]{start}){rest}" for start, rest in _SHAPES)
        expressions = [*map(re.escape, values), *shapes]
        self._text = [re.compile(one) for one in expressions]
        self._bytes = [re.compile(one.encode("utf-8", "surrogateescape")) for one in expressions]

    def mask(self, text: str) -> str:
        for expression in self._text:
            text = expression.sub(MASK, text)
        return text

    def mask_bytes(self, content: bytes) -> bytes:
        for expression in self._bytes:
            content = expression.sub(MASK.encode(), content)
        return content

    def in_bytes(self, content: bytes) -> bool:
        return any(expression.search(content) for expression in self._bytes)


def names_a_secret(path: str) -> bool:
    """Whether a file of that name is one that holds secrets by its nature."""
    name = path.rsplit("/", 1)[-1]
    return _SECRET_FILE.fullmatch(name) is not None and not name.endswith(_HARMLESS)


def secret_values(environment: Mapping[str, str]) -> Iterable[str]:
    """The values of variables whose name says that they are secret. A path is none."""
    for name, said in environment.items():
        value = said.strip()
        if _NAMED.search(name) and SHORTEST <= len(value) <= LONGEST and value[0] not in "/~.":
            yield value
