"""How long the processes that judge may take."""

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """Seconds: `call` for one function with all its calls, `tests` for one run of pytest."""

    call: float = 10.0
    tests: float = 300.0
