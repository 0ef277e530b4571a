"""Which coding agents are here, from the table of presets."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from string import Template

from msgspec import Struct

from ouro.agents.presets import PRESETS, Preset, version_line
from ouro.app import templates
from ouro.config import FILE

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


def write_configuration(root: Path) -> tuple[Path, list[str]]:
    """Write a commented `ouro.yaml` at the repository's top, with the first client that is here;
    its path, and the names of the clients found. Raises UsageProblem where there is one already.
    """
    found = [preset.name for preset in PRESETS.values() if shutil.which(preset.program)]
    line = f"agent: {found[0]}" if found else "# agent: claude"
    path = root / FILE
    templates.write_new(path, Template(templates.text(FILE)).substitute(agent=line))
    return path, found


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
