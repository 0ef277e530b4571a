"""Sparse checkouts: what an agent writes outside of what is checked out must not vanish from its
workspace, and from the eyes of the checks, once it is committed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ouro.git.program import Git

_SPECIAL = re.compile(rb"([*?\[\\!# ])")
_UNQUOTED = re.compile(rb"[^ !#-\[\]-~]")


def widen(git: Git, paths: Iterable[bytes]) -> None:
    """Check out `paths`, too, from now on; nothing where the work tree is not sparse."""
    settings = _settings(git)
    if settings.get("core.sparsecheckout") != "true":
        return
    by_folder = settings.get("core.sparsecheckoutcone") == "true"
    lines = sorted({_folder(path) if by_folder else _pattern(path) for path in paths} - {b""})
    if lines:
        stdin = b"".join(line + b"\n" for line in lines)
        git.run("sparse-checkout", "add", "--skip-checks", "--stdin", stdin=stdin)


def recall(git: Git, tip: str) -> None:
    """Widen a new work tree by all that the lineage with the commit `tip` has ever written."""
    if _settings(git).get("core.sparsecheckout") != "true":
        return
    listed = git.run(
        "log", "--first-parent", "--no-renames", "--grep=^Ouro-Lineage: ", "--diff-filter=d",
        "--format=", "--name-only", "-z", tip, "--", ":(top)", ":(top,exclude).ouro",
    )  # fmt: skip
    widen(git, [path for path in listed.split(b"\0") if path])


def _settings(git: Git) -> dict[str, str]:
    said = git.attempt("config", "--type=bool", "--get-regexp", r"^core\.sparsecheckout")
    return dict(line.split(" ") for line in said.stdout.decode().splitlines())


def _folder(path: bytes) -> bytes:
    """The folder of `path` as git reads it from a line, "" for the top, which is always there."""
    folder, _, _ = path.rpartition(b"/")
    if not _UNQUOTED.search(folder):
        return folder
    return b'"' + _UNQUOTED.sub(lambda byte: b"\\%03o" % byte[0][0], folder) + b'"'


def _pattern(path: bytes) -> bytes:
    """The pattern that fits `path` alone; a line cannot hold one for a name with a newline."""
    return b"" if b"\n" in path else b"/" + _SPECIAL.sub(rb"\\\1", path)
