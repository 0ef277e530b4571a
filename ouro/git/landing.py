"""Merging a lineage's code into a branch of the user's, with git's own machinery.

What takes part are the code of three commits and, in all three, the target's own `.ouro/`: so the
lineage's never comes along, and the user's prompts stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ouro.core.landing import landed
from ouro.errors import OuroError
from ouro.git.program import Git, GitFailed, commit_as_user
from ouro.git.repository import OURO_FOLDER, Repo

_PLAINLY = ("--no-show-signature", "--basic-regexp")
"""Whatever the user's settings for `git log` are."""


class Sides(NamedTuple):
    """Commits whose only use is to be merged: `ours` and `theirs` are children of one that holds
    the base. `theirs` has the message of the landing."""

    ours: str
    theirs: str


class Merged(NamedTuple):
    """The tree that a merge comes to, and the paths that are in conflict there."""

    tree: str
    conflicts: tuple[bytes, ...]


class Landing(NamedTuple):
    """`commit` says in its message that it landed `source`, a commit of a lineage."""

    commit: str
    source: str


def landings(repo: Repo, *revisions: str) -> list[Landing]:
    """The landings in the history that `revisions` (as for `git log`) name, newest first."""
    listed = repo.git.run(
        "log", "-z", "--format=%H%n%B", *_PLAINLY, "--grep=^Ouro-Commit: ", *revisions
    )
    entries = (e.partition("\n") for e in listed.decode("utf-8", "replace").split("\0") if e)
    return [Landing(commit, source) for commit, _, text in entries for source in landed(text)]


def merge_bases(repo: Repo, one: str, other: str) -> list[str]:
    return repo.git.attempt("merge-base", "--all", one, other).stdout.decode().split()


def sides(repo: Repo, ours: str | None, base: str | None, theirs: str, message: str) -> Sides:
    """`ours` None: a branch without a commit; `base` None: nothing in common."""
    root = _commit(repo, _code_under(repo, base, ours), (), "base")
    tree = str(repo.commit(ours).tree.id) if ours else repo.empty_tree()
    return Sides(
        _commit(repo, tree, [root], "ours"),
        _commit(repo, _code_under(repo, theirs, ours), [root], message),
    )


def _code_under(repo: Repo, code: str | None, owner: str | None) -> str:
    """The tree with the code of one commit, and ouro's own folder as it is in another."""
    builder = repo.handle.TreeBuilder(
        repo.tree(repo.code_tree(code) if code else repo.empty_tree())
    )
    if owner and OURO_FOLDER in repo.commit(owner).tree:
        entry = repo.commit(owner).tree[OURO_FOLDER]
        builder.insert(OURO_FOLDER, entry.id, entry.filemode)
    return str(builder.write())


def merge(repo: Repo, given: Sides) -> Merged:
    """Merge in memory: no index, no files, no refs."""
    done = repo.git_here().attempt(
        "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", *given
    )
    if done.returncode == 129:
        raise OuroError("this git cannot merge without a checkout", "install git 2.38 or newer")
    if done.returncode not in (0, 1):
        raise GitFailed(f"git merge-tree failed: {_said(done.stderr)}")
    tree, *conflicts = done.stdout.split(b"\0")[:-1]
    return Merged(tree.decode(), tuple(conflicts))


def commit(repo: Repo, tree: str, parents: Sequence[str], message: str) -> str:
    """A commit by the user, signed where the user signs commits; no ref is moved."""
    said = repo.git.attempt("config", "--type=bool", "--get", "commit.gpgSign").stdout
    return _commit(repo, tree, parents, message, *(["-S"] if said.strip() == b"true" else []))


def move_branch(repo: Repo, ref: str, new: str, old: str, why: str) -> None:
    """Move a branch that is checked out nowhere; raises OuroError where it moved meanwhile."""
    done = repo.git.attempt("update-ref", "-m", why, ref, new, old)
    if done.returncode != 0:
        raise OuroError(f"{ref} was not moved: {_said(done.stderr)}", "land again")


# --- in the user's checkout --------------------------------------------------------------------


def changes(repo: Repo) -> list[bytes]:
    """Tracked files in the user's checkout that differ from its commit, staged or not."""
    listed = repo.git_here().run(
        "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no",
        "--ignore-submodules=dirty",
    )  # fmt: skip
    return [entry[3:] for entry in listed.split(b"\0") if entry]


def holds_exactly(repo: Repo, tree: str) -> bool:
    """Whether the index of the user's checkout is `tree`, and its files are the index's."""
    git = repo.git_here()
    staged = git.attempt("diff-index", "--cached", "--quiet", tree)
    return staged.returncode == 0 and git.attempt("diff", "--quiet").returncode == 0


def apply(repo: Repo, given: Sides, parent: str | None) -> tuple[bytes, ...]:
    """Merge in the user's checkout, without a commit yet: index and files as git leaves them; the
    paths in conflict. `parent` is to be the second parent of the commit that follows.

    What git goes by then waits in its folder: the message, and in a conflict or with `parent` what
    tells it what it is in the middle of, so that `git status` names the ways on and back.
    """
    git = repo.git_here()
    done = git.attempt("cherry-pick", "--no-commit", given.theirs)
    listed = git.run("diff", "--name-only", "--diff-filter=U", "-z")
    conflicts = tuple(dict.fromkeys(listed.split(b"\0")[:-1]))
    if done.returncode != 0 and not conflicts:
        raise GitFailed(f"git did not merge in {repo.here}: {_said(done.stderr)}")
    if parent:
        # Else git would leave out the first parent where the second descends from it.
        (repo.git_dir / "MERGE_MODE").write_text("no-ff")
        (repo.git_dir / "MERGE_HEAD").write_text(f"{parent}\n")  # a file in every ref format
    elif conflicts:
        git.run("update-ref", "CHERRY_PICK_HEAD", given.theirs)
    return conflicts


def commit_staged(repo: Repo) -> str | None:
    """Commit what is staged with the message that waits, as the user; None where a hook, or
    signing, refused. What those print goes to stderr."""
    assert repo.here, "a merge is committed where it was made"
    identity = repo.identity if repo.anonymous else None
    if commit_as_user(repo.here, repo.git_dir / "MERGE_MSG", identity) != 0:
        return None
    return repo.git_here().run("rev-parse", "HEAD").decode().strip()


def _commit(repo: Repo, tree: str, parents: Sequence[str], message: str, *options: str) -> str:
    git = Git(repo.common, identity=repo.identity) if repo.anonymous else repo.git
    words = [word for parent in parents for word in ("-p", parent)]
    made = git.run("commit-tree", *options, *words, "-F", "-", tree, stdin=message.encode())
    return made.decode().strip()


def _said(stderr: bytes) -> str:
    return " ".join(_lines(stderr))


def _lines(stderr: bytes) -> Iterator[str]:
    for line in stderr.decode("utf-8", "replace").splitlines():
        if not line.startswith("hint:"):
            yield line.strip()
