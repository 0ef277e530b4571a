"""Real coding agents for the tests: pinned, installed once into a cache, run in an empty home.

They ask the tests' own server (`model_server`) and nothing else: keys are dummies, and whatever
they would call beside the model is switched off.
"""

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest
from filelock import FileLock
from msgspec import Struct

from ouro.agents.parsers import Parsed, read_reply
from ouro.agents.presets import PRESETS, Choice, Preset, command_line, environment_for
from ouro.agents.process import Cause, Job, Limits, Watch, child_environment, run
from ouro.core.brief import Phase
from tests.agents.model_server import ModelServer
from tests.conftest import NOT_TESTED

# Read when the tests are collected: before the seal hides them.
_ENVIRONMENT = dict(os.environ)
_CACHE = Path(_ENVIRONMENT.get("OURO_TEST_CACHE") or tempfile.gettempdir())
_SYSTEM = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system(), "unknown")
_MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


class Package(Struct, frozen=True):
    """What npm installs, and where the program lies in it."""

    name: str
    package: str
    version: str
    program: str


_CLAUDE = f"@anthropic-ai/claude-code-{_SYSTEM}-{_MACHINE}"
PACKAGES = {
    "codex": Package("codex", "@openai/codex", "0.171.0", "node_modules/.bin/codex"),
    "claude": Package("claude", _CLAUDE, "2.1.197", f"node_modules/{_CLAUDE}/claude"),
}


@pytest.fixture(scope="session")
def codex() -> Path:
    """The program of the pinned codex."""
    return installed(PACKAGES["codex"])


@pytest.fixture(scope="session")
def claude() -> Path:
    """The program of the pinned claude."""
    return installed(PACKAGES["claude"])


def installed(package: Package) -> Path:
    """The program, installed on first use; several processes may ask at once. Skips, and says why,
    where it cannot be installed."""
    folder = _CACHE / f"ouro-test-clients-{package.version}" / package.name
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        not_tested(package, f"{folder.parent} cannot be made: {problem.strerror}")
    if folder.parent.stat().st_uid != os.getuid():
        pytest.fail(f"{folder.parent} belongs to somebody else; set OURO_TEST_CACHE", pytrace=False)
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / package.program).exists():
            _install(package, folder)
    return folder / package.program


def not_tested(package: Package, why: str) -> NoReturn:
    """Skip, in words that the summary of the tests repeats (`tests/conftest.py`)."""
    pytest.skip(f"{NOT_TESTED}: {package.name} ({why})")


def _install(package: Package, folder: Path) -> None:
    if shutil.which("npm") is None:
        not_tested(package, "npm is not installed here")
    with tempfile.TemporaryDirectory(dir=folder.parent) as partial:
        (Path(partial) / "package.json").write_text('{"private":true}')
        command = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund")
        retries = ("--fetch-retries=1", "--fetch-timeout=60000")
        what = f"{package.package}@{package.version}"
        done = subprocess.run(
            [*command, *retries, what],
            cwd=partial,
            env=_ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=280,
        )
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no word"])[0]
            not_tested(package, f"npm cannot install {what}: {said}")
        shutil.rmtree(folder, ignore_errors=True)
        # Whole or not at all: nobody finds half of it.
        (Path(partial) / "node_modules").rename(_made(folder) / "node_modules")


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


class Ran(Struct, frozen=True):
    """One run of a client: its line (with the preset's own program name), what came back."""

    line: tuple[str, ...]
    stdout: str
    stderr: str
    code: int
    cause: Cause
    parsed: Parsed


