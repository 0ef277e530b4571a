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

# The shapes as their issuers document them; each begins with letters that ordinary text has not.
_SHAPES = (
    r"sk-[A-Za-z0-9_-]{20,}",
    r"gh[pousr]_[A-Za-z0-9]{36,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"xox[abprs]-[A-Za-z0-9-]{10,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,}",
    r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
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
        shapes = [rf"(?<![A-Za-z0-9]){shape}" for shape in _SHAPES]
        self._text = re.compile("|".join([*map(re.escape, values), *shapes]))
        self._bytes = re.compile(self._text.pattern.encode("utf-8", "surrogateescape"))

    def mask(self, text: str) -> str:
        return self._text.sub(MASK, text)

    def mask_bytes(self, content: bytes) -> bytes:
        return self._bytes.sub(MASK.encode(), content)

    def in_bytes(self, content: bytes) -> bool:
        return self._bytes.search(content) is not None


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
