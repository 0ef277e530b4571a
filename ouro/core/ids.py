"""Names: lineage ids, the refs that follow from them, and event ids."""

import re

from ouro.errors import UsageProblem

LINEAGE_RULE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
WINDOWS_DEVICES = frozenset(
    ["aux", "con", "nul", "prn"] + [f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)]
)
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def is_lineage_id(text: str) -> bool:
    return bool(LINEAGE_RULE.fullmatch(text)) and text not in WINDOWS_DEVICES


def check_lineage_id(text: str) -> str:
    """`text` itself, if it may name a lineage; raises UsageProblem with the rule otherwise."""
    if is_lineage_id(text):
        return text
    raise UsageProblem(
        f"{text!r} cannot name a lineage",
        "use 1 to 64 of a-z 0-9 _ -, beginning with a letter or digit, "
        "and no Windows device name (aux, con, nul, …)",
    )


def branch_ref(lineage_id: str) -> str:
    return f"refs/heads/ooo/{lineage_id}"


def tag_name(lineage_id: str, generation: int) -> str:
    return f"ooo/{lineage_id}/gen_{generation}"


def archived_name(lineage_id: str, jump: int, generation: int) -> str:
    """The tag of a generation that the jump with that number left behind."""
    return f"ooo/{lineage_id}/rewound_{jump}/gen_{generation}"


def hidden_ref(lineage_id: str) -> str:
    return f"refs/ouro/hidden/{lineage_id}"


def lease_ref(lineage_id: str) -> str:
    return f"refs/ouro/lease/{lineage_id}"


def rescue_prefix(lineage_id: str) -> str:
    return f"refs/ouro/rescue/{lineage_id}/"


def pins_prefix(lineage_id: str) -> str:
    return f"refs/ouro/pins/{lineage_id}/"


def event_id(milliseconds: int, entropy: bytes) -> str:
    """A ULID (26 characters): `milliseconds` since 1970 first, so that ids sort by time.

    `entropy` is 10 random bytes. The text form is that of the ULID specification
    (github.com/ulid/spec): 130 bits in Crockford's base 32, the upper two of them zero.
    """
    number = (milliseconds << 80) | int.from_bytes(entropy, "big")
    return "".join(_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))
