"""What is left over: found first, removed only when asked, with a reason for all that stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from ouro.app import history, recover
from ouro.app.session import Session
from ouro.core.ids import LINEAGE_RULE, branch_ref, check_lineage_id, pins_prefix, rescue_prefix
from ouro.core.lineage import Lineage
from ouro.core.moves import Ended, next_move
from ouro.core.retry import timestamp
from ouro.core.story import counted
from ouro.errors import NotNow, OuroError, UsageProblem
from ouro.git import leftovers, lock
from ouro.git.landing import landings
from ouro.git.workspace import Workspace, shown

RESCUE_AGE = 30
"""Days for which rescue refs are kept."""
_OUTPUT = re.compile(r"gen_(\d+)-")


class Item(Struct, frozen=True, kw_only=True):
    """What can go, or went. `kind` is workspace, output, rescue, state or pins; `name` a path or a
    ref; `bytes` None where it frees nothing to speak of; `note` what goes with it, or what it
    holds; `look` and `undo` are commands."""

    kind: str
    lineage_id: str
    name: str
    why: str
    bytes: int | None = None
    note: str = ""
    look: str = ""
    undo: str = ""

    def hints(self) -> list[tuple[str, str]]:
        return [("note", self.note), ("look", self.look), ("undo", self.undo)]


class Kept(Struct, frozen=True):
    kind: str
    lineage_id: str
    name: str
    why: str


class Collection(Struct, frozen=True):
    """`removed`: the items are gone; else they only can go."""

    removed: bool
    items: tuple[Item, ...]
    kept: tuple[Kept, ...]


class Found(NamedTuple):
    item: Item
    remove: Callable[[], None]


class Here(NamedTuple):
    """A lineage that is here, as gc needs it."""

    lineage: Lineage
    tip: str
    ended: bool


def collect(session: Session, lineage_ids: Sequence[str], *, yes: bool) -> Collection:
    """What of these lineages (none named: of all, also those that are gone) is left over; with
    `yes`, remove it. What a step holds is left alone.

    Raises UsageProblem where nothing is known of a lineage.
    """
    known = _known(session)
    for name in lineage_ids:
        if check_lineage_id(name) not in known:
            raise UsageProblem(
                f"there is no lineage {name} here", f"lineages here: {', '.join(known) or 'none'}"
            )
    items: list[Item] = []
    kept: list[Kept] = []
    for name in dict.fromkeys(lineage_ids or known):
        for found in _of(session, name, yes=yes):
            (items if isinstance(found, Item) else kept).append(found)  # type: ignore[arg-type]
    return Collection(yes, tuple(items), tuple(kept))


def _known(session: Session) -> list[str]:
    """Every lineage of which something is here."""
    repo = session.repo
    refs = [*repo.refs("refs/ouro/rescue/"), *repo.refs("refs/ouro/pins/")]
    states = (folder.parent.name for folder in (repo.common / "ouro").glob("*/lock"))
    named = {*history.ids(repo), *states, *(ref.split("/")[3] for ref in refs)}
    return sorted(name for name in named if LINEAGE_RULE.fullmatch(name))


def _of(session: Session, name: str, *, yes: bool) -> Iterator[Item | Kept]:
    """What of one lineage can go, or with `yes` went, and what stays."""
    state = session.repo.state_folder(name)
    try:
        if not yes and lock.is_held(state):
            raise NotNow(f"a step of {name} is at work")
        # Where there is no such folder there was no step, and none is to be made.
        with lock.hold(state, f"ooo/{name}") if yes and state.is_dir() else nullcontext():
            for found in list(_look(session, name)):
                yield _remove(found) if yes and isinstance(found, Found) else _told(found)
    except OuroError as problem:
        yield Kept("lineage", name, name, problem.message)


def _told(found: Found | Kept) -> Item | Kept:
    return found.item if isinstance(found, Found) else found


def _remove(found: Found) -> Item | Kept:
    item = found.item
    try:
        found.remove()
    except (OuroError, OSError) as problem:
        return Kept(item.kind, item.lineage_id, item.name, f"it could not be removed: {problem}")
    return item


def _look(session: Session, name: str) -> Iterator[Found | Kept]:
    if session.repo.ref(branch_ref(name)):
        here = _read(session, name)
        yield from _workspace(session, here)
        yield from _output(session, here)
        yield from _rescued(session, name, lives=True)
        return
    yield from _orphan(session, name)
    yield from _rescued(session, name, lives=False)
    yield from _pins(session, name)
    yield from _state(session, name)


def _read(session: Session, name: str) -> Here:
    stream, lineage = history.read(session.repo, name)
    assert stream.revision, "a lineage that can be read has a tip"
    move = next_move(lineage, stream.code, timestamp(session.now()))
    return Here(lineage, stream.revision, isinstance(move, Ended))


# --- workspaces --------------------------------------------------------------------------------


def _workspace(session: Session, here: Here) -> Iterator[Found | Kept]:
    from ouro.git.worktrees import find

    repo, name = session.repo, here.lineage.id
    tree = find(repo, name, session.workspace_root)
    if tree is None:
        return
    path = str(tree.root)
    if reason := _workspace_objection(session, here, tree):
        yield Kept("workspace", name, path, reason)
        return
    ignored = tree.ignored()
    tops = sorted({shown(file.split(b"/")[0]) for file in ignored})
    item = Item(
        kind="workspace",
        lineage_id=name,
        name=path,
        why=f"the lineage has ended, {_safe_elsewhere(session, here)}",
        bytes=leftovers.size(tree.root),
        note=f"{counted(len(ignored), 'ignored file')} in {recover.some(tops)}" if ignored else "",
        undo=f"git worktree add {path} ooo/{name}",
    )
    yield Found(item, lambda: leftovers.remove_worktree(repo, name, tree.root))


def _orphan(session: Session, name: str) -> Iterator[Kept]:
    """A workspace whose branch is gone: nothing says what of it is saved."""
    from ouro.git.worktrees import find

    if tree := find(session.repo, name, session.workspace_root):
        why = f"its branch is gone; look there, then: git worktree remove --force {tree.root}"
        yield Kept("workspace", name, str(tree.root), why)


def _workspace_objection(session: Session, here: Here, tree: Workspace) -> str:
    """Why a workspace has to stay, "" where it may go."""
    name = here.lineage.id
    if not tree.ours:
        return "it is a checkout of yours"
    if not here.ended:
        return "the lineage goes on"
    if session.repo.state_folder(name).joinpath("run.json").exists():
        return "a step died in it: the next step, or a rewind, cleans up"
    if doing := tree.in_progress():
        return f"it is in the middle of {doing}"
    if changed := tree.changes():
        return f"it has changes that are not committed: {recover.some(changed)}"
    if lost := leftovers.in_no_commit(session.repo, name, tree):
        return f"it holds what is in no commit: {recover.some(lost)}"
    if not _safe_elsewhere(session, here):
        return f"not pushed, and not landed: git push REMOTE ooo/{name}, or ouro land {name}"
    return ""


def _safe_elsewhere(session: Session, here: Here) -> str:
    """Where else the result is, for people; "" where it is only in the lineage's branch."""
    repo, tip = session.repo, here.tip
    holding = repo.refs_holding(tip)
    if pushed := [ref for ref in holding if ref.startswith("refs/remotes/")]:
        return f"and its tip is in {pushed[0].removeprefix('refs/remotes/')}"
    if merged := [ref for ref in holding if not ref.startswith("refs/heads/ooo/")]:
        return f"and its tip is in {merged[0].removeprefix('refs/heads/')}"
    everywhere = (
        "--exclude=ooo/*", "--branches", "--exclude=*/ooo/*", "--remotes", f"^{tip}",
    )  # fmt: skip
    code = repo.code_tree_id(tip)
    for landing in landings(repo, *everywhere):
        there = repo.has(landing.source) and repo.descends(tip, landing.source)
        if there and repo.code_tree_id(landing.source) == code:
            return f"and its code landed with {landing.commit[:12]}"
    return ""


