"""The command line of every client, as it is started."""

import pytest

from ouro.agents.parsers import PARSERS
from ouro.agents.presets import (
    LONGEST_ARGUMENT,
    NESTING_MARKERS,
    PRESETS,
    PROMPT,
    Choice,
    Giving,
    Preset,
    command_line,
    environment_for,
    unsupported,
    version_line,
)
from ouro.core.brief import Phase
from ouro.errors import UsageProblem

EVERY_WISH = Choice(model="m 1", max_turns=7, max_budget=0.5, extra=("--own", "word"))

LINES = {
    "claude": [
        (
            "claude -p --output-format stream-json --verbose"
            " --permission-mode acceptEdits --allowedTools=Bash"
            " --model M --max-turns 7 --max-budget-usd 0.5 --own word"
        ),
        "claude -p --output-format stream-json --verbose --permission-mode default",
    ],
    "codex": [
        (
            "codex exec --json --skip-git-repo-check -c analytics.enabled=false"
            " -c check_for_update_on_startup=false -s workspace-write -m M --own word -"
        ),
        (
            "codex exec --json --skip-git-repo-check -c analytics.enabled=false"
            " -c check_for_update_on_startup=false -s read-only -"
        ),
    ],
    "gemini": [
        "gemini -o json --skip-trust --approval-mode yolo -m M --own word",
        "gemini -o json --skip-trust --approval-mode default",
    ],
    "opencode": [
        "opencode run --format json --title ouro -m M --own word",
        "opencode run --format json --title ouro --agent plan",
    ],
    "qwen": [
        "qwen --approval-mode yolo -m M --max-session-turns 7 --own word",
        "qwen --approval-mode default",
    ],
    "pi": [
        "pi -p --no-session --model M --own word",
        "pi -p --no-session --tools read,grep,find,ls",
    ],
    "copilot": [
        (
            "copilot --output-format json --no-auto-update --no-ask-user --allow-all-tools"
            " --model M --own word"
        ),
        (
            "copilot --output-format json --no-auto-update --no-ask-user --allow-all-tools"
            " --deny-tool=write --deny-tool=shell"
        ),
    ],
    "aider": [
        (
            "aider --message-file FILE --yes-always --no-stream --no-pretty --no-auto-commits"
            " --no-gitignore --no-show-release-notes --no-show-model-warnings"
            " --no-check-update --no-analytics"
            " --model M --own word"
        ),
        (
            "aider --message-file FILE --yes-always --no-stream --no-pretty --no-auto-commits"
            " --no-gitignore --no-show-release-notes --no-show-model-warnings"
            " --no-check-update --no-analytics"
            " --chat-mode ask"
        ),
    ],
    "llm": ["llm -u -m M --own word", "llm -u"],
}


def words(line: str) -> tuple[str, ...]:
    return tuple({"M": "m 1", "FILE": "/kept/the prompt"}.get(w, w) for w in line.split())


def test_every_preset_has_its_lines_here_and_a_parser() -> None:
    assert list(LINES) == list(PRESETS)
    assert {preset.parser for preset in PRESETS.values()} == set(PARSERS)


@pytest.mark.parametrize("name", PRESETS)
def test_execute_with_every_wish(name: str) -> None:
    line = command_line(
        PRESETS[name], Phase.EXECUTE, EVERY_WISH, prompt="no", prompt_file="/kept/the prompt"
    )
    assert line == words(LINES[name][0])


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.EXECUTE])
@pytest.mark.parametrize("name", PRESETS)
def test_a_thinking_phase_without_any_wish(name: str, phase: Phase) -> None:
    line = command_line(PRESETS[name], phase, Choice(), prompt_file="/kept/the prompt")
    assert line == words(LINES[name][1])


@pytest.mark.parametrize(
    ("name", "everything"),
    [
        ("claude", ["--dangerously-skip-permissions"]),
        ("codex", ["-s", "danger-full-access"]),
        ("copilot", ["--allow-all"]),
        ("opencode", ["--auto"]),
        ("gemini", ["--approval-mode", "yolo"]),
        ("llm", []),
    ],
)
def test_everything_is_allowed_in_execute_alone(name: str, everything: list[str]) -> None:
    preset, choice = PRESETS[name], Choice(everything=True)
    end = len(preset.last)
    line = list(command_line(preset, Phase.EXECUTE, choice))
    assert line[len(line) - end - len(everything) : len(line) - end] == everything
    thinking = command_line(preset, Phase.QA, choice)
    assert thinking == command_line(preset, Phase.QA, Choice())


def test_a_wish_without_a_flag_is_named() -> None:
    assert unsupported(PRESETS["claude"], EVERY_WISH) == ()
    assert unsupported(PRESETS["codex"], EVERY_WISH) == ("max_turns", "max_budget")
    assert unsupported(PRESETS["codex"], Choice()) == ()


def test_words_of_the_user_are_never_filled_in() -> None:
    choice = Choice(model="{}", extra=("{prompt}", "{0}"))
    line = command_line(PRESETS["pi"], Phase.EXECUTE, choice, prompt="secret plan")
    assert line[-4:] == ("--model", "{}", "{prompt}", "{0}")


def test_a_prompt_as_an_argument_has_a_limit() -> None:
    preset = Preset(
        name="mini", program="mini", seen="1", words=("-t", PROMPT), giving=Giving.ARGUMENT
    )
    most = "ä" * (LONGEST_ARGUMENT // 2) + "x"
    assert command_line(preset, Phase.EXECUTE, Choice(), prompt=most) == ("mini", "-t", most)
    with pytest.raises(UsageProblem, match="128 KiB"):
        command_line(preset, Phase.EXECUTE, Choice(), prompt=most + "x")


def test_the_environment_has_no_markers_of_nesting() -> None:
    base = dict.fromkeys(NESTING_MARKERS, "1") | {"CODEX_HOME": "/h", "HOME": "/home/u"}
    environment = environment_for(PRESETS["codex"], base)
    assert environment == {"CODEX_HOME": "/h", "HOME": "/home/u"}
    assert environment_for(None, base) == environment


def test_what_the_user_has_set_goes_before_the_preset() -> None:
    claude = PRESETS["claude"]
    assert environment_for(claude, {})["CLAUDE_CODE_MAX_RETRIES"] == "2"
    base = {"CLAUDE_CODE_MAX_RETRIES": "9"}
    assert environment_for(claude, base)["CLAUDE_CODE_MAX_RETRIES"] == "9"


def test_the_width_of_a_terminal_is_none_of_an_agents_business() -> None:
    assert environment_for(None, {"COLUMNS": "80", "LINES": "24"}) == {}
    assert int(environment_for(PRESETS["aider"], {"COLUMNS": "80"})["COLUMNS"]) > 9_999


def test_the_version_is_asked_for() -> None:
    assert version_line(PRESETS["gemini"]) == ("gemini", "--version")
