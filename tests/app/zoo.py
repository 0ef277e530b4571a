"""Shapes of repositories that people have: each builds one, and says where its user stands.

What ouro must do in each of them is the same, and stands in `test_zoo.py`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.app.scripted import Project, git

Files = dict[bytes, tuple[str, bytes]]
"""Path -> (git's mode, content as it is stored)."""

SAID = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")


@dataclass(frozen=True)
class Place:
    """Where the user stands: the folder `at` of a repository. Beside what every agent does, this
    place's runs `also` in generation 1, and finds it stored as `stored`. `between` happens after
    generation 1, and may move the place."""

    project: Project
    at: Path
    env: Mapping[str, str] = field(default_factory=dict)
    also: str = ":"
    stored: Mapping[bytes, tuple[str, bytes]] = field(default_factory=dict)
    between: Callable[[Place], Place] = lambda place: place
    readme: bytes = b"A project.\n"

    def git(self, *words: str) -> str:
        return git(self.at, *words)

    @property
    def git_dir(self) -> Path:
        return Path(self.git("rev-parse", "--absolute-git-dir"))

    @property
    def common(self) -> Path:
        return (self.at / self.git("rev-parse", "--git-common-dir")).resolve()

    def files(self, revision: str) -> Files:
        """The code of a commit."""
        listed = _bytes(self.at, "ls-tree", "-r", "-z", revision).split(b"\0")[:-1]
        entries = (entry.split(b"\t", 1) for entry in listed)
        heads = {path: head.split(b" ") for head, path in entries if not path.startswith(b".ouro/")}
        blobs = _contents(self.at, [oid for _, kind, oid in heads.values() if kind == b"blob"])
        return {path: (m.decode(), blobs.get(oid, oid)) for path, (m, _, oid) in heads.items()}

    def users(self) -> dict[str, bytes]:
        """All that is the user's: files, index, HEAD, settings, stash, branches and tags."""
        found = {}
        for folder, _, names in os.walk(self.at):
            if ".git" not in Path(folder).relative_to(self.at).parts and not self._bare:
                found |= {f"{folder}/{n}": _stat(Path(folder, n)) for n in names}
        kept = (
            "index",
            "HEAD",
            "config.worktree",
            "MERGE_HEAD",
            "BISECT_LOG",
            "info/sparse-checkout",
        )
        found |= {name: _content(self.git_dir / name) for name in kept}
        shared = ("config", "refs/stash", "info/exclude", "shallow")
        found |= {name: _content(self.common / name) for name in shared}
        refs = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        ours = ("refs/heads/ooo/", "refs/tags/ooo/", "refs/ouro/")
        return found | {"refs": "\n".join(r for r in refs if not r.startswith(ours)).encode()}

    @property
    def _bare(self) -> bool:
        return self.git("rev-parse", "--is-bare-repository") == "true"


def _stat(path: Path) -> bytes:
    """Who writes a file, if only as it was, changes one of these."""
    seen = path.lstat()
    return f"{seen.st_mode} {seen.st_size} {seen.st_ino} {seen.st_mtime_ns}".encode()


def _bytes(at: Path, *words: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(["git", *words], cwd=at, input=stdin, capture_output=True, check=True)
    return done.stdout


def _contents(at: Path, ids: list[bytes]) -> dict[bytes, bytes]:
    """Object id -> content."""
    said, found = _bytes(at, "cat-file", "--batch", stdin=b"".join(i + b"\n" for i in ids)), {}
    while said:
        head, _, said = said.partition(b"\n")
        object_id, _, size = head.split(b" ")
        found[object_id], said = said[: int(size)], said[int(size) + 1 :]
    return found


def _content(path: Path) -> bytes:
    if path.is_symlink():
        return os.fsencode(path.readlink())
    return path.read_bytes() if path.is_file() else b""


Shape = Callable[[Path], Place]
SHAPES: dict[str, Shape] = {}


def shape(build: Shape) -> Shape:
    SHAPES[build.__name__] = build
    return build


def _usual(folder: Path, **how: bool) -> Place:
    project = Project(folder, **how)
    return Place(project, project.root)


def _commit(at: Path, files: Mapping[str, str], message: str = "more") -> None:
    for name, text in files.items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(text)
    git(at, "add", "-A")
    git(at, *SAID, "commit", "-qm", message)


def _program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


# --- where one stands --------------------------------------------------------------------------


@shape
def linked_worktree_of_packed_refs_in_a_hook(folder: Path) -> Place:
    """And what git exports in hooks points to where the user does not stand."""
    place = _usual(folder)
    tree = folder / "a tree"
    place.git("worktree", "add", "-q", "-b", "side", str(tree))
    place.git("pack-refs", "--all")
    env = {"GIT_DIR": str(place.at / ".git"), "GIT_INDEX_FILE": ".git/index", "GIT_PREFIX": "x/"}
    return replace(place, at=tree, env=env)


@shape
def moved_with_its_workspaces(folder: Path) -> Place:
    return replace(_usual(folder), between=lambda place: _moved(place, "repo", "repo.ouro"))


@shape
def moved_alone(folder: Path) -> Place:
    return replace(_usual(folder), between=lambda place: _moved(place, "repo"))


def _moved(place: Place, *names: str) -> Place:
    elsewhere = place.project.folder / "else where"
    elsewhere.mkdir()
    for name in names:
        (place.project.folder / name).rename(elsewhere / name)
    return replace(place, at=elsewhere / "repo")


@shape
def bare(folder: Path) -> Place:
    place = _usual(folder)
    git(folder, "clone", "-q", "--bare", str(place.at), "bare.git")
    return replace(place, at=folder / "bare.git")


@shape
def unborn_and_nobody(folder: Path) -> Place:
    return replace(_usual(folder, first_commit=False, identity=False), readme=b"")


@shape
def git_folder_elsewhere_reached_by_a_link(folder: Path) -> Place:
    place = _usual(folder)
    place.git("init", "-q", "--separate-git-dir", str(folder / "the git folder"))
    (folder / "link").symlink_to(place.at)
    return replace(place, at=folder / "link")


@shape
def core_worktree(folder: Path) -> Place:
    """The settings of the main working tree are its own, as `git sparse-checkout` makes them."""
    place = _usual(folder)
    place.git("config", "core.worktree", "../../repo")
    place.git("config", "core.bare", "false")
    return place


@shape
def settings_of_one_worktree(folder: Path) -> Place:
    place = _usual(folder)
    place.git("config", "extensions.worktreeConfig", "true")
    place.git("config", "--unset", "core.bare")
    place.git("config", "--worktree", "core.bare", "false")
    place.git("config", "--worktree", "core.worktree", str(place.at))
    return place


@shape
def path_with_spaces_newline_and_unicode(folder: Path) -> Place:
    (folder / "a \n ü '\"").mkdir()
    return _usual(folder / "a \n ü '\"")


@shape
def inside_a_submodule(folder: Path) -> Place:
    place = _usual(folder)
    around = folder / "around"
    git(folder, "init", "-q", str(around))
    git(around, *SAID, "submodule", "-q", "add", str(place.at), "inner")
    _commit(around, {})
    git(around / "inner", "config", "user.name", "Ada")
    git(around / "inner", "config", "user.email", "ada@example.org")
    return replace(place, at=around / "inner")


# --- what is under way there -------------------------------------------------------------------


@shape
def in_the_middle_of_a_merge(folder: Path) -> Place:
    return _conflict(folder, "merge", "-q", "side")


@shape
def in_the_middle_of_a_rebase(folder: Path) -> Place:
    return _conflict(folder, "rebase", "-q", "side")


def _conflict(folder: Path, *words: str) -> Place:
    place = _usual(folder)
    place.git("switch", "-qc", "side")
    _commit(place.at, {"both": "1\n"})
    place.git("switch", "-q", "main")
    _commit(place.at, {"both": "2\n"})
    subprocess.run(["git", *words], cwd=place.at, capture_output=True, check=False)
    assert "both" in place.git("diff", "--name-only", "--diff-filter=U")
    return place


@shape
def in_the_middle_of_a_bisect(folder: Path) -> Place:
    place = _usual(folder)
    for number in range(4):
        _commit(place.at, {"more": f"{number}\n"})
    place.git("bisect", "start", "HEAD", "HEAD~4")
    (place.at / "untracked").write_text("1")
    (place.at / "more").write_text("changed")
    place.git("stash", "-q")
    (place.at / "more").write_text("changed again")
    return place


# --- what is stored ----------------------------------------------------------------------------


@shape
def shallow(folder: Path) -> Place:
    place = _usual(folder)
    _commit(place.at, {"more": "1\n"})
    return _cloned(place, "--depth=1")


@shape
def partial(folder: Path) -> Place:
    place = _usual(folder)
    _commit(place.at, {"gone": "1\n", "folder/kept": "1\n"})
    (place.at / "gone").unlink()
    _commit(place.at, {"folder/late": "1\n"})
    place.git("config", "uploadpack.allowFilter", "true")
    return _cloned(place, "--filter=blob:none")


@shape
def objects_of_another(folder: Path) -> Place:
    return _cloned(_usual(folder), "--shared")


def _cloned(place: Place, *how: str) -> Place:
    source = f"file://{place.at}" if "--shared" not in how else str(place.at)
    git(place.project.folder, *SAID, "clone", "-q", *how, source, "clone")
    return replace(place, at=place.project.folder / "clone")


@shape
def replaced_and_grafted(folder: Path) -> Place:
    place = _usual(folder)
    _commit(place.at, {"more": "1\n"})
    _commit(place.at, {"more": "2\n"})
    place.git("replace", "--graft", "HEAD")
    place.git("replace", place.git("rev-parse", "HEAD:README"), _blob(place, b"other\n"))
    return place


def _blob(place: Place, content: bytes) -> str:
    return _bytes(place.at, "hash-object", "-w", "--stdin", stdin=content).decode().strip()


@shape
def many_files_and_deep_folders(folder: Path) -> Place:
    place = _usual(folder)
    names = (f"many/{n % 100}/{n}" for n in range(20_000))
    deep = "/".join(["deeper"] * 60)
    stream = [b"commit refs/heads/main\ncommitter a <a@b> 1 +0000\ndata 1\nx\n"]
    stream += [b"from refs/heads/main^0\n"]
    for name in (*names, f"{deep}/file"):
        stream.append(b"M 100644 inline %s\ndata 1\n1\n" % name.encode())
    _bytes(place.at, "fast-import", "--quiet", stdin=b"".join(stream))
    place.git("reset", "-q", "--hard")
    also = f"rm -r many/7; mkdir -p '{deep}/new'; echo 1 >'{deep}/new/file'"
    stored = {f"{deep}/new/file".encode(): ("100644", b"1\n")}
    gone = {f"many/7/{n}".encode(): ("", b"") for n in range(7, 20_000, 100)}
    return replace(place, also=also, stored=stored | gone)


@shape
def names_of_all_kinds(folder: Path) -> Place:
    place = _usual(folder)
    _commit(place.at, {"Case": "1\n", "case": "2\n", "new\nline": "1\n", "tab\t'\"\\": "1\n"})
    with open(os.fsencode(place.at) + b"/latin-\xe9", "wb") as file:  # noqa: PTH123
        file.write(b"1\n")
    _commit(place.at, {"CASE/x": "1\n"})
    also = "cp latin-* \"$(printf 'neu-\\374')\"; rm Case 'new\nline'; echo 3 >cAse; echo 4 >>case"
    stored = {
        b"neu-\xfc": ("100644", b"1\n"),
        b"Case": ("", b""),
        b"new\nline": ("", b""),
        b"cAse": ("100644", b"3\n"),
        b"case": ("100644", b"2\n4\n"),
    }
    return replace(place, also=also, stored=stored)


# --- what git makes of files -------------------------------------------------------------------


@shape
def filters_and_line_ends(folder: Path) -> Place:
    """As LFS does: what is stored is not what lies on the disk. And three ways to change text."""
    place = _usual(folder)
    place.git("config", "core.autocrlf", "true")
    place.git("config", "filter.rot.clean", "tr a-z n-za-m")
    place.git("config", "filter.rot.smudge", "tr a-z n-za-m")
    place.git("config", "filter.rot.required", "true")
    attributes = "* text=auto\n*.bin filter=rot -text\nident ident\n*.sh eol=lf\n"
    _commit(place.at, {".gitattributes": attributes, "ident": "$Id$\n", "old.bin": "abc\n"})
    for name in ("ident", "old.bin", "README"):
        (place.at / name).unlink()
    place.git("checkout", "-q", "--", ".")
    also = (
        "grep -q '^.Id: ' ident; grep -q abc old.bin; printf 'abc\\r\\n' >new.bin; "
        "printf 'a\\r\\nb\\r\\n' >dos; echo more >>ident; printf 'a\\n' >unix"
    )
    stored = {
        b"new.bin": ("100644", b"nop\r\n"),
        b"dos": ("100644", b"a\nb\n"),
        b"unix": ("100644", b"a\n"),
        b"ident": ("100644", b"$Id$\nmore\n"),
    }
    return replace(place, also=also, stored=stored)


@shape
def sparse_by_folders(folder: Path) -> Place:
    return _sparse(folder, "--cone")


@shape
def sparse_by_patterns(folder: Path) -> Place:
    return _sparse(folder, "--no-cone", "/*", "!/outside/")


def _sparse(folder: Path, *how: str) -> Place:
    """The agent writes inside and outside of what is checked out."""
    place = _usual(folder)
    _commit(place.at, {"inside/a": "1\n", "outside/a": "1\n", "outside/b/c": "1\n"})
    place.git("sparse-checkout", "set", *how, *(["inside"] if "--cone" in how else []))
    assert not (place.at / "outside").exists()
    also = "echo 2 >inside/new; mkdir -p outside/b; echo 2 >outside/new; echo 2 >outside/b/c"
    stored = {
        b"inside/new": ("100644", b"2\n"),
        b"outside/new": ("100644", b"2\n"),
        b"outside/b/c": ("100644", b"2\n"),
    }

    def made_again(place: Place) -> Place:
        shutil.rmtree(place.project.workspace)
        return place

    return replace(place, also=also, stored=stored, between=made_again)


@shape
def with_a_submodule_and_repositories_in_it(folder: Path) -> Place:
    """The agent makes more of them, with commits and without."""
    place = _usual(folder)
    sub = folder / "sub"
    git(folder, "init", "-q", str(sub))
    _commit(sub, {"s": "1\n"})
    place.git(*SAID, "submodule", "-q", "add", str(sub), "sub")
    _commit(place.at, {})
    (place.at / "mine").mkdir()
    git(place.at / "mine", "init", "-q")
    made = "git init -q with; echo 1 >with/f; git -C with add .; " + " ".join(
        ["git -C with", *SAID, "commit -qm x;", "git init -q without; echo 1 >without/f"]
    )
    return replace(place, also=made)


# --- settings and what else a user has ---------------------------------------------------------


@shape
def signing_and_hooks_that_fail(folder: Path) -> Place:
    """They are for the user's commits: ouro's are not signed, and run no hook."""
    place = _usual(folder)
    no = _program(folder / "no", '#!/bin/sh\ntouch "${0%/*}/called"; exit 1\n')
    hooks = folder / "hooks"
    hooks.mkdir()
    names = (
        "pre-commit commit-msg post-checkout post-index-change reference-transaction post-commit"
    )
    for name in names.split():
        (hooks / name).symlink_to(no)
    place.git("config", "core.hooksPath", str(hooks))
    place.git("config", "gpg.program", str(no))
    for key in ("commit.gpgSign", "tag.gpgSign", "tag.forceSignAnnotated"):
        place.git("config", key, "true")
    return place


@shape
def settings_of_somebody_with_opinions(folder: Path) -> Place:
    place = _usual(folder)
    _commit(place.at, {"sub folder/x": "1\n"})
    for setting in OPINIONS.split():
        key, _, value = setting.partition("=")
        place.git("config", key, value)
    place.git("update-index", "--split-index", "--untracked-cache", "--index-version", "4")
    return place


OPINIONS = """
color.ui=always color.diff=always status.showUntrackedFiles=no status.relativePaths=true
status.short=true status.branch=true diff.noprefix=true diff.external=false diff.renames=copies
diff.ignoreSubmodules=all diff.orderFile=/dev/null log.showSignature=true log.decorate=full
core.splitIndex=true core.untrackedCache=true index.version=4 feature.manyFiles=true
core.logAllRefUpdates=false core.checkStat=minimal core.trustctime=false core.abbrev=4
core.commentChar=% core.pager=false core.editor=false core.preloadIndex=true
submodule.recurse=true fetch.prune=true fetch.fsckObjects=true transfer.fsckObjects=true
transfer.hideRefs=refs/ouro receive.denyCurrentBranch=refuse gc.pruneExpire=now gc.auto=1
gc.worktreePruneExpire=now gc.reflogExpire=now extensions.worktreeConfig=true
worktree.guessRemote=true checkout.guess=false commit.cleanup=strip commit.status=true
i18n.commitEncoding=ISO-8859-1 i18n.logOutputEncoding=ISO-8859-1 log.date=relative
tag.sort=-version:refname branch.sort=-committerdate versionsort.suffix=-rc merge.ff=only
core.precomposeUnicode=false core.protectHFS=true core.protectNTFS=true core.looseCompression=0
safe.bareRepository=explicit advice.detachedHead=false pack.threads=1
core.sparseCheckoutCone=true rerere.enabled=true core.quotePath=true
"""


# --- what they all do --------------------------------------------------------------------------

FIRST = """
test -f README && echo changed >>README
printf 'one\\n' >made; mkdir -p 'a b'; echo 1 >'a b/ü'; printf '#!/bin/sh\\n' >run.sh
chmod +x run.sh; ln -s made link; ln -s made other; echo 1 >dropped; mkdir turns; echo 1 >turns/x
"""
SECOND = """
echo two >>made; rm dropped other; chmod -x run.sh; ln -sfn run.sh link; mv 'a b/ü' moved
rm -r turns; echo file >turns; mkdir other; echo 1 >other/x; echo done >ok
"""


def after_one(base: Files, place: Place) -> Files:
    """What generation 1 must hold."""
    made = {
        b"made": ("100644", b"one\n"),
        "a b/ü".encode(): ("100644", b"1\n"),
        b"run.sh": ("100755", b"#!/bin/sh\n"),
        b"link": ("120000", b"made"),
        b"other": ("120000", b"made"),
        b"dropped": ("100644", b"1\n"),
        b"turns/x": ("100644", b"1\n"),
    }
    if b"README" in base:
        made[b"README"] = ("100644", place.readme + b"changed\n")
    whole = base | made | dict(place.stored)
    return {path: entry for path, entry in whole.items() if entry[0]}


def after_two(one: Files) -> Files:
    gone = {b"dropped", b"other", b"turns/x", "a b/ü".encode()}
    return {path: entry for path, entry in one.items() if path not in gone} | {
        b"made": ("100644", b"one\ntwo\n"),
        b"run.sh": ("100644", b"#!/bin/sh\n"),
        b"link": ("120000", b"run.sh"),
        b"moved": ("100644", b"1\n"),
        b"turns": ("100644", b"file\n"),
        b"other/x": ("100644", b"1\n"),
        b"ok": ("100644", b"done\n"),
    }
