"""Whole lineages pushed to a real bare repository with the server's hook, and ouro behind it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from ouro.app import hooks
from ouro.git.repository import Repo
from tests.app.scripted import ROOT, Project, added, git, mutations
from tests.smart_http import serving

BRANCH = "refs/heads/ooo/greet"
LOG = ".ouro/lineages/greet/events/000001.jsonl"


def tag(name: str) -> str:
    return f"refs/tags/ooo/greet/{name}"


def evolved(folder: Path, generations: int) -> Project:
    made = Project(folder)
    made.agent.on("execute", {"write": {"ok": "1"}})
    for number in range(2, 6):
        made.agent.on("reflect", mutations(added(f"field{number}")), gen=number)
    made.steps(generations, "--no-qa")
    return made


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Three generations."""
    return evolved(tmp_path_factory.mktemp("pushed"), 3)


@dataclass
class Server:
    folder: Path
    program: Path
    mark: Path
    address: str

    def ran(self) -> list[str]:
        """What ouro was asked on the server so far."""
        return self.mark.read_text().splitlines() if self.mark.exists() else []


def make_server(folder: Path, patch: pytest.MonkeyPatch) -> Server:
    """A bare repository that is guarded by an ouro which leaves a mark whenever it starts; so does
    a Python that is found by its name."""
    mark, names = folder / "mark", folder / "bin"
    names.mkdir()
    for name in ("ouro", "python", "python3"):
        words = "-m ouro " if name == "ouro" else ""
        (names / name).write_text(
            f'#!/bin/sh\necho "$@" >>"{mark}"\n'
            f'PYTHONPATH="{ROOT}" exec "{sys.executable}" {words}"$@"\n'
        )
        (names / name).chmod(0o755)
    path = folder / "server.git"
    git(folder, "init", "-q", "--bare", str(path))
    with patch.context() as here:
        here.setattr(sys, "argv", [str(names / "ouro")])
        hooks.install(Repo(path), server=True)
    return Server(path, names / "ouro", mark, str(path))


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    return make_server(tmp_path, monkeypatch)


@contextmanager
def over_http(server: Server) -> Iterator[None]:
    git(server.folder, "config", "http.receivepack", "true")
    with serving(server.folder.parent) as address:
        server.address = f"{address}/server.git"
        yield


@pytest.fixture(params=["path", "http"])
def reached(request: pytest.FixtureRequest, server: Server) -> Iterator[Server]:
    """The server, by path or by http."""
    with over_http(server) if request.param == "http" else nullcontext():
        yield server


def begin(project: Project, server: Server, *more: str) -> None:
    """The server has the lineage already; a fetch runs no hook."""
    refspecs = [f"{name}:{name}" for name in everything(project)]
    git(server.folder, "fetch", "-q", str(project.root), *refspecs, *more)


def push(at: Path, server: Server, *refspecs: str) -> list[str]:
    """What ouro said when it refused, line by line; nothing where the push went through."""
    done = subprocess.run(
        ["git", "-c", "http.proxy=", "push", "-q", server.address, *refspecs],
        cwd=at,
        capture_output=True,
        text=True,
    )
    said = [line.removeprefix("remote: ").rstrip() for line in done.stderr.splitlines()]
    lines = [line for line in said if line.startswith("ouro: ")]
    assert bool(done.returncode) == bool(lines), done.stderr
    return lines


def everything(project: Project) -> list[str]:
    names = project.git("for-each-ref", "--format=%(refname)", BRANCH, "refs/tags/ooo/")
    return names.split()


def same_there(project: Project, server: Server) -> None:
    """The server has the lineage and its tags, none more and none less."""
    said = (
        git(at, "for-each-ref", BRANCH, "refs/tags/ooo/") for at in (project.root, server.folder)
    )
    assert len(set(said)) == 1


