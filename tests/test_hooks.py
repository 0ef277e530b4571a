"""The hook script, on both sides: in a real clone that pushes to a real bare remote.

No ouro is in reach here, so what holds is what the script and plain git see. tests/test_push.py has
whole lineages, and the ouro that verifies them.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

HOOKS = Path(__file__).parents[1] / "hooks"
CLIENT, SERVER = HOOKS / "pre-push", HOOKS / "pre-receive"
BRANCH = "refs/heads/ooo/one"
TAG = "refs/tags/ooo/one/gen_1"
KEPT = "refs/tags/ooo/one/rewound_1/gen_1"
LINE = '{"seq":1,"type":"lineage.created"}\n'
NOTICE = ": its branch and log were checked, but not verified: there is no ouro here"


def data(text: str) -> str:
    return f"data {len(text)}\n{text}\n"


@dataclass
class Clone:
    folder: Path

    def git(self, *args: str, check: bool = True, stdin: str = "") -> str:
        done = self.attempt(*args, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def attempt(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "gc.auto=0", *args],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
        )

    def commit(self, parent: str | None, *files: str, text: str = "x", name: str = "one") -> str:
        """A commit whose log has `files`, numbered from 1."""
        folder = f".ouro/lineages/{name}/events"
        program = f"commit refs/scratch\nmark :1\ncommitter t <t@t> 0 +0000\n{data(text)}"
        program += f"from {self.git('rev-parse', parent)}\n" if parent else ""
        program += "deleteall\n"
        for i, content in enumerate(files, 1):
            program += f"M 100644 inline {folder}/{i:06}.jsonl\n{data(content)}"
        program += "get-mark :1\n"
        return self.git("fast-import", "--quiet", "--force", stdin=program)

    def jump(self, tip: str, to: str, *files: str) -> str:
        line = f'{{"seq":9,"type":"lineage.rewound","data":{{"commit":"{to}","left":"{tip}"}}}}\n'
        *sealed, live = files
        text = "jump\n\nOuro-Event: lineage.rewound"
        return self.commit(tip, *sealed, live + line, text=text)

    def branch(self, commit: str) -> None:
        self.git("update-ref", BRANCH, commit)

    def tag(self, ref: str, commit: str, text: str = "{}") -> None:
        self.git("tag", "-f", "-a", "-m", text, ref.removeprefix("refs/tags/"), commit)

    def push(self, *refspecs: str) -> list[str]:
        """The lines that the hook refused with; none when the push went through."""
        done = self.attempt("push", "-q", "origin", *refspecs)
        said = [line.removeprefix("remote: ").rstrip() for line in done.stderr.splitlines()]
        lines = [line for line in said if line.startswith("ouro: ") and NOTICE not in line]
        assert bool(done.returncode) == bool(lines), done.stderr
        return lines

    def there(self, ref: str) -> str:
        return self.git("ls-remote", "origin", ref).split("\t")[0]


def make(folder: Path, side: str, form: str = "sha1") -> Clone:
    for kind, options in (("remote", ["--bare"]), ("clone", [])):
        command = ["git", "init", "-q", *options, f"--object-format={form}", folder / kind]
        subprocess.run(command, check=True)
    clone = Clone(folder / "clone")
    clone.git("remote", "add", "origin", str(folder / "remote"))
    place = folder / ("clone/.git" if side == "client" else "remote") / "hooks"
    shutil.copy(CLIENT if side == "client" else SERVER, place)
    return clone


@pytest.fixture(autouse=True)
def _no_ouro_in_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    for program in ("git", "sh", "head", "tail", "sed", "grep", "cat"):
        found = shutil.which(program)
        assert found
        (tmp_path / "bin" / program).symlink_to(found)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.fixture(params=["client", "server"])
def side(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def clone(side: str, tmp_path: Path) -> Clone:
    return make(tmp_path, side)


@pytest.fixture
def pushed(clone: Clone) -> str:
    """A lineage with one tagged generation, on both sides; its tip."""
    return begin(clone)


def begin(clone: Clone) -> str:
    tip = clone.commit(clone.commit(None, LINE), LINE * 2)
    clone.branch(tip)
    clone.tag(TAG, tip)
    assert clone.push(BRANCH, TAG) == []
    return tip


# --- the branch


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_growing_is_pushed(side: str, tmp_path: Path, form: str) -> None:
    clone = make(tmp_path, side, form)
    tip = begin(clone)
    clone.branch(clone.commit(clone.commit(tip, LINE * 3), LINE * 3, LINE))
    clone.tag("refs/tags/ooo/one/gen_2", BRANCH)
    assert clone.push(BRANCH, TAG, "refs/tags/ooo/one/gen_2") == []
    clone.branch(clone.commit(BRANCH, LINE * 2, LINE))
    [line] = clone.push(BRANCH)
    assert "changed or cut" in line


def test_without_an_ouro_it_says_what_was_not_done(clone: Clone) -> None:
    clone.branch(clone.commit(None, LINE))
    said = clone.attempt("push", "origin", BRANCH)
    assert said.returncode == 0
    assert f"ouro: {BRANCH}{NOTICE}" in said.stderr


def test_deleting_a_lineage_is_refused(side: str, clone: Clone, pushed: str) -> None:
    [line] = clone.push(f":{BRANCH}")
    where = "not pushed to origin" if side == "client" else "refused here"
    assert line.startswith(f"ouro: {BRANCH}: {where}: this would delete the lineage")
    assert ("--no-verify" in line) == (side == "client")
    assert clone.there(BRANCH) == pushed


@pytest.mark.parametrize("back", [True, False], ids=["back", "sideways"])
def test_dropping_generations_is_refused(clone: Clone, pushed: str, back: bool) -> None:
    other = f"{pushed}~1" if back else clone.commit(f"{pushed}~1", LINE * 2, text="another")
    clone.branch(other)
    [line] = clone.push(f"+{BRANCH}")
    assert line.startswith(f"ouro: {BRANCH}: ")
    assert "another branch name" in line
    assert clone.there(BRANCH) == pushed


def test_what_the_remote_has_alone_is_to_be_fetched_first(tmp_path: Path) -> None:
    clone = make(tmp_path, "client")
    subprocess.run(["git", "init", "-q", tmp_path / "elsewhere"], check=True)
    elsewhere = Clone(tmp_path / "elsewhere")
    elsewhere.git("remote", "add", "origin", str(tmp_path / "remote"))
    elsewhere.branch(elsewhere.commit(None, LINE, text="theirs"))
    assert elsewhere.push(BRANCH) == []
    clone.branch(clone.commit(None, LINE, text="ours"))
    [line] = clone.push(f"+{BRANCH}")
    assert line.endswith("run: git fetch origin")


def test_a_branch_without_a_log_is_no_lineage(clone: Clone) -> None:
    for commit in (clone.commit(None, LINE, name="two"), clone.commit(None)):
        clone.branch(commit)
        [line] = clone.push(f"+{BRANCH}")
        assert "no log of a lineage one" in line


# --- the log


@pytest.mark.parametrize(
    "files",
    [
        ["", LINE * 3],
        [LINE * 2, LINE * 2],
        [LINE * 2],
        [LINE * 2, LINE.replace("1", "7") * 3],
        [LINE * 2 + "more\n", LINE * 3],
    ],
    ids=["sealed emptied", "cut", "file gone", "edited", "sealed grew"],
)
def test_a_log_that_was_rewritten_is_refused(clone: Clone, pushed: str, files: list[str]) -> None:
    tip = clone.commit(pushed, LINE * 2, LINE * 3)
    clone.branch(tip)
    assert clone.push(BRANCH) == []
    clone.branch(clone.commit(tip, *files))
    [line] = clone.push(BRANCH)
    assert "lines of the log that are there were changed or cut" in line
    assert f"git log -p --text {tip}.." in line
    assert clone.there(BRANCH) == tip


def test_a_jump_goes_back_and_the_log_goes_on(clone: Clone, pushed: str) -> None:
    tip = clone.commit(pushed, LINE * 3)
    clone.branch(tip)
    assert clone.push(BRANCH) == []
    back = clone.jump(clone.commit(tip, LINE * 4), pushed, LINE * 2)
    files = clone.git("show", f"{back}:.ouro/lineages/one/events/000001.jsonl") + "\n"
    on = clone.commit(back, files + LINE)
    again = clone.jump(on, tip, LINE * 3)
    clone.branch(again)
    assert clone.push(BRANCH) == []
    assert clone.there(BRANCH) == again


def test_a_jump_that_edits_is_refused(clone: Clone, pushed: str) -> None:
    tip = clone.commit(pushed, LINE * 3)
    clone.branch(tip)
    assert clone.push(BRANCH) == []
    edited = LINE.replace("1", "7") * 2
    elsewhere = clone.commit(None, edited)
    for jump in (
        clone.jump(tip, pushed, edited),
        clone.jump(tip, elsewhere, edited),
        clone.jump(clone.commit(tip, edited), pushed, LINE * 2),
        clone.commit(clone.jump(tip, pushed, LINE * 2), LINE * 2),
        clone.commit(tip, LINE, text="x\n\nOuro-Event: lineage.rewound"),
    ):
        clone.branch(jump)
        [line] = clone.push(BRANCH)
        assert "no jump did it" in line


# --- the tags


def test_deleting_a_generation_is_refused(clone: Clone, pushed: str) -> None:
    [line] = clone.push(f":{TAG}")
    assert line.startswith(f"ouro: {TAG}: ")
    assert clone.there(TAG)


def test_moving_a_generation_is_refused(clone: Clone, pushed: str) -> None:
    old = clone.there(TAG)
    clone.tag(TAG, pushed, text="another object, the same commit")
    [line] = clone.push(f"+{TAG}")
    assert line.startswith(f"ouro: {TAG}: ")
    assert "refs/tags/ooo/one/rewound_*" in line
    assert clone.there(TAG) == old


def test_another_object_in_the_archive_archives_nothing(clone: Clone, pushed: str) -> None:
    clone.tag(KEPT, pushed, text="another")
    other = "refs/tags/ooo/one/rewound_1/gen_11"
    clone.git("update-ref", other, TAG)
    clone.tag(TAG, pushed, text="new")
    assert len(clone.push(KEPT, other, f"+{TAG}")) == 1


@pytest.mark.parametrize("together", [True, False])
def test_a_generation_that_a_jump_archived_may_move(
    clone: Clone, pushed: str, together: bool
) -> None:
    clone.git("update-ref", KEPT, TAG)
    clone.tag(TAG, pushed, text="the new first")
    if not together:
        assert clone.push(KEPT) == []
    assert clone.push(f"+{TAG}", *([KEPT] if together else [])) == []


def test_one_that_only_the_clone_archived_may_not(clone: Clone, pushed: str) -> None:
    clone.git("update-ref", KEPT, TAG)
    assert len(clone.push(f":{TAG}")) == 1
    assert clone.push(KEPT, f":{TAG}") == []


def test_an_archived_generation_stays(clone: Clone, pushed: str) -> None:
    clone.git("update-ref", KEPT, TAG)
    assert clone.push(KEPT) == []
    assert len(clone.push(f":{KEPT}")) == 1
    clone.tag(KEPT, pushed, text="another")
    [line] = clone.push(f"+{KEPT}")
    assert "stays as it is" in line


def test_each_ref_gets_its_line(clone: Clone, pushed: str) -> None:
    lines = clone.push(f":{BRANCH}", f":{TAG}")
    assert sorted(line.split(": ")[1] for line in lines) == [BRANCH, TAG]


# --- everything else


def test_a_commit_named_with_blanks(clone: Clone, pushed: str) -> None:
    assert clone.push(f"{pushed}^{{/x}}:{BRANCH}") == []
    side = clone.commit(f"{pushed}~1", LINE, text="one side")
    assert len(clone.push(f"+{side}^{{/one side}}:{BRANCH}")) == 1


def test_every_other_ref_is_left_alone(clone: Clone, pushed: str) -> None:
    other = clone.commit(None, text="unrelated")
    refs = ["refs/heads/main", "refs/heads/oooops/x", "refs/heads/ooo/Mine", "refs/heads/ooo/a/b"]
    refs += ["refs/tags/gen_1", "refs/tags/v1/ooo/gen_1", "refs/tags/ooo/one/gen_x"]
    refs += ["refs/ouro/rescue/one/1", "refs/ouro/hidden/one"]
    assert clone.push(*(f"{pushed}:{ref}" for ref in refs)) == []
    assert clone.push(*(f"+{other}:{ref}" for ref in refs)) == []
    assert clone.push(*(f":{ref}" for ref in refs)) == []


def test_a_lineage_pushed_under_a_plain_name_is_no_lineage(clone: Clone, pushed: str) -> None:
    assert clone.push(f"{BRANCH}:refs/heads/mine") == []
    assert clone.push(f"+{pushed}~1:refs/heads/mine") == []


def test_nothing_is_written(clone: Clone, pushed: str, tmp_path: Path) -> None:
    before = {str(path) for path in tmp_path.rglob("*")}
    assert clone.push(f":{BRANCH}", f":{TAG}")
    assert {str(path) for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("words", [["origin", "url"], []], ids=["pre-push", "pre-receive"])
def test_without_a_lineage_no_process_is_started(tmp_path: Path, words: list[str]) -> None:
    line = f"refs/heads/main {'1' * 40} refs/heads/main {'2' * 40}\n"
    line = line if words else f"{'1' * 40} {'2' * 40} refs/heads/main\n"
    done = subprocess.run(
        ["/bin/sh", CLIENT, *words],
        input=line * 1000,
        text=True,
        env={"PATH": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    assert done.stdout == done.stderr == ""


@pytest.mark.parametrize("hook", [CLIENT, SERVER])
def test_the_hook_can_be_run(hook: Path) -> None:
    assert os.access(hook, os.X_OK)