class Stand(Struct, frozen=True):
    """One client, the server that it asks, and folders of its own for everything it writes."""

    preset: Preset
    program: Path
    server: ModelServer
    folder: Path

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def run(
        self,
        prompt: str = "Do what the seed says.",
        *,
        phase: Phase = Phase.EXECUTE,
        choice: Choice | None = None,
        environment: Mapping[str, str] | None = None,
        seconds: float = 120,
    ) -> Ran:
        """Run the preset's line to its end, or for `seconds`."""
        for name in ("home", "tmp", "workspace"):
            (self.folder / name).mkdir(exist_ok=True)
        subprocess.run(["git", "init", "-q", self.workspace], check=True)
        self._configure()
        (self.folder / "prompt").write_text(prompt)
        choice = choice or Choice()
        extra = (*_EXTRA.get(self.preset.name, ()), *choice.extra)
        line = command_line(
            self.preset,
            phase,
            Choice(
                model=choice.model or _MODEL.get(self.preset.name),
                max_turns=choice.max_turns,
                max_budget=choice.max_budget,
                extra=tuple(word.replace("{url}", self.server.url) for word in extra),
                everything=choice.everything,
            ),
            prompt_file=str(self.folder / "prompt"),
        )
        mark = os.urandom(8).hex()
        own = {**self._environment(), **(environment or {})}
        job = Job(
            command=(str(self.program), *line[1:]),
            cwd=self.workspace,
            environment=child_environment(
                environment_for(self.preset, own), self.workspace, mark, phase=phase
            ),
            stdin=prompt.encode(),
            folder=self.folder / "output",
        )
        outcome = run(job, Limits(idle=seconds, wall=seconds), Watch())
        out, err = outcome.stdout, outcome.stderr
        parsed = read_reply(self.preset, out, err, outcome.code)
        return Ran(line, out, err, outcome.code, outcome.cause, parsed)

    def _environment(self) -> dict[str, str]:
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
        }
        for name, value in _ENVIRONMENTS.get(self.preset.name, {}).items():
            own[name] = value.replace("{url}", self.server.url)
        return own

    def _configure(self) -> None:
        for name, text in _FILES.get(self.preset.name, {}).items():
            path = self.folder / "home" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{url}", self.server.url))


def stand(name: str, program: Path, server: ModelServer, folder: Path) -> Stand:
    """A client of that preset, asking `server`, writing nowhere but in `folder`."""
    return Stand(PRESETS[name], program, server, folder)


# --- how each client is led to the server --------------------------------------------------------

_PROVIDER = (
    'model_providers.scripted={name="scripted",base_url="{url}/v1",env_key="SCRIPTED_KEY",'
    'wire_api="responses",request_max_retries=0,stream_max_retries=0}'
)
_EXTRA: Mapping[str, tuple[str, ...]] = {
    "codex": (
        *("--ephemeral", "--ignore-user-config", "--ignore-rules", "--disable", "plugins"),
        *("-c", _PROVIDER, "-c", "model_provider=scripted"),
    ),
    "qwen": ("--auth-type", "anthropic"),
}
_MODEL = {
    "aider": "anthropic/scripted",
    "copilot": "scripted",
    "gemini": "gemini-2.5-flash",
    "opencode": "scripted/scripted",
    "pi": "scripted/scripted",
    "qwen": "scripted",
}
_ENVIRONMENTS: Mapping[str, Mapping[str, str]] = {
    "aider": {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_API_BASE": "{url}"},
    "claude": {
        "ANTHROPIC_API_KEY": "dummy",
        "ANTHROPIC_BASE_URL": "{url}",
        "CLAUDE_CODE_MAX_RETRIES": "0",
    },
    "codex": {"SCRIPTED_KEY": "dummy"},
    "copilot": {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_PROVIDER_BASE_URL": "{url}",
        "COPILOT_PROVIDER_TYPE": "anthropic",
    },
    "gemini": {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": "{url}"},
    "opencode": {"OPENCODE_DISABLE_MODELS_FETCH": "true"},
    "pi": {"PI_OFFLINE": "1"},
    "qwen": {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": "{url}"},
}
_FILES: Mapping[str, Mapping[str, str]] = {
    "gemini": {
        ".gemini/settings.json": '{"security":{"auth":{"selectedType":"gemini-api-key"}},'
        '"privacy":{"usageStatisticsEnabled":false}}'
    },
    "opencode": {
        ".config/opencode/opencode.json": '{"share":"disabled","autoupdate":false,"provider":'
        '{"scripted":{"npm":"@ai-sdk/anthropic","name":"scripted","options":{"baseURL":"{url}/v1",'
        '"apiKey":"dummy"},"models":{"scripted":{"name":"scripted"}}}}}'
    },
    "pi": {
        ".pi/agent/models.json": '{"providers":{"scripted":{"baseUrl":"{url}",'
        '"api":"anthropic-messages","apiKey":"dummy","models":[{"id":"scripted","name":"scripted",'
        '"reasoning":false,"input":["text"],"contextWindow":100000,"maxTokens":8000,'
        '"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}'
    },
}


def client_words(name: str, server: ModelServer) -> tuple[tuple[str, ...], dict[str, str]]:
    """The words and variables that lead a client to `server`, for whoever starts it by itself."""
    words = tuple(word.replace("{url}", server.url) for word in _EXTRA.get(name, ()))
    given = _ENVIRONMENTS.get(name, {}).items()
    return words, {key: value.replace("{url}", server.url) for key, value in given}