def test_an_honest_lineage_with_its_jumps_is_pushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Growing, a rewind, going on from there, and taking the rewind back: by path and by http."""
    project = evolved(tmp_path / "own", 2)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    servers = [make_server(tmp_path / name, monkeypatch) for name in ("one", "two")]
    with over_http(servers[1]):

        def both(*refspecs: str) -> None:
            for server in servers:
                assert push(project.root, server, *refspecs) == []
                same_there(project, server)

        # As the README has it.
        words = ("--prune", "ooo/greet", "+refs/tags/ooo/greet/*:refs/tags/ooo/greet/*")
        both(*words)
        project.step("--no-qa")
        both(*words)
        assert project.ouro("rewind", "greet", "--to", "1").code == 0
        both(*words)
        project.agent.on("reflect", mutations(added("other")), gen=2)
        project.step("--no-qa")
        both(*words)
        assert project.ouro("undo", "greet").code == 0
        both(*words)
    for server in servers:
        assert [line.split(" ")[0] for line in server.ran()] == ["verify"] * 5


# --- rewrites


class Rewriter:
    """A clone in which somebody changes what was committed, with plain git."""

    def __init__(self, project: Project, folder: Path) -> None:
        git(folder, "clone", "-q", "-b", "ooo/greet", str(project.root), "mallory")
        self.root = folder / "mallory"
        git(self.root, "config", "user.name", "Mallory")
        git(self.root, "config", "user.email", "mallory@example.org")

    @property
    def lines(self) -> list[str]:
        return (self.root / LOG).read_text().splitlines(keepends=True)

    def commit(self, lines: list[str], message: str = "x") -> None:
        (self.root / LOG).write_text("".join(lines))
        git(self.root, "commit", "-qam", message)


def edit(clone: Rewriter) -> None:
    clone.commit([line.replace("field2", "field9") for line in clone.lines])


def cut(clone: Rewriter) -> None:
    clone.commit(clone.lines[:-1])


def forge_jump(clone: Rewriter) -> None:
    tip = git(clone.root, "rev-parse", "ooo/greet/gen_1^{commit}")
    line = f'{{"type":"lineage.rewound","data":{{"commit":"{tip}","left":"{tip}"}}}}\n'
    clone.commit([*clone.lines[:2], line], "x\n\nOuro-Event: lineage.rewound")


def remove(clone: Rewriter) -> None:
    git(clone.root, "rm", "-qr", ".ouro")
    git(clone.root, "commit", "-qm", "x")


def reset(clone: Rewriter) -> None:
    git(clone.root, "reset", "-q", "--hard", "HEAD~2")


def replace(clone: Rewriter) -> None:
    git(clone.root, "commit", "-q", "--amend", "-m", "x")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit, "changed or cut"),
        (cut, "changed or cut"),
        (forge_jump, "changed or cut"),
        (remove, "holds no log"),
        (reset, "would drop"),
        (replace, "would drop"),
    ],
)
def test_a_rewrite_is_refused(
    project: Project, server: Server, change: Callable[[Rewriter], None], said: str
) -> None:
    begin(project, server)
    clone = Rewriter(project, server.folder.parent)
    change(clone)
    [line] = push(clone.root, server, f"+{BRANCH}")
    assert line.startswith(f"ouro: {BRANCH}: refused here: ")
    assert said in line
    assert server.ran() == []
    same_there(project, server)


def test_what_only_ouro_can_see_is_refused_with_its_findings(
    project: Project, reached: Server
) -> None:
    """A line that hangs on nothing: to git the log only grew."""
    begin(project, reached)
    clone = Rewriter(project, reached.folder.parent)
    clone.commit([*clone.lines, clone.lines[-1]])
    first, *findings = push(clone.root, reached, BRANCH)
    assert "its history does not hold up" in first
    assert any("000001.jsonl" in line for line in findings)
    same_there(project, reached)


def test_a_new_lineage_is_verified_from_its_beginning(project: Project, server: Server) -> None:
    clone = Rewriter(project, server.folder.parent)
    clone.commit([line.replace("Greet people", "Rob people") for line in clone.lines])
    first, *_ = push(clone.root, server, BRANCH)
    assert "its history does not hold up" in first


@pytest.mark.parametrize(
    ("refspecs", "said"),
    [
        ([f":{BRANCH}"], "would delete the lineage"),
        ([f":{tag('gen_2')}"], "would delete a generation"),
        ([f"+{tag('gen_1')}:{tag('gen_2')}"], "names another generation"),
        ([f"+{tag('gen_1')}:{tag('rewound_1/gen_1')}"], None),
        ([f":{tag('rewound_1/gen_3')}"], "that a jump left behind"),
        ([f"+{tag('gen_2')}:{tag('rewound_1/gen_3')}"], "that a jump left behind"),
    ],
)
def test_a_tag_is_kept(
    project: Project, server: Server, refspecs: list[str], said: str | None
) -> None:
    kept = f"{tag('gen_3')}:{tag('rewound_1/gen_3')}"
    begin(project, server, kept)
    before = git(server.folder, "for-each-ref", BRANCH, tag("gen_*"), tag("rewound_1/gen_3"))
    lines = push(project.root, server, *refspecs)
    assert [line for line in lines if said and said not in line] == []
    assert bool(lines) == bool(said)
    after = git(server.folder, "for-each-ref", BRANCH, tag("gen_*"), tag("rewound_1/gen_3"))
    assert after == before


# --- other refs


def test_two_hundred_other_refs_start_no_python(
    project: Project, reached: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(reached.program.parent), prepend=":")
    others = [f"main:refs/heads/other{number}" for number in range(200)]
    assert push(project.root, reached, *others, "main:refs/ouro/hidden/greet") == []
    assert reached.ran() == []


def test_without_its_ouro_a_server_takes_everything_but_lineages(
    project: Project, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.program.rename(server.program.with_name("old"))
    [line] = push(project.root, server, BRANCH)
    assert f"{server.program} is gone" in line
    assert "ouro hooks install --server" in line
    assert push(project.root, server, "main:refs/heads/main", "main:refs/tags/v1") == []
    assert git(server.folder, "for-each-ref", BRANCH) == ""


def test_a_server_that_cannot_verify_says_why(project: Project, server: Server) -> None:
    """A log that a newer ouro has written on, which this one cannot read."""
    begin(project, server)
    clone = Rewriter(project, server.folder.parent)
    clone.commit([*clone.lines, clone.lines[-1].replace('"v":1', '"v":2')])
    first, *reasons = push(clone.root, server, BRANCH)
    assert "it cannot be verified" in first
    assert any("newer ouro" in line for line in reasons)


# --- the clone's own hook


def test_the_clones_hook_verifies_with_the_ouro_that_installed_it(
    project: Project, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q", "--bare", "plain.git")
    plain = Server(tmp_path / "plain.git", tmp_path, tmp_path / "mark", str(tmp_path / "plain.git"))
    clone = Rewriter(project, tmp_path)
    assert project.ouro("hooks", "install", cwd=clone.root).code == 0
    assert push(clone.root, plain, BRANCH) == []
    clone.commit([*clone.lines, clone.lines[-1]])
    first, *_ = push(clone.root, plain, BRANCH)
    assert first.startswith(f"ouro: {BRANCH}: not pushed to {plain.address}: its history does not")
