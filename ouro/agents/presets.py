"""What is known of the coding agents that people have: one table of data, one entry a client.

Flags move between versions: whatever changes, changes here. `parser` names how a reply is read (see
`ouro.agents.parsers`). A client that is missing needs one entry here, and a parser at most.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from ouro.core.brief import FailureKind, Phase
from ouro.errors import UsageProblem

PROMPT_FILE = "{prompt_file}"
PROMPT = "{prompt}"
LONGEST_ARGUMENT = 128 * 1024 - 1
"""Bytes: what Linux takes as one argument, without the byte that ends it."""


class Giving(StrEnum):
    """How the prompt reaches the client. Its stdin is closed after the prompt in any case."""

    STDIN = "stdin"
    FILE = "file"
    ARGUMENT = "argument"


class Exit(Struct, frozen=True):
    """What one of a client's own exit codes means."""

    kind: FailureKind
    meaning: str


class Preset(Struct, frozen=True, kw_only=True):
    """One client, started without a person at it.

    The command line is `program`, `words`, then `read`, `write` or `full` (what the phase may do),
    `model`, `max_turns`, `max_budget` where they are wanted and known, the user's own words and
    `last`. `full` None: `write` already allows everything. `environment` gives way to what the user
    has set. `seen` is the version that the entry was measured with. `silent`: it prints nothing
    until it is done, so that silence is no sign of a hang. `edits` False: it only answers.
    """

    name: str
    program: str
    seen: str
    words: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    full: tuple[str, ...] | None = None
    model: tuple[str, ...] = ()
    max_turns: tuple[str, ...] = ()
    max_budget: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    giving: Giving = Giving.STDIN
    environment: Mapping[str, str] = {}
    version: tuple[str, ...] = ("--version",)
    parser: str = "raw"
    exits: Mapping[int, Exit] = {}
    silent: bool = False
    edits: bool = True


NESTING_MARKERS = frozenset(
    """
    AI_AGENT
    CLAUDECODE CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_EXECPATH
    CLAUDE_CODE_SESSION_ID CLAUDE_CODE_SSE_PORT
    CODEX_CI CODEX_MANAGED_BY_NPM CODEX_MANAGED_PACKAGE_ROOT CODEX_SANDBOX
    CODEX_SANDBOX_NETWORK_DISABLED CODEX_SESSION_ID CODEX_THREAD_ID CODEX_TOOL_CALL_ID
    GEMINI_CLI QWEN_CODE OPENCODE OPENCODE_PID
    """.split()
)
"""Variables by which agents tell their children that they run inside an agent. A client that finds
one refuses to start or behaves otherwise, and ouro may well have been started by an agent."""

_NO_LOGIN = "no login, or an invalid key"
_HTTP = {
    # An HTTP status as an exit code: what is left of it in eight bits.
    400 % 256: Exit(FailureKind.AGENT_ERROR, "the request was refused (status 400)"),
    401 % 256: Exit(FailureKind.AUTH, f"{_NO_LOGIN} (status 401)"),
    403 % 256: Exit(FailureKind.AUTH, f"{_NO_LOGIN} (status 403)"),
    404 % 256: Exit(FailureKind.AGENT_ERROR, "no such model (status 404)"),
    429 % 256: Exit(FailureKind.RATE_LIMITED, "a limit is reached (status 429)"),
    500 % 256: Exit(FailureKind.OVERLOADED, "the server failed (status 500)"),
    503 % 256: Exit(FailureKind.OVERLOADED, "the server is overloaded (status 503)"),
}

