"""Starts the child programs, and ends them with everything they started in their group."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from msgspec import Struct

from ouro.agents.offline.limits import Limits

_MOST = 16 * 1024 * 1024
"""Bytes of a child's report that are read; a longer one is cut and then says less."""
_STEERING = frozenset({"PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_CURRENT_TEST"})
"""Variables that would let a machine's settings decide a verdict."""


class Line(Struct, frozen=True):
    place: str
    kind: str
    text: str


class Outcome(Struct, frozen=True):
    """What a child reported; `late` if it was ended at its limit."""

    lines: tuple[Line, ...]
    late: bool


class Children(Struct, frozen=True):
    """Where children run, and how: in `workspace`, with `environment` and the run's mark."""

    workspace: Path
    environment: Mapping[str, str]
    mark: str
    limits: Limits

    def run(self, script: str, job: Mapping[str, Any], limit: float) -> Outcome:
        """Run one of this package's child programs. The nonce tells its lines from any others."""
        nonce = secrets.token_hex(16)
        program = Path(__file__).with_name(script)
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as found:
            given.write(json.dumps({"nonce": nonce, **job}).encode())
            given.seek(0)
            late = self._wait_for([sys.executable, "-P", str(program)], given, found, limit)
            found.seek(0)
            return Outcome(_lines(found.read(_MOST), nonce), late)

    def _wait_for(
        self, command: list[str], given: IO[bytes], found: IO[bytes], limit: float
    ) -> bool:
        process = subprocess.Popen(
            command,
            cwd=self.workspace,
            env=self._environment(),
            stdin=given,
            stdout=found,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            return True
        finally:
            _end_group(process)
        return False

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k, v in self.environment.items() if k not in _STEERING}
        return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "OURO_RUN": self.mark}


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Also after the child has ended by itself: what it started may have stayed."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _lines(output: bytes, nonce: str) -> tuple[Line, ...]:
    found = []
    for raw in output.split(b"\n"):
        words = raw.decode("ascii", "replace").split(" ")
        if len(words) == 4 and words[0] == nonce:
            text = bytes.fromhex(words[3]).decode("utf-8", "surrogatepass")
            found.append(Line(words[1], words[2], text))
    return tuple(found)
