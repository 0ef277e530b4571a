"""The lease: which machine works on a lineage, said by a ref of the remote.

Every lease is a commit of its own, the child of the one before it, and the ref is moved by
compare-and-swap. Every push carries a new one, since a server checks only refs that a push changes:
so whoever was overtaken can push nothing any more. Clocks are never compared: a lease has expired
when it stood unchanged for its lifetime, on the watch of the one who waits.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple
from uuid import uuid4

from ouro.core.ids import lease_ref
from ouro.errors import NotNow, OuroError, Overtaken
from ouro.git.journal import sync_folder, write_durably
from ouro.git.program import Git
from ouro.git.remote import Line, Refused, Remote, Unreachable, Update
from ouro.git.repository import Repo

ROUNDS = 3
"""A lease is renewed so many times in its lifetime."""
_MOMENT = 0.5
_TRAILER = re.compile(r"^Ouro-Lease-(Owner|Run|Lifetime): (.+)$", re.MULTILINE)


class Owner(NamedTuple):
    """Who holds a lease, as its commit says: a name for people, the run's mark, and seconds."""

    name: str
    run: str
    lifetime: float


class Lease:
    """Held from `take` to `release`, meanwhile renewed by a thread. Its lifetime is as long as the
    remote may be silent."""

    def __init__(self, repo: Repo, lineage_id: str, remote: Remote) -> None:
        self.ref = lease_ref(lineage_id)
        self.lost: Overtaken | None = None
        self._repo = repo
        self._id = lineage_id
        self._remote = remote
        self._lifetime = remote.line.limit
        self._note = repo.state_folder(lineage_id) / "lease"
        self._run = uuid4().hex
        self._tree = repo.empty_tree()
        self._git = Git(repo.common, identity=repo.identity)
        self._seen: str | None = None
        self._unsure: set[str] = set()
        self._turn = threading.Lock()
        self._over = threading.Event()
        line = Line(self._lifetime / ROUNDS, stopped=self._over.is_set)
        self._background = Remote(repo, remote.name, line)
        self._renewing = threading.Thread(target=self._renew, daemon=True)

    # --- taking and giving back --------------------------------------------------------------

    def take(self, pause: Callable[[str, float], None] | None) -> None:
        """Take it, as soon as nobody holds it or its holder is silent for its lifetime. `pause`
        tells who that is and sleeps; without it NotNow is raised at once."""
        before, since = None, time.monotonic()
        while True:
            self._seen = self._remote.refs(self.ref).get(self.ref)
            owner = self._owner(self._seen)
            if self._seen != before:
                before, since = self._seen, time.monotonic()
            if owner is None or self._is_dead(owner, time.monotonic() - since):
                if self._taken():
                    return
            elif pause is None:
                raise NotNow(self._busy(owner), "wait for it with --wait")
            else:
                pause(self._busy(owner), min(5.0, owner.lifetime / 10))

    def _is_dead(self, owner: Owner, waited: float) -> bool:
        """Whether it may be overtaken: it is silent, or it is a step of this clone that died, as
        the lineage's lock, which is held here, says."""
        mine = self._note.is_file() and self._note.read_text() == owner.run
        return mine or waited > owner.lifetime

    def _taken(self) -> bool:
        write_durably(self._note, self._run.encode())
        try:
            self.push((), quick=True)
        except Overtaken:
            return False
        self._renewing.start()
        return True

    def release(self) -> None:
        """Give it back, so that nobody has to wait; raises OuroError where that is not possible."""
        self.stop()
        self._settle()
        self._remote.push([Update(self.ref, None, self._seen)], quick=True)
        self._note.unlink(missing_ok=True)
        sync_folder(self._note.parent)

    def stop(self) -> None:
        """Renew it no more."""
        self._over.set()
        if self._renewing.is_alive():
            self._renewing.join()

    # --- holding -----------------------------------------------------------------------------

    def check(self) -> None:
        """Raise Overtaken once that is known."""
        if self.lost:
            raise self.lost

    def push(self, updates: Sequence[Update], *, quick: bool = False) -> None:
        """Push `updates` together with a new lease: all of it, or nothing.

        Raises Overtaken where somebody else holds the lease now, else Refused or Unreachable.
        """
        with self._turn:
            self._send(self._remote, updates, quick=quick)

    def _renew(self) -> None:
        while not self._over.wait(self._lifetime / ROUNDS):
            try:
                with self._turn:
                    self._send(self._background, (), quick=True)
            except Overtaken as lost:
                self.lost = lost
                return
            except OuroError:
                continue  # the network is down: the work goes on, and the next try tells

    def _send(self, remote: Remote, updates: Sequence[Update], *, quick: bool) -> None:
        self.check()
        self._settle(remote)
        new = self._commit()
        self._unsure.add(new)
        try:
            remote.push([*updates, Update(self.ref, new, self._seen)], quick=quick)
        except (Refused, Unreachable):
            self._settle(remote)
            if self._seen != new:
                raise
        self._seen = new
        self._unsure.clear()

    def _settle(self, remote: Remote | None = None) -> None:
        """Find out whether pushes whose reply was lost went through."""
        if not self._unsure:
            return
        there = self._there(remote or self._remote)
        if there != self._seen and there not in self._unsure:
            who = self._holder(there)
            raise Overtaken(
                f"another machine took over {self._id} at {self._remote.name}: {who}",
                "what was done here is kept; the next step takes up what is there",
            )
        self._seen = there
        self._unsure.clear()

    def _there(self, remote: Remote) -> str | None:
        there = remote.refs(self.ref).get(self.ref)
        if there is None:
            # A repository that is being moved or unmounted shows no refs for a moment.
            time.sleep(_MOMENT)
            there = remote.refs(self.ref).get(self.ref)
        return there

    # --- its commits -------------------------------------------------------------------------

    def _commit(self) -> str:
        message = (
            f"lease of {self._id}\n\n"
            f"Ouro-Lease-Owner: {socket.gethostname()}, process {os.getpid()}\n"
            f"Ouro-Lease-Run: {self._run}\n"
            f"Ouro-Lease-Lifetime: {self._lifetime:g}\n"
            f"Ouro-Lease-Number: {uuid4().hex}\n"
        )
        parent = ["-p", self._seen] if self._seen else []
        made = self._git.run("commit-tree", self._tree, *parent, stdin=message.encode())
        return made.decode().strip()

    def _owner(self, commit: str | None) -> Owner | None:
        """What a lease says; None where there is none."""
        if commit is None:
            return None
        said = self._git.attempt("cat-file", "commit", commit)
        if said.returncode != 0:
            with suppress(Unreachable):  # it may have been given back meanwhile
                self._remote.fetch(self.ref)
            said = self._git.attempt("cat-file", "commit", commit)
        found = dict(_TRAILER.findall(said.stdout.decode("utf-8", "replace")))
        return Owner(
            found.get("Owner", "somebody"),
            found.get("Run", ""),
            _seconds(found.get("Lifetime", ""), self._lifetime),
        )

    def _holder(self, commit: str | None) -> str:
        owner = self._owner(commit)
        return owner.name if owner else "it has ended since"

    def _busy(self, owner: Owner) -> str:
        return f"{self._id} is being worked on at {self._remote.name} by {owner.name}"


def _seconds(text: str, usual: float) -> float:
    """A lifetime that a lease says, within what can be meant."""
    try:
        return min(max(float(text), 1.0), 3600.0)
    except ValueError:
        return usual