# --- output, rescue refs, and what belongs to nobody -------------------------------------------


def _output(session: Session, here: Here) -> Iterator[Found | Kept]:
    folder = session.repo.state_folder(here.lineage.id) / "output"
    if not folder.is_dir():
        return
    numbered = [(_OUTPUT.match(path.name), path) for path in sorted(folder.iterdir())]
    newest = here.lineage.reached
    old = [p for match, p in numbered if match and (here.ended or int(match[1]) != newest)]
    name = here.lineage.id
    if len(old) < len(numbered):
        count = counted(len(numbered) - len(old), "output")
        yield Kept("output", name, str(folder), f"{count} of the newest generation")
    if old:
        why = "the lineage has ended" if here.ended else f"older than generation {newest}"
        item = Item(
            kind="output",
            lineage_id=name,
            name=str(folder),
            why=f"{counted(len(old), 'output')}, {why}",
            bytes=sum(map(leftovers.size, old)),
            note="what they led to is in the log",
        )
        yield Found(item, lambda: leftovers.remove_folders(old))


def _rescued(session: Session, name: str, *, lives: bool) -> Iterator[Found | Kept]:
    repo, now = session.repo, session.now().timestamp()
    kept = leftovers.kept_commits(repo, rescue_prefix(name))
    for saved in kept:
        days = int((now - saved.at) // 86400)
        if lives and saved is kept[-1]:
            # Events name such refs: the next one must not get a number that was used before.
            yield Kept("rescue", name, saved.ref, "the newest, after which the next is numbered")
        elif days < RESCUE_AGE:
            why = f"{counted(days, 'day')} old, kept for {RESCUE_AGE}: {saved.subject}"
            yield Kept("rescue", name, saved.ref, why)
        else:
            yield _ref(session, name, "rescue", saved, f"{days} days old: {saved.subject}")


def _pins(session: Session, name: str) -> Iterator[Found]:
    for pin in leftovers.kept_commits(session.repo, pins_prefix(name)):
        yield _ref(session, name, "pins", pin, f"of no lineage: {pin.subject}")


def _ref(session: Session, name: str, kind: str, saved: leftovers.KeptCommit, why: str) -> Found:
    item = Item(
        kind=kind,
        lineage_id=name,
        name=saved.ref,
        why=why,
        look=f"git show {saved.commit[:12]}",
        undo=f"git update-ref {saved.ref} {saved.commit}",
    )
    return Found(item, lambda: session.repo.delete_ref(saved.ref, saved.commit))


def _state(session: Session, name: str) -> Iterator[Found | Kept]:
    """The state folder of a lineage that is gone."""
    folder = session.repo.state_folder(name)
    if not folder.is_dir():
        return
    marker = folder / "run.json"
    if marker.exists():
        why = f"a step died there: see that nothing of it runs any more, then remove {marker.name}"
        yield Kept("state", name, str(folder), why)
        return
    waiting = list((folder / "notes").glob("*.txt"))
    item = Item(
        kind="state",
        lineage_id=name,
        name=str(folder),
        why="of no lineage",
        bytes=leftovers.size(folder),
        note=f"{counted(len(waiting), 'note')} that no step has read" if waiting else "",
    )
    yield Found(item, lambda: leftovers.remove_folders([Path(folder)]))
