"""Configuration: flag beats environment beats `ouro.yaml`; and the prompts, a user's own first."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ouro.core.brief import Phase
from ouro.core.globs import HINT, fault
from ouro.core.policy import KEYS, Sources, checked
from ouro.errors import UsageProblem

FILE = "ouro.yaml"
PREFIX = "OURO_"
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class Caps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most bytes of one new file, and of all new files of a generation."""

    file: int = 50 * 1000**2
    total: int = 500 * 1000**2


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is no policy: who works, how, where, and how long at most (seconds).

    `agents` names another agent for single phases, `agent_args` are words for the client's own
    command line, `patterns` expressions for the stderr of clients without a parser, by kind.
    `protect` are globs of files that stay as they are, `copy` of untracked ones that a new
    workspace gets, `setup` commands that make it ready; `snapshot` limits what a generation adds.
    `on_end` is a command that is run when a loop ends.
    `remote` names the remote that steps share their lineage over; it may be silent for
    `remote_limit`, and a machine that is silent for as long loses its turn.
    """

    agent: str | None = None
    agents: dict[Phase, str] = {}
    agent_args: tuple[str, ...] = ()
    model: str | None = None
    max_turns: int | None = None
    max_budget: float | None = None
    allow_everything: bool = False
    patterns: dict[str, list[str]] = {}
    protect: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    snapshot: Caps = Caps()
    on_end: str | None = None
    worktree_root: str | None = None
    remote: str | None = None
    remote_limit: float = 60.0
    idle_limit: float = 600.0
    wall_limit: float = 3600.0
    check_limit: float = 300.0


class Config(Struct, frozen=True, kw_only=True):
    settings: Settings
    policy: Sources


_SWITCHES = ("execute", "qa", "stop_on_pass", "freeze_ontology", "allow_everything")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,15})?) ?(|kB|MB|GB|KiB|MiB|GiB)", re.IGNORECASE | re.ASCII)
_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_GLOBS = ("protect", "copy")
SETTINGS: tuple[str, ...] = Settings.__struct_fields__


def load(root: Path, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Config:
    """The configuration for a repository whose top is `root`. `flags` holds those that were given.

    Raises UsageProblem that names the source and the key.
    """
    path = root / FILE
    from_file = _read_file(path) if path.is_file() else {}
    from_environment = _read_environment(environment)
    return Config(
        settings=_settings(from_file, from_environment, flags, str(path)),
        policy=Sources(
            flags=_policy_keys(flags, "command line"),
            environment=_policy_keys(from_environment, "environment"),
            file=_policy_keys(from_file, str(path)),
        ),
    )


def _policy_keys(said: Mapping[str, Any], source: str) -> dict[str, Any]:
    return {key: checked(key, said[key], source) for key in KEYS if key in said}


def _settings(
    from_file: Mapping[str, Any],
    from_environment: Mapping[str, Any],
    flags: Mapping[str, Any],
    path: str,
) -> Settings:
    values: dict[str, Any] = {}
    for source, said in ((path, from_file), ("environment", from_environment), ("flag", flags)):
        values |= {key: _setting(key, said[key], source) for key in SETTINGS if key in said}
    return Settings(**values)


def _setting(key: str, value: Any, source: str) -> Any:
    if key == "snapshot" and isinstance(value, dict):
        value = {
            name: _in_bytes(size, f"{source}: snapshot.{name}") for name, size in value.items()
        }
    try:
        found = getattr(msgspec.convert({key: value}, Settings), key)
    except msgspec.ValidationError as problem:
        said = str(problem).lower().partition(" - at ")[0]
        raise UsageProblem(f"{source}: {key} cannot be {value!r}: {said}") from problem
    if (
        isinstance(found, float | int)
        and not isinstance(found, bool)
        and not 0 < found < float("inf")
    ):
        raise UsageProblem(f"{source}: {key} is {found:g}, it must be above 0")
    for glob in found if key in _GLOBS else ():
        if wrong := fault(glob):
            raise UsageProblem(f"{source}: {key}: {glob!r} {wrong}", HINT)
    commands = {"setup": found, "on_end": [found]}.get(key, [])
    if not all(command is None or command.strip() for command in commands):
        raise UsageProblem(f"{source}: {key}: '' is empty", "write a command, or leave it out")
    return found


def _in_bytes(size: Any, where: str) -> int:
    """A number of bytes, or one with a unit such as 50MB."""
    fit = None if isinstance(size, bool) else _SIZE.fullmatch(str(size))
    found = int(float(fit[1]) * _UNITS[fit[2].lower()]) if fit else 0
    if found < 1:
        units = "kB, MB, GB, KiB, MiB or GiB"
        raise UsageProblem(f"{where} cannot be {size!r}", f"write bytes, or a number with {units}")
    return found


def _read_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """OURO_<KEY> for every key; other OURO_ variables are not configuration."""
    said = {key: environment.get(PREFIX + key.upper(), "") for key in (*KEYS, *SETTINGS)}
    return {key: _plain(key, text) for key, text in said.items() if text != ""}


def _plain(key: str, text: str) -> Any:
    """The value that a text in the environment means."""
    if key in ("agent", "worktree_root", "model", "on_end", "remote"):
        return text
    if text[:1] in ("[", "{"):
        return _json(key, text)
    word = text.strip().lower()
    if key in _SWITCHES and word in ("0", "1"):
        return word == "1"
    if word in _WORDS:
        return _WORDS[word]
    try:
        return float(word) if any(mark in word for mark in ".einf") else int(word)
    except ValueError:
        return text


def _json(key: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as problem:
        raise UsageProblem(f"{PREFIX}{key.upper()}: {problem}", "write it as JSON") from problem


def _read_file(path: Path) -> dict[str, Any]:
    from ouro.core.yaml_reader import read_yaml

    content = path.read_bytes()
    if not any(line.strip() and not line.strip().startswith(b"#") for line in content.splitlines()):
        return {}
    spot, _ = read_yaml(content, str(path))
    keys = spot.mapping("write it as key: value lines")
    for key, value in keys.items():
        if key not in KEYS and key not in SETTINGS:
            raise value.problem("is no key of ouro", _nearest(key))
    return {key: value.plain() for key, value in keys.items()}


def _nearest(key: str) -> str:
    from rapidfuzz import process

    found = process.extractOne(key, (*KEYS, *SETTINGS), score_cutoff=70)
    return f"did you mean {found[0]}?" if found else f"the keys are: {', '.join(KEYS + SETTINGS)}"


# --- prompts -----------------------------------------------------------------------------------

_SHIPPED = Path(__file__).with_name("prompts")


def load_prompts(root: Path) -> dict[str, str]:
    """Template name -> text, from the package and, where a file of that name is there,
    from `.ouro/prompts/` below `root`."""
    return {name: _prompt(root, name) for name in prompt_names()}


def prompt_names() -> list[str]:
    """The names of the templates, such as `wonder` and `personas/hacker`."""
    paths = sorted(_SHIPPED.rglob("*.md"))
    return [path.relative_to(_SHIPPED).with_suffix("").as_posix() for path in paths]


def _prompt(root: Path, name: str) -> str:
    own = root / ".ouro" / "prompts" / f"{name}.md"
    path = own if own.is_file() else _SHIPPED / f"{name}.md"
    return path.read_text("utf-8", "replace")
