"""The event store on git: what its commits and tags look like, and what cannot harm them."""

import os
import subprocess
import threading
import time
import zlib
from pathlib import Path

import pygit2
import pytest
from msgspec.structs import replace

from ouro.core.codec import EMPTY_LOG, encode_lines
from ouro.core.events import Action, CriterionChange, Data, NoteAdded
from ouro.core.store import Stream, Tag
from ouro.errors import ConcurrentAppend, DamagedLog, NotNow, OuroError
from ouro.git.event_store import GitEventStore
from ouro.git.repository import Repo
from tests.core.builders import (
    TWO,
    completed,
    created,
    executed,
    judged,
    reflected,
    seal_all,
    wondered,
)

REF = "refs/heads/ooo/x"
FOLDER = ".ouro/lineages/x"
LOG = f"{FOLDER}/events"


class Project:
    """A repository with one commit, which holds `files`, and the store of lineage `x` in it."""

    def __init__(self, folder: Path, files: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        for name, content in ({"README": "read me\n"} | (files or {})).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        self.git("add", "-A", "-f")
        self.git("-c", "user.name=U", "-c", "user.email=u@example.org", "commit", "-qm", "base")
        self.base = self.git("rev-parse", "HEAD")
        self.store = GitEventStore(Repo(folder), "x")

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        return self.bytes_of(*arguments, stdin=stdin).decode().strip()

    def bytes_of(self, *arguments: str, stdin: bytes | None = None) -> bytes:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, input=stdin, capture_output=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def tip(self) -> str:
        return self.git("rev-parse", REF)

    def begin(self) -> Stream:
        code = self.store._repo.code_tree(self.base)
        nothing = Stream(EMPTY_LOG, None, code)
        return self.store.append(
            nothing, seal_all([created()], lineage_id="x"), adopted=[self.base]
        )

    def add(self, *facts: Data, tag: Tag | None = None, **more: str) -> Stream:
        now = self.store.read()
        events = seal_all(facts, now.log, "x")
        return self.store.append(now, events, tag=tag, code=more.get("code"))

    def files(self, folder: str = "", revision: str = REF) -> list[str]:
        listed = self.git("ls-tree", "-r", "--name-only", revision, *([folder] if folder else []))
        return listed.splitlines()

    def blob(self, path: str, revision: str = REF) -> bytes:
        return self.bytes_of("cat-file", "blob", f"{revision}:{path}")

    def log_bytes(self) -> bytes:
        return b"".join(self.blob(name) for name in self.files(LOG))

    def commit(self, files: dict[str, bytes | None], parent: str = REF) -> str:
        """A commit on top of `parent` with `files` changed (None: gone), made by somebody else."""
        index = {"GIT_INDEX_FILE": str(self.folder / ".git" / "elsewhere")}
        who = {f"GIT_{r}_{k}": "u" for r in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")}

        def run(*words: str, stdin: bytes = b"") -> str:
            done = subprocess.run(
                ["git", *words],
                cwd=self.folder,
                env=os.environ | index | who,
                input=stdin,
                capture_output=True,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout.decode().strip()

        run("read-tree", parent)
        for name, content in files.items():
            if content is None:
                run("update-index", "--force-remove", name)
                continue
            blob = run("hash-object", "-w", "--stdin", stdin=content)
            run("update-index", "--add", "--replace", "--cacheinfo", f"100644,{blob},{name}")
        return run("commit-tree", run("write-tree"), "-p", parent, "-m", "by hand")

    def overwrite(self, files: dict[str, bytes | None]) -> None:
        """Move the branch to such a commit."""
        self.git("update-ref", REF, self.commit(files))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# --- commits


def test_one_commit_an_append_on_top_of_the_tip_that_was_read(project: Project) -> None:
    revisions = [project.begin().revision, project.add(executed(), judged(True, True)).revision]
    revisions.append(project.add(completed()).revision)
    walked = project.git("rev-list", "--first-parent", REF).splitlines()
    assert walked == [*reversed(revisions), project.base]


def test_adopted_commits_are_further_parents(project: Project) -> None:
    stream = project.begin()
    adopted = [project.commit({"a": b"a"}), project.commit({"b": b"b"})]
    events = seal_all([executed()], stream.log, "x")
    project.store.append(stream, events, adopted=adopted)
    assert project.git("rev-parse", f"{REF}^@").splitlines() == [stream.revision, *adopted]


def test_the_first_commit_of_an_empty_root_has_no_parent(project: Project) -> None:
    empty = project.store._repo.empty_tree()
    project.store.append(Stream(EMPTY_LOG, None, empty), seal_all([created()], lineage_id="x"))
    assert project.git("rev-list", "--parents", REF) == project.tip
    assert project.files() == [
        f"{FOLDER}/.gitattributes",
        f"{LOG}/000001.jsonl",
        f"{FOLDER}/seed.yaml",
    ]


def test_messages_and_trailers(project: Project) -> None:
    project.begin()
    done = replace(completed(Action.CONVERGED), similarity=0.97)
    project.add(executed(summary="all\0 there\n\nOuro-Action: continue"))
    project.add(judged(True, True), done)

    def trailer(key: str) -> list[str]:
        form = f"%(trailers:key={key},valueonly)"
        return project.git("log", "-1", f"--format={form}", REF).splitlines()

    assert trailer("Ouro-Lineage") == ["x"]
    assert trailer("Ouro-Generation") == ["1"]
    assert trailer("Ouro-Event") == ["evaluate.completed", "evolve_step.completed"]
    assert trailer("Ouro-Action") == ["converged"]
    assert trailer("Ouro-Similarity") == ["0.97"]
    keys = "%(trailers:key=Ouro-Event,valueonly)%(trailers:key=Ouro-Action,valueonly)"
    assert project.git("log", "-1", f"--format={keys}", f"{REF}^1") == "execute.completed"
    subjects = project.git("log", "--first-parent", "--format=%s", REF).splitlines()
    assert subjects == [
        "gen 1: evaluate, 2/2 passed; converged (similarity 0.97)",
        "gen 1: execute, 1 file changed (+10 −2)",
        "lineage x created: Greet people",
        "base",
    ]


def test_only_the_log_changes_unless_code_is_given(project: Project) -> None:
    project.begin()
    project.add(wondered())
    changed = ("diff-tree", "-r", "--name-only", f"{REF}^1", REF)
    assert project.git(*changed) == f"{LOG}/000001.jsonl"
    code = project.git("rev-parse", project.commit({"new.txt": b"1\r\n"}) + "^{tree}")
    project.add(
        executed(), code=project.store._repo.code_tree(project.commit({"new.txt": b"1\r\n"}))
    )
    assert project.git(*changed).splitlines() == [f"{LOG}/000001.jsonl", "new.txt"]
    assert project.blob("new.txt") == b"1\r\n"
    assert project.git("rev-parse", f"{code}:new.txt") == project.git("rev-parse", f"{REF}:new.txt")


def test_ouros_own_folder_is_the_parents(tmp_path: Path) -> None:
    """What an agent put there goes; the user's prompts and the lineage's own files stay."""
    files = {".ouro/prompts/wonder.md": "mine", ".ouro/lineages/old/events/000001.jsonl": "{}\n"}
    project = Project(tmp_path, files)
    project.begin()
    own = [
        f"{FOLDER}/.gitattributes",
        f"{LOG}/000001.jsonl",
        f"{FOLDER}/seed.yaml",
        ".ouro/prompts/wonder.md",
    ]
    assert project.files(".ouro/") == own, "a tree holds its own lineage's log only"
    tampered = project.commit(
        {
            ".ouro/prompts/wonder.md": b"agent's",
            ".ouro/more": b"",
            f"{LOG}/000001.jsonl": b"",
            "README": b"read!\n",
        }
    )
    project.add(executed(), code=project.git("rev-parse", f"{tampered}^{{tree}}"))
    assert project.files(".ouro/") == own
    assert project.blob(".ouro/prompts/wonder.md") == b"mine"
    assert project.blob("README") == b"read!\n"
    assert len(project.store.read().log.events) == 2


def test_a_file_in_the_place_of_ouros_folder_gives_way(tmp_path: Path) -> None:
    project = Project(tmp_path, {".ouro": "a plain file"})
    project.begin()
    assert f"{LOG}/000001.jsonl" in project.files()


def test_the_seed_for_people_follows_the_log(project: Project) -> None:
    project.begin()
    before = project.blob(f"{FOLDER}/seed.yaml")
    assert b"goal: Greet people" in before
    project.add(reflected(TWO))
    assert project.blob(f"{FOLDER}/seed.yaml") == before
    grown = replace(TWO, constraints=("be brief",))
    change = CriterionChange(action="note", id="ac1", description="brief")
    project.add(replace(reflected(grown), criteria=(change,)), wondered())
    assert b"be brief" in project.blob(f"{FOLDER}/seed.yaml")


def test_the_users_branch_index_and_files_are_not_touched(project: Project) -> None:
    (project.folder / "README").write_text("being edited")
    (project.folder / "staged").write_text("staged")
    project.git("add", "staged")
    before = project.git("status", "--porcelain=v2", "--branch")
    project.begin()
    project.add(executed(), tag=Tag("ooo/x/gen_1", str))
    assert project.git("status", "--porcelain=v2", "--branch") == before


# --- tags


def test_an_annotated_tag_with_the_message_made_for_its_commit(project: Project) -> None:
    project.begin()
    name = "ooo/x/gen_1"
    stream = project.add(completed(), tag=Tag(name, lambda commit: f'{{"commit":"{commit}"}}'))
    assert project.git("cat-file", "-t", f"refs/tags/{name}") == "tag"
    assert project.git("rev-parse", f"refs/tags/{name}^{{commit}}") == stream.revision
    content = project.git("for-each-ref", "--format=%(contents)", f"refs/tags/{name}")
    assert content == f'{{"commit":"{stream.revision}"}}'
    assert project.store.tagged(name) == stream.revision
    assert project.store.tagged("ooo/x/gen_2") is None
    project.git("fsck", "--strict")


def test_branch_and_tag_move_together_or_not_at_all(project: Project) -> None:
    stream = project.begin()
    project.git("update-ref", "refs/tags/ooo/x/gen_1/in_the_way", project.base)
    with pytest.raises(OuroError, match=r"refs/heads/ooo/x could not be moved: .*in_the_way"):
        project.add(completed(), tag=Tag("ooo/x/gen_1", str))
    assert project.store.read() == stream
    assert project.store.tags() == {}


def test_only_generation_tags_of_this_lineage_are_listed(project: Project) -> None:
    stream = project.begin()
    for name in ("v1", "ooo/x/rewound_1/gen_1", "ooo/xy/gen_1", "ooo/x/mine"):
        project.git("update-ref", f"refs/tags/{name}", project.base)
    assert project.store.tags() == {}
    project.git("tag", "ooo/x/gen_7", project.base)
    assert project.store.tags() == {"ooo/x/gen_7": project.base}, "one without a message too"
    assert stream.revision


def test_a_tag_that_a_crash_left_out_is_made_later(project: Project) -> None:
    project.begin()
    done, later = project.add(completed()).revision, project.add(wondered()).revision
    assert done
    assert later
    project.store.put_tag(later, Tag("ooo/x/gen_1", str), done)
    assert project.store.tags() == {"ooo/x/gen_1": done}
    project.git("tag", "-f", "ooo/x/gen_1", project.base)
    project.store.put_tag(later, Tag("ooo/x/gen_1", str), done)
    assert project.store.tags() == {"ooo/x/gen_1": done}
    assert project.tip == later


def test_the_commit_that_ends_with_an_event(project: Project) -> None:
    project.begin()
    revisions = {}
    for fact in (executed(), judged(True, False), completed(), wondered()):
        stream = project.add(fact)
        revisions[stream.log.events[-1]] = stream.revision
    both = project.add(reflected(TWO), executed())
    revisions[both.log.events[-1]] = both.revision
    tip = project.commit({"README": b"by hand, the log as it was"})
    for event, revision in revisions.items():
        assert project.store.commit_ending_with(event, tip) == revision


# --- long logs


def long_note(size: int = 20 * 1024) -> Data:
    return NoteAdded(text="x" * size)


def test_the_next_file_begins_only_with_a_generation_and_only_above_64_kib(
    project: Project,
) -> None:
    project.begin()
    project.add(*[long_note()] * 3, completed())  # about 62 KiB
    project.add(wondered())
    assert project.files(LOG) == [f"{LOG}/000001.jsonl"], "not long enough"
    project.add(*[long_note()] * 3)
    project.add(executed())
    project.add(completed())
    assert project.files(LOG) == [f"{LOG}/000001.jsonl"], "within a generation it goes on"
    sealed = project.git("rev-parse", f"{REF}:{LOG}/000001.jsonl")
    project.add(wondered())
    project.add(reflected(TWO))
    assert project.files(LOG) == [f"{LOG}/000001.jsonl", f"{LOG}/000002.jsonl"]
    assert project.git("rev-parse", f"{REF}:{LOG}/000001.jsonl") == sealed
    assert project.blob(f"{LOG}/000002.jsonl").count(b"\n") == 2
    project.add(*[long_note()] * 4, completed())
    stream = project.add(wondered())
    assert project.files(LOG)[2:] == [f"{LOG}/000003.jsonl"]
    assert project.store.read() == stream
    assert project.log_bytes() == encode_lines(stream.log.events)
    moved = project.git("log", "--first-parent", "-M1%", "--diff-filter=RD", "--format=%s", REF)
    assert moved == ""


@pytest.mark.parametrize("name", ["000001", "000002"])
@pytest.mark.parametrize("line", [0, -1])
def test_an_object_that_was_changed_under_its_id_is_found(
    project: Project, name: str, line: int
) -> None:
    project.begin()
    project.add(*[long_note()] * 4, completed())
    project.add(wondered())
    project.add(long_note(10), long_note(10))
    path = f"{LOG}/{name}.jsonl"
    lines = project.blob(path).splitlines(keepends=True)
    lines[line] = lines[line].replace(b"2", b"3", 1)
    content = b"".join(lines)
    made = project.git("rev-parse", f"{REF}:{path}")
    stored = project.folder / ".git" / "objects" / made[:2] / made[2:]
    stored.chmod(0o644)
    stored.write_bytes(zlib.compress(b"blob %d\0%b" % (len(content), content)))
    with pytest.raises((DamagedLog, pygit2.GitError)):
        project.store.read()


# --- what a repository is set to


@pytest.mark.parametrize("attributes", ["* text=auto eol=crlf\n", "* text eol=crlf filter=none\n"])
def test_line_endings_filters_and_ignores_of_the_user_do_not_reach_the_log(
    tmp_path: Path, attributes: str
) -> None:
    main = tmp_path / "main"
    main.mkdir()
    ignores = ".ouro\n*.jsonl\nevents/\n*\n"
    project = Project(main, {".gitattributes": attributes, ".gitignore": ignores})
    project.git("config", "core.autocrlf", "true")
    project.begin()
    stream = project.add(NoteAdded(text="one\ntwo\r\n"))
    wanted = encode_lines(stream.log.events)
    assert b"\r" not in wanted
    assert project.log_bytes() == wanted
    project.git("worktree", "add", "-q", str(tmp_path / "work"), "ooo/x")
    work = tmp_path / "work"
    assert (work / LOG / "000001.jsonl").read_bytes() == wanted
    assert (work / "README").read_bytes() == b"read me\r\n", "the setting is in force"
    inside = ("-C", str(work))
    project.git(*inside, "add", "--renormalize", ".")
    project.git(*inside, "add", "-u")
    assert project.git(*inside, "diff", "--cached", "--name-only", "--", ".ouro") == ""


# --- what is no log


def refused(project: Project, said: str) -> DamagedLog:
    with pytest.raises(DamagedLog, match=said) as caught:
        project.store.read()
    assert "\n" not in caught.value.message
    return caught.value


def test_a_branch_of_that_name_that_is_the_users(project: Project) -> None:
    project.git("update-ref", REF, project.base)
    problem = refused(project, r"^refs/heads/ooo/x holds no log \(\.ouro/lineages/x/events at ")
    assert "is it a branch of yours?" in problem.hint


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({f"{LOG}/000001.jsonl": None}, "holds no log"),
        ({f"{LOG}/000003.jsonl": b""}, r"files are missing or foreign: .*000003"),
        ({f"{LOG}/notes.txt": b"hello"}, r"files are missing or foreign: .*notes\.txt"),
        ({f"{LOG}/000001.jsonl": b""}, "the log of x is empty"),
        ({f"{LOG}/000001.jsonl": b"{}\n"}, r"000001\.jsonl, line 1 \(byte 0\): "),
        ({f"{LOG}/000002.jsonl": b"\n"}, r"000002\.jsonl, line 1 \(byte 0\): an empty line"),
    ],
)
def test_a_log_that_somebody_changed(
    project: Project, files: dict[str, bytes | None], said: str
) -> None:
    project.begin()
    project.overwrite(files)
    refused(project, said)


def test_a_log_whose_first_file_is_missing(project: Project) -> None:
    project.begin()
    whole = project.blob(f"{LOG}/000001.jsonl")
    project.overwrite({f"{LOG}/000001.jsonl": None, f"{LOG}/000002.jsonl": whole})
    refused(project, r"files are missing or foreign: \['000002\.jsonl'\]")


def test_the_log_of_another_lineage(project: Project) -> None:
    other = encode_lines(seal_all([created()], lineage_id="y"))
    project.git("update-ref", REF, project.commit({f"{LOG}/000001.jsonl": other}, project.base))
    refused(project, "the log of x holds lines of y")


def test_nothing_is_appended_to_a_damaged_log(project: Project) -> None:
    stream = project.begin()
    project.overwrite({f"{LOG}/000001.jsonl": b"{}\n"})
    before = project.tip
    with pytest.raises(ConcurrentAppend):
        project.store.append(stream, seal_all([executed()], stream.log, "x"))
    assert project.tip == before


# --- others at work


def test_the_branch_that_somebody_moved_meanwhile(project: Project) -> None:
    stream = project.begin()
    events = seal_all([completed()], stream.log, "x")
    project.overwrite({"README": b"by hand"})
    moved = project.tip
    with pytest.raises(ConcurrentAppend, match="refs/heads/ooo/x moved while this step worked"):
        project.store.append(stream, events, tag=Tag("ooo/x/gen_1", str))
    assert project.tip == moved
    assert project.store.tags() == {}
    project.git("update-ref", "-d", REF)
    with pytest.raises(ConcurrentAppend):
        project.store.append(stream, events)
    assert project.store.read().revision is None, "a branch that is gone is not made again"


@pytest.mark.parametrize("name", ["refs/heads/ooo/x", "refs/tags/ooo/x/gen_1"])
def test_a_lock_that_another_program_holds_is_waited_for(project: Project, name: str) -> None:
    project.begin()
    lock = project.folder / ".git" / f"{name}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    threading.Timer(0.5, lock.unlink).start()
    started = time.monotonic()
    stream = project.add(completed(), tag=Tag("ooo/x/gen_1", str))
    assert time.monotonic() - started > 0.4
    assert project.store.read() == stream
    assert project.store.tags() == {"ooo/x/gen_1": stream.revision}


def test_a_lock_that_stays_is_named_with_its_age(project: Project) -> None:
    stream = project.begin()
    lock = project.folder / ".git" / f"{REF}.lock"
    lock.touch()
    an_hour_ago = time.time() - 3600
    os.utime(lock, (an_hour_ago, an_hour_ago))
    with pytest.raises(NotNow) as caught:
        project.add(executed())
    assert caught.value.message.startswith(f"{lock} has been held for 360")
    assert "remove that file" in caught.value.hint
    assert project.store.read() == stream
    lock.unlink()
    assert len(project.add(executed()).log.events) == 2


# --- hidden checks


def test_hidden_checks_are_a_blob_that_no_tree_holds(project: Project) -> None:
    blob = project.store.put_hidden(b'{"ac1":{"verify_command":"true"}}')
    project.begin()
    assert project.git("rev-parse", "refs/ouro/hidden/x") == blob
    assert project.store.hidden(blob) == b'{"ac1":{"verify_command":"true"}}'
    held = project.git("rev-list", "--objects", "--branches", "--tags")
    assert blob not in held
    project.git("gc", "-q", "--prune=now")
    assert GitEventStore(Repo(project.folder), "x").hidden(blob) is not None


def test_a_clone_does_not_have_them(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    blob = project.store.put_hidden(b"secret")
    project.begin()
    clone = tmp_path_factory.mktemp("clone")
    project.git("clone", "-q", f"file://{project.folder}", str(clone))
    assert GitEventStore(Repo(clone), "x").hidden(blob) is None
    assert project.store.hidden(project.base) is None, "a commit is no blob"
