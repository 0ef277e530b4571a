"""Which coding agents are here, from the table of presets."""

from __future__ import annotations

import shutil
import subprocess

from msgspec import Struct

from ouro.agents.presets import PRESETS, Preset, version_line

PATIENCE = 20.0
"""Seconds for a client to say its version."""


class Client(Struct, frozen=True):
    """`path` None: not installed. `version` None: it did not say. `seen` is the version that its
    preset was measured with; `edits` False: it only answers."""

    name: str
    path: str | None
    version: str | None
    seen: str
    edits: bool


def survey() -> list[Client]:
    """Every client that has a preset, in the table's order."""
    return [_client(preset) for preset in PRESETS.values()]


def _client(preset: Preset) -> Client:
    path = shutil.which(preset.program)
    version = _version(preset) if path else None
    return Client(preset.name, path, version, preset.seen, preset.edits)


def _version(preset: Preset) -> str | None:
    try:
        done = subprocess.run(
            version_line(preset),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return lines[0][:80] if lines and done.returncode == 0 else None
