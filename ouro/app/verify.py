"""Proving a history: which one, read, checked. Needs no lock and writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ouro.app import history
from ouro.core.verify.history import Finding, Verified
from ouro.core.verify.walk import verify
from ouro.errors import Exit, NotNow, OuroError, UsageProblem
from ouro.git import history as walked
from ouro.git.repository import Repo


def one(repo: Repo, lineage_id: str) -> Verified:
    """The whole history of a lineage, and its tags; raises OuroError where there is none."""
    tip = _tip(repo, lineage_id)
    objects = walked.Objects(repo)
    return _known(lineage_id, lambda: verify(walked.whole(objects, tip, lineage_id)))


def every(repo: Repo) -> list[Verified]:
    """The same, of every local lineage."""
    return [one(repo, lineage_id) for lineage_id in history.ids(repo)]


def only(repo: Repo) -> Verified:
    """The same, of the one lineage there is; raises UsageProblem where there is not just one."""
    names = history.ids(repo)
    if len(names) != 1:
        here = f"lineages here: {', '.join(names)}" if names else "there is no lineage here"
        raise UsageProblem(f"which lineage? {here}", "name one, or give --all")
    return one(repo, names[0])


def between(repo: Repo, old: str, new: str) -> Verified:
    """What came to a history from the revision `old` (all zeros: everything) to `new`; the state
    at `old` is trusted, and tags are not looked at. Works in a `pre-receive` hook.

    Raises UsageProblem where one of them names no commit.
    """
    objects = walked.Objects(repo)
    start = None if set(old) == {"0"} else _resolved(objects, old)
    end = _resolved(objects, new)

    def read() -> Verified:
        try:
            return verify(walked.between(objects, start, end))
        except walked.Rewritten:
            what = f"history was rewritten: {old} is not among its first parents"
            found = (Finding(commit=end, what=what),)
            return Verified(lineage_id="", commits=0, events=0, generations=0, findings=found)

    return _known("", read)


def exit_code(results: Sequence[Verified]) -> Exit:
    """One finding anywhere outweighs what could not be verified."""
    if any(one.findings for one in results):
        return Exit.ERROR
    return Exit.NOT_NOW if any(one.unknown for one in results) else Exit.OK


def _known(lineage_id: str, read: Callable[[], Verified]) -> Verified:
    try:
        return read()
    except NotNow as lacking:
        unknown = f"{lacking.message}; {lacking.hint}"
        return Verified(lineage_id=lineage_id, commits=0, events=0, generations=0, unknown=unknown)


def _resolved(objects: walked.Objects, revision: str) -> str:
    found = objects.resolve(revision)
    if found is None:
        raise UsageProblem(f"{revision!r} names no commit here", "see: git log --oneline --all")
    return found


def _tip(repo: Repo, lineage_id: str) -> str:
    """The branch, or where there is none its remote-tracking branch."""
    try:
        return history.find(repo, lineage_id).commit
    except OuroError as problem:
        # Exit code 1 says that something was found.
        raise UsageProblem(problem.message, problem.hint) from problem
