"""Records what real clients answer, for the tests of the parsers.

    python -m tests.agents.record codex claude gemini=/path/to/gemini ...

runs every case of these clients against the scripted server and writes what they printed into
tests/data/replies/<client>/<case>.json. codex and claude are installed where they are missing.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ouro.agents.presets import PRESETS, Choice, version_line
from ouro.core.brief import Phase
from tests.agents.clients import PACKAGES, Ran, Stand, installed, stand
from tests.agents.model_server import BreakOff, Call, Hang, ModelServer, Refuse, Say, Step

REPLIES = Path(__file__).parents[1] / "data" / "replies"

LIMIT = Refuse(429, {"retry-after": "120"}, "rate_limit_error", "Number of requests exceeded")
Steps = Callable[[Path], tuple[Step, ...]]


class Case(Struct, frozen=True, kw_only=True):
    """What the model does, given the workspace, and how the client is asked."""

    steps: Steps
    phase: Phase = Phase.EXECUTE
    choice: Choice = Choice()
    environment: Mapping[str, str] = {}
    words: tuple[str, ...] | None = None
    """Instead of the preset's own words, for what users may have given instead."""
    seconds: float = 150


def always(*steps: Step) -> Steps:
    return lambda _workspace: steps


def writes(client: str) -> Steps:
    """The tool by which each client writes a file, then a word about it."""

    def steps(workspace: Path) -> tuple[Step, ...]:
        path = str(workspace / "out.txt")
        calls = {
            "codex": Call("exec_command", {"cmd": "echo x > out.txt"}),
            "claude": Call("Write", {"file_path": path, "content": "x\n"}),
            "copilot": Call("create", {"path": path, "file_text": "x\n"}),
            "gemini": Call("write_file", {"file_path": "out.txt", "content": "x\n"}),
            "opencode": Call("write", {"filePath": path, "content": "x\n"}),
            "pi": Call("write", {"path": path, "content": "x\n"}),
            "qwen": Call("write_file", {"file_path": path, "content": "x\n"}),
        }
        return (calls[client], Say("Wrote out.txt."))

    return steps


def cases(client: str) -> dict[str, Case]:
    """The cases of `client`. What retries for longer than anybody waits is left out."""
    text = {"text": Case(steps=always(Say("Hello there.")))}
    refused = {
        "status_401": Case(steps=always(Refuse(401, {}, "authentication_error", "invalid key"))),
        "status_400": Case(steps=always(Refuse(400, {}, "invalid_request_error", "no such thing"))),
    }
    empty = {"empty": Case(steps=always(Say("")))}
    if client == "aider":
        return text | refused | empty
    tools = {
        "edit": Case(steps=writes(client)),
        "edit_denied": Case(steps=writes(client), phase=Phase.EVALUATE),
    }
    ended = {"hang_ended": Case(steps=always(Hang()), seconds=12)}
    broken = {"broken_off": Case(steps=always(BreakOff("Half of an answer.")))}
    limit = {"status_429": Case(steps=always(LIMIT))}
    most = text | tools | refused | empty | ended
    match client:
        case "codex":
            return most | broken | limit | _codex()
        case "claude":
            return most | broken | limit | _claude()
        case "gemini":
            return most | broken
        case "qwen":
            return most
        case _:
            # They wait as long as they are told to.
            soon = Refuse(429, {"retry-after": "1"}, "rate_limit_error", "Number exceeded")
            return most | {"status_429": Case(steps=always(soon))}


def _codex() -> dict[str, Case]:
    quota = Refuse(429, {}, "insufficient_quota", "You exceeded your current quota")
    usage = Refuse(429, {}, "usage_limit_reached", "The usage limit has been reached")
    return {
        "quota": Case(steps=always(quota)),
        "usage_limit": Case(steps=always(usage)),
        "status_500": Case(steps=always(Refuse(500))),
        "status_529": Case(steps=always(Refuse(529, {}, "overloaded_error", "Overloaded"))),
    }


def _claude() -> dict[str, Case]:
    loop = always(Call("Bash", {"command": "true"}))
    credit = "Your credit balance is too low to access the API."
    return {
        "max_turns": Case(steps=loop, choice=Choice(max_turns=2)),
        "max_budget": Case(steps=loop, choice=Choice(max_budget=0.0005)),
        "no_login": Case(steps=always(Hang()), environment={"ANTHROPIC_API_KEY": ""}),
        "credit": Case(steps=always(Refuse(400, {}, "invalid_request_error", credit))),
        "status_529": Case(steps=always(Refuse(529, {}, "overloaded_error", "Overloaded"))),
        "one_object": Case(
            steps=always(Say("Hello there.")), words=("-p", "--output-format", "json")
        ),
        "array": Case(
            steps=always(Say("Hello there.")),
            words=("-p", "--output-format", "json", "--verbose"),
        ),
    }


def record(client: str, program: Path) -> None:
    """Run every case of `client` and write what came."""
    folder = REPLIES / client
    folder.mkdir(parents=True, exist_ok=True)
    words = [str(program), *version_line(PRESETS[client])[1:]]
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ["PATH"], "HOME": home, "TERM": "dumb"}
        told = subprocess.run(words, env=env, capture_output=True, text=True)
    version = re.search(r"\d+\.\d+\.\d+", told.stdout) or re.search(r"\d+\.\d+\.\d+", told.stderr)
    for name, case in cases(client).items():
        with tempfile.TemporaryDirectory(prefix="ouro-record-") as place:
            steps = case.steps(Path(place) / "workspace")
            with ModelServer(*steps) as server:
                one = stand(client, program, server, Path(place))
                if case.words is not None:
                    one = replace(one, preset=replace(one.preset, words=case.words))
                ran = one.run(
                    phase=case.phase,
                    choice=case.choice,
                    environment=case.environment,
                    seconds=case.seconds,
                )
                kept = _kept(one, ran, version[0] if version else "unknown")
        (folder / f"{name}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        say = f"{client} {name}: exit {ran.code}, {ran.cause}, {ran.parsed}"
        print(say, flush=True)  # noqa: T201


def _kept(one: Stand, ran: Ran, version: str) -> dict[str, object]:
    def bare(text: str) -> str:
        for path, name in ((one.workspace, "/workspace"), (one.folder, "/run")):
            text = text.replace(str(path), name)
        text = text.replace(one.server.url, "http://127.0.0.1:1")
        text = text.replace(one.server.url.removeprefix("http://"), "127.0.0.1:1")
        text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", _UUID, text)
        text = re.sub(r"\b(ses|prt|msg)_[0-9a-zA-Z]{16,}", _short, text)
        # claude names a folder after the workspace's path.
        text = re.sub(r"-[\w-]*ouro-record-[\w-]*", "-workspace", text)
        return re.sub(r"/[^\s\"':]*/(?=node_modules/)", "/", text)

    return {
        "version": version,
        "command": [bare(word) for word in ran.line],
        "code": ran.code,
        "stdout": bare(ran.stdout),
        "stderr": bare(ran.stderr),
        "files": sorted(p.name for p in one.workspace.iterdir() if not p.name.startswith(".")),
    }


_UUID = "00000000-0000-0000-0000-000000000000"


def _short(found: "re.Match[str]") -> str:
    """Ids stay different from one another, which is all that a parser looks at."""
    return f"{found[1]}_{found[0][4:12]}"


def main() -> None:
    for word in sys.argv[1:]:
        client, _, path = word.partition("=")
        record(client, Path(path) if path else installed(PACKAGES[client]))


if __name__ == "__main__":
    main()
