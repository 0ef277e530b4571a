"""The git program: one way to run it, with nothing inherited that would point it elsewhere."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ouro.errors import GO_ON, OuroError

LOCAL_VARIABLES = frozenset(
    [
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_COUNT",
        "GIT_OBJECT_DIRECTORY",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_REPLACE_REF_BASE",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_COMMON_DIR",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_NAMESPACE",
    ]
)
"""What `git rev-parse --local-env-vars` lists: git exports these inside hooks."""

DURABLY = (
    # Written data must be on the disk before it is reported: git syncs nothing of this by default.
    "core.fsync=all",
    "core.fsyncMethod=batch",
    # Housekeeping must not run between two of our writes.
    "gc.auto=0",
    "maintenance.auto=false",
)
_SETTINGS = (
    *DURABLY,
    # The user's hooks are for the user's own commits.
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.quotePath=false",
    # A warning that some users made an error; what is staged here is what is there.
    "core.safecrlf=false",
)


inherited: set[int] = set()
"""Descriptors that every git process keeps open: a lock on them lasts until the last one ends."""


class GitFailed(OuroError):
    """The git program said no; `message` holds its own words."""

    def __init__(self, message: str) -> None:
        super().__init__(message, GO_ON)


def environment(base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """`base` without the variables that git exports inside hooks, messages in English."""
    kept = {name: value for name, value in base.items() if name not in LOCAL_VARIABLES}
    return kept | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        # Looking must not write: `git status` would refresh, and lock, the index of a checkout.
        "GIT_OPTIONAL_LOCKS": "0",
        # As libgit2 sees objects. A file with the content of another blob, which `git replace`
        # made, is changed as soon as git looks at more than its time.
        "GIT_NO_REPLACE_OBJECTS": "1",
    }


class Git:
    """Runs git on one git folder and, where there is one, one work tree."""

    def __init__(
        self, git_dir: Path, work_tree: Path | None = None, identity: tuple[str, str] | None = None
    ) -> None:
        self.git_dir = git_dir
        self.work_tree = work_tree
        self._environment = environment() | {"GIT_DIR": str(git_dir)}
        if work_tree:
            self._environment["GIT_WORK_TREE"] = str(work_tree)
        self._environment |= _named(identity)

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        settings: tuple[str, ...] = (),
        variables: Mapping[str, str] | None = None,
    ) -> bytes:
        """What git printed; raises GitFailed where it did not exit 0."""
        done = self.attempt(*arguments, stdin=stdin, settings=settings, variables=variables)
        if done.returncode != 0:
            said = " ".join(done.stderr.decode("utf-8", "replace").split())
            raise GitFailed(f"git {arguments[0]} failed: {said or f'exit {done.returncode}'}")
        return done.stdout

    def attempt(
        self,
        *arguments: str,
        stdin: bytes = b"",
        settings: tuple[str, ...] = (),
        variables: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """The finished process, whatever its exit code."""
        options = [word for setting in (*_SETTINGS, *settings) for word in ("-c", setting)]
        try:
            return subprocess.run(
                ["git", *options, *arguments],
                input=stdin,
                capture_output=True,
                cwd=self.work_tree or self.git_dir,
                env=self._environment | dict(variables or {}),
                # A Ctrl-C in the terminal must not end git between a ref and an index.
                process_group=0,
                pass_fds=tuple(inherited),
                check=False,
            )
        except FileNotFoundError as problem:
            if Path(self.work_tree or self.git_dir).is_dir():
                raise OuroError("the program git was not found", "install git 2.36 or newer") from (
                    problem
                )
            raise OuroError(f"the folder {self.work_tree or self.git_dir} is gone") from problem


def ref_names(folder: Path, pattern: str) -> list[str]:
    """The full names of the refs that fit `pattern`, in the repository around `folder`; none where
    there is no repository, or no git. Without libgit2, which takes its time to load."""
    words = ["git", "-C", str(folder), "for-each-ref", "--format=%(refname)", pattern]
    try:
        said = subprocess.run(words, env=environment(), capture_output=True, check=False)
    except OSError:
        return []
    return said.stdout.decode("utf-8", "replace").splitlines()


def commit_as_user(folder: Path, message: Path, identity: tuple[str, str] | None) -> int:
    """`git commit`, with the message in a file, in the user's checkout `folder`: with the user's
    hooks, signing and environment. `identity` is for where git knows none. The exit code."""
    kept = {name: value for name, value in os.environ.items() if name not in LOCAL_VARIABLES}
    done = subprocess.run(
        ["git", "commit", "--quiet", "-F", str(message.absolute())],
        cwd=folder,
        env=kept | _named(identity),
        # What hooks print is for people.
        stdout=2,
        check=False,
    )
    return done.returncode


def _named(identity: tuple[str, str] | None) -> dict[str, str]:
    if identity is None:
        return {}
    return {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in zip(("NAME", "EMAIL"), identity, strict=True)
    }
