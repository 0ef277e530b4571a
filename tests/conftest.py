"""The seal: nothing of the machine reaches a test, and nothing of a test the machine."""

import compileall
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pygit2
import pytest
from hypothesis import settings
from pygit2.enums import ConfigLevel

import ouro

# What git, ouro, an agent or a terminal's owner may have set; keys also because ouro masks them.
FOREIGN = re.compile(
    r"(GIT|OURO)(_.*)?|.*(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL).*"
    r"|CLAUDE.*|CODEX.*|EDITOR|VISUAL|PAGER|NO_COLOR|FORCE_COLOR|CLICOLOR.*|COLUMNS|LINES"
    r"|PYTHONDONTWRITEBYTECODE"
)

# Timing on a shared machine proves nothing; in CI the same examples every time.
settings.register_profile("ouro", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "ouro")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Half of the time a test waits: for a disk, a pause, a process that is to end."""
    return 2 * (os.cpu_count() or 1)


NOT_TESTED = "REAL CLIENT NOT TESTED"
"""How the reason of a skip begins where a real client could not be had."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was not tried must not look as if it had passed."""
    reports = terminalreporter.getreports("skipped")
    reasons = {
        str(report.longrepr[2]) for report in reports if isinstance(report.longrepr, tuple | list)
    }
    missing = sorted(said.partition(NOT_TESTED)[2] for said in reasons if NOT_TESTED in said)
    if missing:
        terminalreporter.section(f"{NOT_TESTED} (see CONTRIBUTING)", red=True, bold=True)
    for said in missing:
        terminalreporter.write_line(f"{NOT_TESTED}{said}", red=True)


def seal(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Give this process and its children an empty home, no git configuration, UTC and C.UTF-8."""
    for name in [name for name in os.environ if FOREIGN.fullmatch(name)]:
        patch.delenv(name)
    (home / ".gitconfig").touch()
    patch.setenv("HOME", str(home))
    patch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for kind in ("CONFIG", "STATE", "CACHE", "DATA"):
        patch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
    patch.setenv("TZ", "UTC")
    patch.setenv("LANG", "C.UTF-8")
    patch.setenv("LC_ALL", "C.UTF-8")
    time.tzset()
    # libgit2 looked for its configuration when it was loaded, and asks no variable again.
    for level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = str(home)


@pytest.fixture(scope="session", autouse=True)
def _sealed_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fixtures that outlive a test are made before any test's own seal."""
    # As an installation does: a thousand processes would each compile ouro for themselves.
    compileall.compile_dir(ouro.__path__[0], quiet=1)
    with pytest.MonkeyPatch.context() as patch:
        seal(patch, tmp_path_factory.mktemp("home"))
        yield


@pytest.fixture(autouse=True)
def sealed_home(
    _sealed_session: None, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The home of this test alone, empty but for an empty `.gitconfig`."""
    folder = tmp_path_factory.mktemp("home")
    seal(monkeypatch, folder)
    return folder
