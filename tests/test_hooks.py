"""hooks/pre-push, in a real clone that pushes to a real bare remote."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

HOOK = Path(__file__).parents[1] / "hooks" / "pre-push"
BRANCH = "refs/heads/ooo/one"
TAG = "refs/tags/ooo/one/gen_1"


@dataclass
class Clone:
    folder: Path

    def git(self, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "gc.auto=0", *args],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            check=check,
            capture_output=True,
            text=True,
        )

    def commit(self, parent: str | None = None, text: str = "x") -> str:
        tree = self.git("mktree").stdout.strip()
        parents = ["-p", parent] if parent else []
        return self.git("commit-tree", tree, *parents, "-m", text).stdout.strip()

    def tag(self, name: str, commit: str, text: str = "{}") -> None:
        self.git("tag", "-f", "-a", "-m", text, name, commit)

    def push(self, *refspecs: str) -> list[str]:
        """The lines that the hook refused with; none when the push went through."""
        done = self.git("push", "-q", "origin", *refspecs, check=False)
        lines = [line for line in done.stderr.splitlines() if line.startswith("ouro: ")]
        assert bool(done.returncode) == bool(lines), done.stderr
        return lines

    def there(self, ref: str) -> str:
        return self.git("ls-remote", "origin", ref).stdout.split("\t")[0]


@pytest.fixture(params=["sha1", "sha256"])
def clone(request: pytest.FixtureRequest, tmp_path: Path) -> Clone:
    form = f"--object-format={request.param}"
    subprocess.run(["git", "init", "-q", "--bare", form, tmp_path / "remote"], check=True)
    subprocess.run(["git", "init", "-q", form, tmp_path / "clone"], check=True)
    clone = Clone(tmp_path / "clone")
    clone.git("remote", "add", "origin", str(tmp_path / "remote"))
    shutil.copy(HOOK, tmp_path / "clone" / ".git" / "hooks" / "pre-push")
    return clone


@pytest.fixture
def pushed(clone: Clone) -> str:
    """A lineage with one tagged generation, on both sides; its tip."""
    tip = clone.commit(clone.commit())
    clone.git("update-ref", BRANCH, tip)
    clone.tag("ooo/one/gen_1", tip)
    assert clone.push(BRANCH, TAG) == []
    return tip


def test_growing_is_pushed(clone: Clone, pushed: str) -> None:
    clone.git("update-ref", BRANCH, clone.commit(pushed))
    clone.tag("ooo/one/gen_2", BRANCH)
    assert clone.push(BRANCH, TAG, "refs/tags/ooo/one/gen_2") == []


def test_deleting_a_lineage_is_refused(clone: Clone, pushed: str) -> None:
    [line] = clone.push(f":{BRANCH}")
    assert line.startswith(f"ouro: {BRANCH}: not pushed to origin: this would delete the lineage")
    assert "--no-verify" in line
    assert clone.there(BRANCH) == pushed


def test_deleting_a_generation_is_refused(clone: Clone, pushed: str) -> None:
    [line] = clone.push(f":{TAG}")
    assert line.startswith(f"ouro: {TAG}: ")
    assert clone.there(TAG)


@pytest.mark.parametrize("back", [True, False], ids=["back", "sideways"])
def test_dropping_generations_is_refused(clone: Clone, pushed: str, back: bool) -> None:
    other = f"{pushed}~1" if back else clone.commit(f"{pushed}~1", "another")
    clone.git("update-ref", BRANCH, other)
    [line] = clone.push(f"+{BRANCH}")
    assert line.startswith(f"ouro: {BRANCH}: ")
    assert "another branch name" in line
    assert clone.there(BRANCH) == pushed


def test_what_the_remote_has_alone_is_to_be_fetched_first(clone: Clone, tmp_path: Path) -> None:
    form = clone.git("rev-parse", "--show-object-format").stdout.strip()
    subprocess.run(
        ["git", "init", "-q", f"--object-format={form}", tmp_path / "elsewhere"], check=True
    )
    elsewhere = Clone(tmp_path / "elsewhere")
    elsewhere.git("remote", "add", "origin", str(tmp_path / "remote"))
    elsewhere.git("update-ref", BRANCH, elsewhere.commit(text="theirs"))
    assert elsewhere.push(BRANCH) == []
    clone.git("update-ref", BRANCH, clone.commit(text="ours"))
    [line] = clone.push(f"+{BRANCH}")
    assert line.endswith("run: git fetch origin")


def test_moving_a_generation_is_refused(clone: Clone, pushed: str) -> None:
    old = clone.there(TAG)
    clone.tag("ooo/one/gen_1", pushed, text="another object, the same commit")
    [line] = clone.push(f"+{TAG}")
    assert line.startswith(f"ouro: {TAG}: ")
    assert clone.there(TAG) == old


def test_a_generation_that_a_jump_archived_may_move_and_go(clone: Clone, pushed: str) -> None:
    clone.tag("ooo/one/gen_2", pushed, text="two")
    assert clone.push("refs/tags/ooo/one/gen_2") == []
    for n in (1, 2):
        kept = f"refs/tags/ooo/one/rewound_1/gen_{n}"
        clone.git("update-ref", kept, f"refs/tags/ooo/one/gen_{n}")
        assert clone.push(kept) == []
    clone.tag("ooo/one/gen_1", pushed, text="the new first")
    assert clone.push(f"+{TAG}", ":refs/tags/ooo/one/gen_2") == []


def test_an_archived_generation_stays(clone: Clone, pushed: str) -> None:
    kept = "refs/tags/ooo/one/rewound_1/gen_1"
    clone.git("update-ref", kept, TAG)
    assert clone.push(kept) == []
    assert len(clone.push(f":{kept}")) == 1
    clone.tag("ooo/one/rewound_1/gen_1", pushed, text="another")
    assert len(clone.push(f"+{kept}")) == 1


def test_each_ref_gets_its_line(clone: Clone, pushed: str) -> None:
    lines = clone.push(f":{BRANCH}", f":{TAG}")
    assert sorted(line.split(": ")[1] for line in lines) == [BRANCH, TAG]


def test_a_commit_named_with_blanks(clone: Clone, pushed: str) -> None:
    assert clone.push(f"{pushed}^{{/x}}:{BRANCH}") == []
    side = clone.commit(f"{pushed}~1", "one side")
    assert len(clone.push(f"+{side}^{{/one side}}:{BRANCH}")) == 1


def test_every_other_ref_is_left_alone(clone: Clone, pushed: str) -> None:
    other = clone.commit(text="unrelated")
    refs = ["refs/heads/main", "refs/heads/oooops/x", "refs/tags/gen_1", "refs/tags/v1/ooo/gen_1"]
    for ref in (*refs, "refs/ouro/rescue/one/1"):
        assert clone.push(f"{pushed}:{ref}") == []
        assert clone.push(f"+{other}:{ref}") == []
        assert clone.push(f":{ref}") == []


def test_a_lineage_pushed_under_a_plain_name_is_no_lineage(clone: Clone, pushed: str) -> None:
    assert clone.push(f"{BRANCH}:refs/heads/mine") == []
    assert clone.push(f"+{pushed}~1:refs/heads/mine") == []


def test_without_a_lineage_no_process_is_started(tmp_path: Path) -> None:
    lines = f"refs/heads/main {'1' * 40} refs/heads/main {'2' * 40}\n" * 1000
    done = subprocess.run(
        ["/bin/sh", HOOK, "origin", "url"],
        input=lines,
        text=True,
        env={"PATH": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    assert done.stdout == done.stderr == ""


def test_the_hook_can_be_run() -> None:
    assert os.access(HOOK, os.X_OK)