_PRESETS = (
    Preset(
        name="claude",
        program="claude",
        seen="2.1.197",
        # Its other formats say nothing until the end: nobody could tell work from a hang.
        words=("-p", "--output-format", "stream-json", "--verbose"),
        # Named, since the user's settings may hold another mode as the default.
        read=("--permission-mode", "default"),
        # The checks run what it writes anyway; an agent that may run nothing works blindly.
        # One word, since the option takes all words after it as tools.
        write=("--permission-mode", "acceptEdits", "--allowedTools=Bash"),
        full=("--dangerously-skip-permissions",),
        model=("--model", "{}"),
        max_turns=("--max-turns", "{}"),
        max_budget=("--max-budget-usd", "{}"),
        environment={
            # Its ten tries take three minutes; pauses that outlast a restart are ouro's.
            "CLAUDE_CODE_MAX_RETRIES": "2",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        parser="claude",
    ),
    Preset(
        name="codex",
        program="codex",
        seen="0.171.0",
        words=(
            *("exec", "--json", "--skip-git-repo-check"),
            *("-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"),
        ),
        read=("-s", "read-only"),
        write=("-s", "workspace-write"),
        full=("-s", "danger-full-access"),
        model=("-m", "{}"),
        last=("-",),
        parser="codex",
    ),
    Preset(
        name="gemini",
        program="gemini",
        seen="0.61.0",
        # In a folder that nobody trusted it does not start at all.
        words=("-o", "json", "--skip-trust"),
        read=("--approval-mode", "default"),
        write=("--approval-mode", "yolo"),
        model=("-m", "{}"),
        # Otherwise it starts itself a second time, and ending the first leaves the second.
        environment={"GEMINI_CLI_NO_RELAUNCH": "true"},
        parser="gemini",
        exits={
            41: Exit(FailureKind.AUTH, _NO_LOGIN),
            42: Exit(FailureKind.AGENT_ERROR, "it did not take the prompt or an option"),
            44: Exit(FailureKind.AGENT_ERROR, "its sandbox did not start"),
            52: Exit(FailureKind.AGENT_ERROR, "its settings are invalid"),
            53: Exit(FailureKind.AGENT_ERROR, "the limit of turns is reached"),
            54: Exit(FailureKind.AGENT_ERROR, "a tool failed"),
            55: Exit(FailureKind.AGENT_ERROR, "the folder is not trusted"),
            **_HTTP,
        },
        silent=True,
    ),
    Preset(
        name="opencode",
        program="opencode",
        seen="1.18.33",
        # Without a title it asks a model for one.
        words=("run", "--format", "json", "--title", "ouro"),
        read=("--agent", "plan"),
        full=("--auto",),
        model=("-m", "{}"),
        environment={"OPENCODE_DISABLE_AUTOUPDATE": "true"},
        parser="opencode",
    ),
    Preset(
        name="qwen",
        program="qwen",
        # Not `--bare`: that leaves out half of its tools and the settings with the user's login.
        seen="0.15.10",
        read=("--approval-mode", "default"),
        write=("--approval-mode", "yolo"),
        model=("-m", "{}"),
        max_turns=("--max-session-turns", "{}"),
        silent=True,
    ),
    Preset(
        name="pi",
        program="pi",
        seen="0.73.1",
        words=("-p", "--no-session"),
        read=("--tools", "read,grep,find,ls"),
        model=("--model", "{}"),
        environment={"PI_TELEMETRY": "0"},
        silent=True,
    ),
    Preset(
        name="copilot",
        program="copilot",
        seen="1.0.102",
        words=("--output-format", "json", "--no-auto-update", "--no-ask-user", "--allow-all-tools"),
        # Without a person it starts only with all tools allowed; a denial goes before that.
        read=("--deny-tool=write", "--deny-tool=shell"),
        full=("--allow-all",),
        model=("--model", "{}"),
        parser="copilot",
    ),
    Preset(
        name="aider",
        program="aider",
        seen="0.86.2",
        words=(
            *("--message-file", PROMPT_FILE, "--yes-always", "--no-stream", "--no-pretty"),
            *("--no-auto-commits", "--no-gitignore", "--no-show-release-notes"),
            # With every question answered yes, a warning of a model opens a browser.
            *("--no-show-model-warnings", "--no-check-update", "--no-analytics"),
        ),
        read=("--chat-mode", "ask"),
        model=("--model", "{}"),
        giving=Giving.FILE,
        # It wraps what the model said, JSON too, at the width of a terminal.
        environment={"COLUMNS": "100000"},
        parser="aider",
        silent=True,
    ),
    Preset(
        name="llm",
        program="llm",
        seen="0.36",
        words=("-u",),
        model=("-m", "{}"),
        parser="llm",
        edits=False,
        silent=True,
    ),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _PRESETS}
"""Name -> preset, in the order in which a person is told of them."""


class Choice(Struct, frozen=True, kw_only=True):
    """What the user wants of an agent. `max_budget` in USD; `extra` are words for the client;
    `everything` takes the reins off in execute (no sandbox, no questions)."""

    model: str | None = None
    max_turns: int | None = None
    max_budget: float | None = None
    extra: tuple[str, ...] = ()
    everything: bool = False


def command_line(
    preset: Preset, phase: Phase, choice: Choice, *, prompt: str = "", prompt_file: str = ""
) -> tuple[str, ...]:
    """The words that start `preset` for `phase`.

    Execute may write; the other phases only read, as far as the client knows such a mode. A wish
    that the client has no flag for is left out (`unsupported` names it). `prompt` is put in only
    where the preset gives it as an argument, `prompt_file` only where it names one.
    Raises UsageProblem where the prompt is too long for an argument.
    """
    words = [*preset.words, *_permission(preset, phase, everything=choice.everything)]
    for _, flag, value in _wishes(preset, choice):
        words += [part.format(value) for part in flag] if value is not None else []
    words += [*choice.extra, *preset.last]
    given = {PROMPT_FILE: prompt_file}
    if preset.giving is Giving.ARGUMENT:
        given[PROMPT] = _as_argument(preset, prompt)
    return (preset.program, *(given.get(word, word) for word in words))


def unsupported(preset: Preset, choice: Choice) -> tuple[str, ...]:
    """The names of the wishes that `preset` has no flag for."""
    return tuple(
        name for name, flag, value in _wishes(preset, choice) if value is not None and not flag
    )


def _wishes(
    preset: Preset, choice: Choice
) -> tuple[tuple[str, tuple[str, ...], str | int | float | None], ...]:
    return (
        ("model", preset.model, choice.model),
        ("max_turns", preset.max_turns, choice.max_turns),
        ("max_budget", preset.max_budget, choice.max_budget),
    )


def _permission(preset: Preset, phase: Phase, *, everything: bool) -> tuple[str, ...]:
    if phase is not Phase.EXECUTE:
        return preset.read
    return preset.full if everything and preset.full is not None else preset.write


def _as_argument(preset: Preset, prompt: str) -> str:
    if len(prompt.encode()) > LONGEST_ARGUMENT:
        raise UsageProblem(
            f"the prompt is longer than what {preset.name} takes as an argument (128 KiB)",
            "shorten the seed, or use an agent that reads its prompt from stdin or a file",
        )
    return prompt


def version_line(preset: Preset) -> tuple[str, ...]:
    """The words that make the client say its version."""
    return (preset.program, *preset.version)


def environment_for(preset: Preset | None, base: Mapping[str, str]) -> dict[str, str]:
    """`base` for a client: no nesting markers, no terminal's size, and what the preset sets where
    the user has not."""
    left_out = NESTING_MARKERS | {"COLUMNS", "LINES"}
    kept = {name: value for name, value in base.items() if name not in left_out}
    return {**(preset.environment if preset else {}), **kept}
