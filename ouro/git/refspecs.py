"""Which refs are a lineage: at a remote, and on their way from there."""

from __future__ import annotations

from typing import NamedTuple

from ouro.core.ids import LINEAGE_RULE, branch_ref, hidden_ref, lease_ref
from ouro.git.remote import Remote
from ouro.git.repository import OURO_FOLDER, Repo

BRANCHES, TAGS = "refs/heads/ooo/", "refs/tags/"
WHOLE = 2**31 - 2
"""A depth that is the whole history. git's own word for that, `--unshallow`, means every branch."""


class There(NamedTuple):
    """A lineage at a remote, by its refs. `tags` has the tag objects (name without `refs/tags/`),
    `commits` what they name; None is what is not there."""

    branch: str | None
    tags: dict[str, str]
    commits: dict[str, str]
    hidden: str | None
    lease: str | None


class Fetched(NamedTuple):
    """What was fetched of a lineage: its objects are here, and no ref of ours names them yet."""

    branch: str
    tags: dict[str, str]
    hidden: str | None


def look(remote: Remote, lineage_id: str) -> There:
    """One lineage as `remote` has it now."""
    refs = remote.refs(
        branch_ref(lineage_id),
        f"{TAGS}ooo/{lineage_id}/*",
        hidden_ref(lineage_id),
        lease_ref(lineage_id),
    )
    return _there(lineage_id, refs)


def look_at_all(remote: Remote) -> dict[str, There]:
    """Every lineage that `remote` has, by its id."""
    refs = remote.refs(f"{BRANCHES}*", f"{TAGS}ooo/*", "refs/ouro/hidden/*", "refs/ouro/lease/*")
    names = (ref.removeprefix(BRANCHES) for ref in refs if ref.startswith(BRANCHES))
    return {name: _there(name, refs) for name in sorted(names) if LINEAGE_RULE.fullmatch(name)}


def _there(lineage_id: str, refs: dict[str, str]) -> There:
    prefix = f"{TAGS}ooo/{lineage_id}/"
    own = {n.removeprefix(TAGS): value for n, value in refs.items() if n.startswith(prefix)}
    tags = {name: value for name, value in own.items() if not name.endswith("^{}")}
    return There(
        branch=refs.get(branch_ref(lineage_id)),
        tags=tags,
        commits={name: own.get(f"{name}^{{}}", value) for name, value in tags.items()},
        hidden=refs.get(hidden_ref(lineage_id)),
        lease=refs.get(lease_ref(lineage_id)),
    )


def fetch(repo: Repo, remote: Remote, lineage_id: str, there: There) -> Fetched:
    """Fetch a lineage that is `there`, and only that: into a clone of depth 1 comes the history
    since the lineage's base, where that is the commit which was cloned, else all of the base's."""
    staging = f"refs/ouro/fetched/{lineage_id}/"
    tracking = f"refs/remotes/{remote.name}/ooo/{lineage_id}"
    wanted = [
        f"+{branch_ref(lineage_id)}:{tracking}",
        f"+{TAGS}ooo/{lineage_id}/*:{staging}tags/*",
    ]
    if there.hidden:
        wanted.append(f"+{hidden_ref(lineage_id)}:{staging}hidden")
    remote.fetch(*wanted)
    if _is_cut(repo, tracking):
        remote.fetch(*wanted, depth=WHOLE)
    found = _taken_from(repo, staging)
    branch = repo.git.run("rev-parse", "--verify", tracking).decode().strip()
    tags = {
        f"ooo/{lineage_id}/{n.removeprefix('tags/')}": value
        for n, value in found.items()
        if n != "hidden"
    }
    return Fetched(branch, tags, found.get("hidden"))


def _taken_from(repo: Repo, staging: str) -> dict[str, str]:
    """The refs below `staging`, which are gone afterwards."""
    listed = repo.git.run("for-each-ref", "--format=%(refname) %(objectname)", staging).decode()
    refs = dict(line.split(" ") for line in listed.splitlines())
    program = "".join(f"delete {name}\n" for name in refs)
    repo.git.attempt("update-ref", "--stdin", stdin=program.encode())
    return {name.removeprefix(staging): value for name, value in refs.items()}


def _is_cut(repo: Repo, tip: str) -> bool:
    """Whether the history of a lineage ends in the middle of it, as it does where a clone of
    depth 1 was made of the lineage's own branch."""
    shallow = repo.common / "shallow"
    if not shallow.is_file():
        return False
    chain = repo.git.run("rev-list", "--first-parent", tip).decode().split()
    return chain[-1] in shallow.read_text().split() and repo.holds(chain[-1], OURO_FOLDER)
