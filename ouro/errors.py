"""The one error class that people see, and the exit codes that scripts see."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of `ouro` and `ralph.sh`; the README's table has the same rows."""

    OK = 0
    ERROR = 1
    USAGE = 2
    CONTINUE = 3
    LATERAL = 4
    STAGNATED = 10
    EXHAUSTED = 11
    FAILED = 12
    MAX_CYCLES = 14
    STOPPED = 15
    NOT_NOW = 75
    HANGUP = 129
    INTERRUPTED = 130
    TERMINATED = 143


GO_ON = "what was committed is safe; put that right, and the same command goes on"
"""The hint where a disk, or git, refused to do what is usually done."""


class OuroError(Exception):
    """An expected failure: one line that says what and where, a hint that says what to do."""

    def __init__(self, message: str, hint: str = "", exit_code: Exit = Exit.ERROR) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


class UsageProblem(OuroError):
    """What was asked for cannot be meant: refused before any effect."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, Exit.USAGE)


class DamagedLog(OuroError):
    """The log's bytes are not what ouro writes; nothing is repaired silently."""


class NewerLog(OuroError):
    """The log holds something that this version of ouro does not know."""


class ConcurrentAppend(OuroError):
    """The lineage moved on between the read and the append."""


class NotNow(OuroError):
    """Try again later: busy, or a retry time that has not come."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, Exit.NOT_NOW)


class Overtaken(NotNow):
    """Another machine works on the lineage now: what is done here from now on would be lost."""


class NeedsPerson(OuroError):
    """Failed for good: only a person can put it right."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, Exit.FAILED)
