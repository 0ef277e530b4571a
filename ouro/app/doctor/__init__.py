"""Looking a repository over: what is well, what to know, what is wrong and who can mend it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from ouro.app.session import Session
from ouro.core.ids import is_lineage_id
from ouro.errors import OuroError
from ouro.git.repository import Repo


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that was looked at. `advice` is what a person can do, `fix` what `--fix` does;
    each None where there is nothing to do."""

    level: Level
    about: str
    text: str
    advice: str | None = None
    fix: str | None = None


class Examined(Struct, frozen=True):
    """What `--fix` did, and everything that was looked at after that."""

    fixed: list[str]
    findings: list[Finding]

    @property
    def well(self) -> bool:
        return all(one.level is not Level.PROBLEM for one in self.findings)


def ok(about: str, text: str) -> Finding:
    return Finding(level=Level.OK, about=about, text=text)


def note(about: str, text: str, advice: str | None = None, fix: str | None = None) -> Finding:
    return Finding(level=Level.NOTE, about=about, text=text, advice=advice, fix=fix)


def problem(about: str, text: str, advice: str | None = None, fix: str | None = None) -> Finding:
    return Finding(level=Level.PROBLEM, about=about, text=text, advice=advice, fix=fix)


def refused(about: str, said: OuroError) -> Finding:
    """What ouro itself says no to."""
    return problem(about, said.message, said.hint or None)


def examine(place: Path, session: Callable[[str], Session], *, fix: bool = False) -> Examined:
    """Look over the machine, the repository around `place`, and its lineages; `session` makes one
    for a lineage. With `fix`, first mend of ouro's own derived things what can be mended."""
    from ouro.app.doctor import machine, repository

    findings = machine.findings()
    if any(one.about == "git" and one.level is Level.PROBLEM for one in findings):
        return Examined([], findings)
    try:
        repo = Repo(place)
    except OuroError as said:
        return Examined([], [*findings, refused("repository", said)])
    fixed, lineages = _lineages(repo, session, fix=fix)
    return Examined(fixed, [*findings, *repository.findings(repo), *lineages])


def _lineages(
    repo: Repo, session: Callable[[str], Session], *, fix: bool
) -> tuple[list[str], list[Finding]]:
    from ouro.app import history

    fixed, findings = [], []
    for name in filter(is_lineage_id, history.ids(repo)):
        try:
            mended, found = _lineage(session(name), fix=fix)
        except OuroError as said:
            mended, found = [], [refused(name, said)]
        fixed += mended
        findings += found
    return fixed, findings


def _lineage(session: Session, *, fix: bool) -> tuple[list[str], list[Finding]]:
    from ouro.app.doctor import lineage, mend

    found = lineage.findings(session)
    wanted = [one for one in found if one.fix]
    if not fix or not wanted:
        return [], found
    said = mend.mend(session)
    left = lineage.findings(session)
    fixed = [f"{one.about}: {one.fix}" for one in wanted if one not in left]
    return fixed, left + [refused(session.options.lineage_id, one) for one in said]
