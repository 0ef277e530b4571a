"""The linters, the layers, the package and the repository's shape: checked like everything else."""

import ast
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouro import __version__

ROOT = Path(__file__).parents[1]
TOOLS = Path(sys.executable).parent
SCRIPTS = ["ralph.sh", "hooks/pre-push", "hooks/pre-receive"]
TOP = {
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "examples",
    "hooks",
    "ouro",
    "pyproject.toml",
    "ralph.sh",
    "tests",
}


def check(*command: object, cwd: Path = ROOT, **env: str) -> str:
    """What the command printed; where it fails, the test shows that and no traceback."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.stdout.write(done.stdout)
        pytest.fail(f"exit {done.returncode}: {' '.join(map(str, command))}", pytrace=False)
    return done.stdout


# --- the linters


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check"],
        ["ruff", "format", "--check"],
        ["mypy", "--strict"],
        ["lint-imports"],
        ["shellcheck", *SCRIPTS, ".ci/run"],
    ],
    ids=" ".join,
)
def test_linter(command: list[str]) -> None:
    check(TOOLS / command[0], *command[1:])


@pytest.mark.parametrize("shell", ["dash", "bash --posix"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_parse_in_every_shell_that_is_here(script: str, shell: str) -> None:
    name, *options = shell.split()
    if shutil.which(name) is None:
        pytest.skip(f"no {name} here")
    check(name, *options, "-n", script)


@pytest.mark.parametrize("script", [*SCRIPTS, ".ci/run"])
def test_the_scripts_can_be_run(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)


# --- what import-linter cannot see: the clock and the builtins, in the pure layers

IMPURE_NAMES = {"open", "print", "input", "exec", "eval", "__import__"}
IMPURE_CALLS = {"now", "utcnow", "today", "fromtimestamp"}


def impure(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_NAMES:
                yield f"line {node.lineno}: {name}()"
            case ast.Call(func=ast.Attribute(attr=name)) if name in IMPURE_CALLS:
                yield f"line {node.lineno}: .{name}()"


def test_the_check_for_impurity_finds_it() -> None:
    assert list(impure("x = 1\ndatetime.now()\nopen(x)\nlineage.next()")) == [
        "line 2: .now()",
        "line 3: open()",
    ]


def test_core_and_phases_read_no_clock_and_no_files() -> None:
    files = [path for layer in ("core", "phases") for path in (ROOT / "ouro" / layer).rglob("*.py")]
    assert files
    assert [(str(path), fault) for path in files for fault in impure(path.read_text())] == []


# --- the repository


def test_the_top_level_holds_what_belongs_there() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    names = {path.split("/")[0] for path in check("git", "ls-files", "-z").split("\0") if path}
    assert {name for name in names if not name.startswith(".")} <= TOP


# --- the package


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution, and the wheel that is built from it alone."""
    folder = tmp_path_factory.mktemp("dist")
    hatchling = (sys.executable, "-m", "hatchling", "build", "-d", folder)
    check(*hatchling, "-t", "sdist")
    with tarfile.open(folder / f"ouro-{__version__}.tar.gz") as archive:
        archive.extractall(folder / "unpacked", filter="data")
    check(*hatchling, "-t", "wheel", cwd=folder / "unpacked" / f"ouro-{__version__}")
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return dist / f"ouro-{__version__}-py3-none-any.whl"


def test_the_wheel_from_the_sdist_is_the_wheel_from_the_clone(wheel: Path, tmp_path: Path) -> None:
    check(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path)
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(tmp_path / wheel.name) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        assert all(one.read(name) == other.read(name) for name in one.namelist())


def test_the_wheel_holds_scripts_and_prompts(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for script in SCRIPTS:
            assert archive.read(f"ouro/{script}") == (ROOT / script).read_bytes()
    prompts = {str(path.relative_to(ROOT)) for path in (ROOT / "ouro/prompts").rglob("*.md")}
    assert prompts
    assert prompts <= names
    assert {name.split("/")[0] for name in names} == {"ouro", f"ouro-{__version__}.dist-info"}


def test_the_wheel_runs_by_itself(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    site = {"PYTHONPATH": str(tmp_path / "site"), "PYTHONSAFEPATH": "1"}
    code = "import ouro; print(ouro.__file__)"
    where = check(sys.executable, "-c", code, cwd=tmp_path, **site)
    assert where.startswith(str(tmp_path))
    for command in ([], ["step"], ["ralph"]):
        said = check(sys.executable, "-m", "ouro", *command, "--help", cwd=tmp_path, **site)
        assert said.startswith("Usage:")
