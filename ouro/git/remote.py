"""A remote: what it holds, what is fetched from it, and pushing to it all or nothing.

The network is the user's: credentials, ssh, proxies, hooks and settings are what `git push` would
use. So git runs here with the user's own environment, other than everywhere else.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ouro.errors import NotNow, OuroError, UsageProblem
from ouro.git.program import DURABLY, LOCAL_VARIABLES
from ouro.git.repository import Repo

LEASES = "refs/ouro/lease/"
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_TICK = 0.05


class Unreachable(NotNow):
    """The remote did not answer, or the connection broke: what it holds is not known."""


class Refused(OuroError):
    """The remote, or a hook, did not take a push: nothing of it is there."""


class Update(NamedTuple):
    """A ref of the remote to be set to the object `new` (None: to be deleted). `old` is what it
    must name there (None: nothing yet, or, for a branch, something that `new` continues)."""

    ref: str
    new: str | None
    old: str | None = None


class Line(NamedTuple):
    """How to speak to a remote: at most `limit` seconds of silence; `person` says that somebody
    sits at a terminal, who may be asked for a passphrase; `watch` hears for how long a command has
    run and where its output lies; `stopped` says that it is to end now."""

    limit: float
    person: bool = False
    watch: Callable[[float, Path], None] = lambda _seconds, _output: None
    stopped: Callable[[], bool] = lambda: False


def choose(repo: Repo, given: str | None) -> str:
    """The name of the remote to use: `given`, else the only one, else `origin`; raises
    UsageProblem where there is none of that name."""
    names = repo.git.run("remote").decode().split()
    name = given or (names[0] if len(names) == 1 else "origin")
    if name in names:
        return name
    known = f"the remotes here: {', '.join(names)}" if names else "this repository has none"
    raise UsageProblem(f"there is no remote {name!r}", f"{known}; add one: git remote add NAME URL")


class Remote:
    """One remote of the repository, by its name."""

    def __init__(self, repo: Repo, name: str, line: Line) -> None:
        self.name = name
        self.line = line
        self._cwd = repo.main or repo.common

    def refs(self, *patterns: str) -> dict[str, str]:
        """Full name -> object id of the refs that are there, an annotated tag's commit under
        `<name>^{}`. A pattern is a full name, or ends with `/*`."""
        done = self._git("ls-remote", self.name, *patterns)
        if done.code != 0:
            raise self._unreachable(done)
        pairs = (line.split("\t") for line in done.out.splitlines())
        return {name: value for value, name in pairs if _matches(name, patterns)}

    def fetch(self, *refspecs: str, depth: int | None = None) -> None:
        """Bring what is missing for the refs named, which are then set; nothing else is."""
        deeper = [f"--depth={depth}"] if depth else []
        done = self._git(
            "fetch", "--progress", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
            "--prune", "--refmap=", *deeper, self.name, *refspecs,
        )  # fmt: skip
        if done.code != 0:
            raise self._unreachable(done)

    def push(self, updates: Sequence[Update], *, quick: bool = False) -> None:
        """Make all `updates`, or none, and look whether they are there; `quick` does without that,
        and without the user's `pre-push` hook.

        Raises Refused or Unreachable; that the reply alone was lost is no failure.
        """
        leases = [f"--force-with-lease={u.ref}:{u.old or ''}" for u in updates if _is_leased(u)]
        refspecs = [f"{u.new or ''}:{u.ref}" for u in updates]
        checks = ["--no-verify"] if quick else []
        done = self._git(
            "push", "--porcelain", "--progress", "--atomic", "--no-follow-tags", *checks, *leases,
            self.name, *refspecs,
        )  # fmt: skip
        if done.code == 0 and quick:
            return
        try:
            there = self.refs(*(update.ref for update in updates))
        except Unreachable:
            if done.code == 0:
                raise
            raise self._unreachable(done) from None
        if all(there.get(update.ref) == update.new for update in updates):
            return
        # git's own failures to connect end it with 128, whatever the language it says them in.
        if done.code != 1 or "[remote failure]" in done.out:
            raise self._unreachable(done)
        raise Refused(f"{self.name} did not take the push: {done.words}", "nothing of it is there")

    def _unreachable(self, done: _Done) -> Unreachable:
        silent = f"it said nothing for {self.line.limit:g} s"
        return Unreachable(
            f"{self.name} cannot be reached: {silent if done.ended else done.words}",
            f"nothing is lost; try: git ls-remote {self.name}",
        )

    # --- running git -------------------------------------------------------------------------

    def _git(self, *arguments: str) -> _Done:
        options = [word for setting in DURABLY for word in ("-c", setting)]
        with tempfile.TemporaryDirectory(prefix="ouro-") as folder:
            out, err = Path(folder) / "out", Path(folder) / "err"
            with out.open("wb") as to_out, err.open("wb") as to_err:
                child = subprocess.Popen(
                    ["git", *options, *arguments],
                    cwd=self._cwd,
                    env=_environment(os.environ, self.line.person),
                    stdin=None if self.line.person else subprocess.DEVNULL,
                    stdout=to_out,
                    # A person sees what git and the remote say while they say it.
                    stderr=None if self.line.person else to_err,
                    # Nobody is there to be asked: without a terminal a question fails at once.
                    start_new_session=not self.line.person,
                )
            try:
                ended = self._wait(child, out, err)
            finally:
                self._end(child)
            return _Done(child.wait(), ended, _text(out), _words(_text(err)))

    def _wait(self, child: subprocess.Popen[bytes], out: Path, err: Path) -> bool:
        """Whether it had to be ended."""
        began = grew = time.monotonic()
        size = 0
        while True:
            try:
                child.wait(timeout=_TICK)
                return False
            except subprocess.TimeoutExpired:
                now = time.monotonic()
            if (written := out.stat().st_size + err.stat().st_size) != size:
                size, grew = written, now
            if self.line.stopped() or (now - grew > self.line.limit and not self.line.person):
                return True
            self.line.watch(now - began, err)

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        """End it with all that it started, ssh and hooks; one that has ended is left alone."""
        if child.poll() is not None:
            return
        with suppress(ProcessLookupError):
            if self.line.person:
                child.terminate()
            else:
                os.killpg(child.pid, signal.SIGKILL)


class _Done(NamedTuple):
    """How git ended; `ended` says that it was made to."""

    code: int
    ended: bool
    out: str
    words: str


def _environment(base: Mapping[str, str], person: bool) -> dict[str, str]:
    """The user's own, settings in variables too, but for what git exports inside a hook."""
    settings = {"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}
    kept = {n: value for n, value in base.items() if n not in LOCAL_VARIABLES - settings}
    return kept if person else kept | {"GIT_TERMINAL_PROMPT": "0"}


def _matches(name: str, patterns: Sequence[str]) -> bool:
    """`git ls-remote` also finds what only ends like a pattern."""
    plain = name.removesuffix("^{}")
    return any(
        plain.startswith(p.removesuffix("*")) if p.endswith("/*") else plain == p for p in patterns
    )


def _is_leased(update: Update) -> bool:
    """Whether the old value is given: a branch goes without, so that only what continues it
    passes, and a new tag, so that none is replaced."""
    return update.old is not None or update.ref.startswith(LEASES)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


_CHATTER = re.compile(
    r"hint:|(remote: )?[A-Z][a-z]+( \w+)*: +\d|Total \d|Delta compression|error: failed to push"
)
"""Lines that say nothing about what was wrong: advice, progress, and that there is an error."""


def _words(err: str) -> str:
    """What git and the remote said, without progress and credentials, on one line."""
    lines = (" ".join(line.split()) for line in err.splitlines())
    said = [line for line in lines if line and not _CHATTER.match(line)]
    return _CREDENTIALS.sub("", "; ".join(said[-12:])) or "git does not say why"
