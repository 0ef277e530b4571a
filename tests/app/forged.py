"""A real lineage taken apart into its commits, changed as a liar would, and written anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import ObjectType

from ouro.app.run import generation_tag
from ouro.core import jumps
from ouro.core.chain import extend, seal
from ouro.core.codec import decode_files, encode_lines, line_hash
from ouro.core.events import Event, Jump
from ouro.core.lineage import fold
from ouro.core.story import message

ID = "greet"
EVENTS = f".ouro/lineages/{ID}/events"
FILE = f"{EVENTS}/000001.jsonl"
WHO = pygit2.Signature("Ada", "ada@example.org", 1, 0)


@dataclass
class Step:
    """One commit: its new lines, its code, its message (None: as ouro writes it), further parents,
    and, where they are not what the lines make, the whole log's files and the folder's name."""

    lines: list[bytes]
    code: str
    message: str | None
    adopted: list[str] = field(default_factory=list)
    log: dict[str, bytes] | None = None
    folder: str = ID
    others: dict[str, bytes] = field(default_factory=dict)


class Forger:
    """Works on the bare repository `folder`; `steps` are the lineage's commits, oldest first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.handle = pygit2.Repository(str(folder))
        pygit2.settings.enable_fsync_gitdir(False)
        self.branch = f"refs/heads/ooo/{ID}"
        self.base = ""
        self.ids: list[str] = []
        self.steps: list[Step] = []
        self._take_apart()

    def _take_apart(self) -> None:
        line = [self.handle.references[self.branch].peel(pygit2.Commit)]
        while ".ouro" in line[-1].parents[0].tree:
            line.append(line[-1].parents[0])
        self.base = str(line[-1].parents[0].id)
        before = b""
        for commit in reversed(line):
            now = commit.tree[FILE].data
            assert now.startswith(before)
            adopted = [str(parent) for parent in commit.parent_ids[1:]]
            lines = now[len(before) :].splitlines()
            self.steps.append(Step(lines, self._code(commit), commit.message, adopted))
            self.ids.append(str(commit.id))
            before = now

    def _code(self, commit: pygit2.Commit) -> str:
        builder = self.handle.TreeBuilder(commit.tree)
        builder.remove(".ouro")
        return str(builder.write())

    # --- finding things

    def at(self, kind: str, number: int = 0) -> int:
        """The index of the step with the `number`th event of a type."""
        found = [
            i
            for i, s in enumerate(self.steps)
            if any(b'"%b"' % kind.encode() in x[:400] for x in s.lines)
        ]
        return found[number]

    def lines(self, until: int | None = None) -> list[bytes]:
        return [line for step in self.steps[:until] for line in step.lines]

    def events(self, until: int | None = None) -> tuple[Event, ...]:
        return decode_files([("log", _joined(self.lines(until)))]).events

    def line_of(self, kind: str, number: int = 0) -> int:
        """On which line of the log, from 1, that event stands."""
        kinds = [json.loads(line)["type"] for line in self.lines()]
        return [i for i, k in enumerate(kinds, start=1) if k == kind][number]

    # --- lying

    def change(self, kind: str, number: int, edit: Callable[[dict[str, Any]], object]) -> int:
        """Change an event, and mend the chain of all that follow; the step that holds it."""
        at, line = self.at(kind, number), self.line_of(kind, number)
        seen = 0
        for step in self.steps:
            for index, text in enumerate(step.lines):
                seen += 1
                if seen == line:
                    event = json.loads(text)
                    edit(event)
                    step.lines[index] = _encoded(event)
        self.mend()
        return at

    def mend(self) -> None:
        """Number and chain all lines anew, and make the messages fit."""
        prev, seq = "0" * 64, 0
        for step in self.steps:
            for index, text in enumerate(step.lines):
                seq += 1
                event = json.loads(text) | {"seq": seq, "prev": prev}
                step.lines[index] = _encoded(event)
                prev = line_hash(step.lines[index])
            step.message = None

    def code(self, name: str = "lie") -> str:
        """Another code tree."""
        builder = self.handle.TreeBuilder()
        builder.insert(name, self.handle.create_blob(b"x"), 0o100644)
        return str(builder.write())

    def jump(self, kind: type[Jump], to: int, **lies: Any) -> Step:
        """A further commit: a jump from the tip to the step `to`."""
        before, target = self.events(), self.events(to + 1)
        was, goes = fold(before), fold(target)
        assert was
        assert goes
        fact = jumps.jump(kind, was, self.ids[-1], goes, self.ids[to])
        fact = fact.__class__(**{n: lies.get(n, getattr(fact, n)) for n in fact.__struct_fields__})
        log = decode_files([("log", _joined(self.lines(to + 1)))])
        number = target[-1].generation
        (event,) = seal([(number, fact)], log, ID, lambda: ("9" * 26, "2026-02-01"))
        whole = encode_lines(extend(log, [event]).events)
        step = Step([], self.steps[to].code, message([event]), log={"000001.jsonl": whole})
        self.steps.append(step)
        return step

    # --- writing

    def write(self, *, tags: bool = True) -> list[str]:
        """Write all commits, move the branch and (with `tags`) make the generations' tags anew, as
        the liar would; the ids of the commits."""
        self.ids, parent, whole = [], self.base, b""
        for step in self.steps:
            whole += _joined(step.lines)
            text = step.message or message(_events(step.lines, whole))
            tree = self._tree(step, whole)
            parents = [parent, *step.adopted] if parent else []
            parent = str(self.handle.create_commit(None, WHO, WHO, text, tree, parents))
            self.ids.append(parent)
        self.handle.references.create(self.branch, parent, force=True)
        if tags:
            self._tag()
        return self.ids

    def _tree(self, step: Step, whole: bytes) -> str:
        log = {"000001.jsonl": whole} if step.log is None else step.log
        lineages = {
            step.folder: log,
            **{name: {"000001.jsonl": b} for name, b in step.others.items()},
        }
        top = self.handle.TreeBuilder(self.handle[step.code].peel(pygit2.Tree))
        inner = self.handle.TreeBuilder()
        for name, files in lineages.items():
            events, lineage = self.handle.TreeBuilder(), self.handle.TreeBuilder()
            for file, content in files.items():
                events.insert(file, self.handle.create_blob(content), 0o100644)
            lineage.insert("events", events.write(), 0o040000)
            inner.insert(name, lineage.write(), 0o040000)
        own = self.handle.TreeBuilder()
        own.insert("lineages", inner.write(), 0o040000)
        top.insert(".ouro", own.write(), 0o040000)
        return str(top.write())

    def _tag(self) -> None:
        lineage = fold(self.events())
        assert lineage
        for step, commit in zip(self.steps, self.ids, strict=True):
            for line in step.lines:
                event = json.loads(line)
                if event["type"] == "evolve_step.completed":
                    number = sum(
                        b'"evolve_step.completed"' in x
                        for x in self.lines(self.ids.index(commit) + 1)
                    )
                    self.tag(
                        f"gen_{number}", commit, generation_tag(lineage, number).message(commit)
                    )

    def tag(self, name: str, commit: str, text: str) -> None:
        """An annotated tag."""
        head = f"object {commit}\ntype commit\ntag ooo/{ID}/{name}\ntagger A <a@b.org> 1 +0000\n"
        made = self.handle.write(ObjectType.TAG, f"{head}\n{text}\n".encode())
        self.point(f"refs/tags/ooo/{ID}/{name}", str(made))

    def point(self, ref: str, target: str) -> None:
        self.handle.references.create(ref, target, force=True)

    def target(self, name: str) -> str:
        return str(self.handle.references[f"refs/tags/ooo/{ID}/{name}"].target)

    def message_of(self, name: str) -> str:
        return str(self.handle[self.target(name)].message)


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _encoded(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()


def _events(lines: list[bytes], whole: bytes) -> list[Event]:
    return list(decode_files([("log", whole)]).events[-len(lines) :]) if lines else []


def swapped(lines: list[bytes], one: int, other: int) -> list[bytes]:
    made = deepcopy(lines)
    made[one], made[other] = made[other], made[one]
    return made
