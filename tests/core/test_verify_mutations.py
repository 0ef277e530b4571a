"""Histories that were honest, with one thing in them changed by chance: every change is found."""

import random

import pytest

from ouro.core.verify.history import Commit, LogFile, TagRef
from ouro.core.verify.walk import verify
from ouro.git import history
from tests.honest import Honest, Plain, plain


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[Plain]:
    """Some honest histories, each of which ends with a generation's tag."""
    folder, found = tmp_path_factory.mktemp("honest"), []
    for number in range(200, 212):
        lived = Honest(folder, number, f"x{number}").live(14).publish()
        read = plain(history.whole(history.Objects(lived.repo), lived.tip, lived.id))
        tags = read.tags or ()
        newest = max(i for i, c in enumerate(read.commits) if any(c.id == t.commit for t in tags))
        found.append(read._replace(commits=read.commits[: newest + 1]))
    return [each for each in found if clean(each)]


def clean(story: Plain) -> bool:
    found = verify(story)
    return not found.findings and not found.unknown


class Liar:
    """Changes one thing of `story`; what it makes is not what it was."""

    def __init__(self, story: Plain, seed: int) -> None:
        self.story = story
        self.chance = random.Random(seed)
        self.blobs = dict(story.blobs)
        self.commits = list(story.commits)

    def lie(self) -> Plain:
        kinds = [self.log, self.log, self.log, self.one_log, self.code, self.drop, self.tag]
        return self.chance.choice(kinds)()

    def made(self, **more: object) -> Plain:
        return self.story._replace(commits=tuple(self.commits), blobs=self.blobs)._replace(**more)

    # --- the log's bytes

    def log(self, most: int | None = None) -> Plain:
        """From one commit on, of the first `most`, the log holds a change; ids follow from
        content."""
        at, old = self._somewhere(most)
        new = self._changed(old)
        for index in range(at, len(self.commits)):
            self._put(index, old, new)
        self._rename(at)
        return self.made()

    def one_log(self) -> Plain:
        """One commit's log holds a change, those after it do not."""
        at, old = self._somewhere(None)
        self._put(at, old, self._changed(old))
        self._rename(at)
        return self.made()

    def _somewhere(self, most: int | None) -> tuple[int, bytes]:
        at = self.chance.randrange(most or len(self.commits))
        return at, self.blobs[self.commits[at].logs[0].files[-1].blob]

    def _put(self, index: int, old: bytes, new: bytes) -> None:
        commit = self.commits[index]
        folder = commit.logs[0]
        files = list(folder.files)
        content = self.blobs[files[-1].blob]
        if not content.startswith(old):
            return
        name = f"lie {index}"
        self.blobs[name] = new + content[len(old) :]
        files[-1] = LogFile(files[-1].name, name)
        self.commits[index] = commit._replace(logs=(folder._replace(files=tuple(files)),))

    def _changed(self, content: bytes) -> bytes:
        chance, lines = self.chance, content.split(b"\n")[:-1]
        at = chance.randrange(len(lines))
        match chance.randrange(7):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[at])
            case 2:
                other = chance.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                return content[: chance.randrange(len(content))]
            case 4:
                return content.replace(b"\n", b"\r\n")
            case 5:
                return b"\xef\xbb\xbf" + content
            case _:
                where = chance.randrange(len(content))
                flipped = bytes([content[where] ^ (1 << chance.randrange(7))])
                return content[:where] + flipped + content[where + 1 :]
        changed = b"".join(line + b"\n" for line in lines)
        return changed if changed != content else content + b"\n"

    def _rename(self, at: int) -> None:
        """A commit's id is that of all it holds: what is changed has another, and so have those
        that stand on it."""
        for index in range(at, len(self.commits)):
            commit = self.commits[index]
            parents = commit.parents
            if index and index > at:
                parents = (self.commits[index - 1].id, *parents[1:])
            self.commits[index] = commit._replace(id=f"{index:040}", parents=parents)

    # --- code, commits, refs

    def code(self) -> Plain:
        at = self.chance.randrange(len(self.commits))
        self.commits[at] = self.commits[at]._replace(code="1e" * 20)
        self._rename(at)
        return self.made()

    def drop(self) -> Plain:
        """One commit is gone, or the branch names an earlier one."""
        at = self.chance.randrange(len(self.commits))
        if self.chance.random() < 0.5:
            below: Commit | None = self.commits[at - 1] if at else None
            del self.commits[at:]
            return self.made() if below else self.made(commits=())
        del self.commits[at]
        if at < len(self.commits):
            first = self.commits[at]
            under = self.commits[at - 1].id if at else first.parents[0]
            self.commits[at] = first._replace(parents=(under, *first.parents[1:]))
            self._rename(at)
        return self.made()

    def tag(self) -> Plain:
        tags = list(self.story.tags or ())
        at = self.chance.randrange(len(tags))
        tag = tags[at]
        others = [c.id for c in self.commits if c.id != tag.commit]
        match self.chance.randrange(3):
            case 0:
                tags[at] = tag._replace(commit=self.chance.choice(others), target="another")
            case 1:
                tags[at] = TagRef(tag.name, tag.commit or "", tag.commit, None)
            case _:
                told = (tag.message or "").replace('"generation":', '"generation":1')
                name = tag.name if "/" not in tag.name else "gen_99"
                tags[at] = tag._replace(name=name, message=told, target="another")
        return self.made(tags=tuple(tags))


def lies(honest: list[Plain], seeds: range) -> None:
    for seed in seeds:
        story = honest[seed % len(honest)]
        assert not clean(Liar(story, seed).lie()), seed


def test_most_histories_serve(honest: list[Plain]) -> None:
    assert len(honest) >= 6


@pytest.mark.parametrize("hundred", range(10))
def test_a_thousand_lies_are_found(honest: list[Plain], hundred: int) -> None:
    lies(honest, range(hundred * 100, hundred * 100 + 100))


def test_of_what_other_lines_stand_on_the_log_alone_tells(honest: list[Plain]) -> None:
    """Where there are no tags; the last line of all is vouched for by nobody."""
    for seed in range(300):
        story = honest[seed % len(honest)]._replace(tags=None)
        last = story.commits[-1].logs
        before_last = sum(commit.logs != last for commit in story.commits)
        assert not clean(Liar(story, seed).log(before_last)), seed


@pytest.mark.slow
def test_many_more_lies_are_found(honest: list[Plain]) -> None:
    lies(honest, range(10_000, 40_000))
