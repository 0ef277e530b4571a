"""How a log's files grew: byte for byte what was there, and lines at the end."""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from ouro.core.codec import DamagedLine, Place
from ouro.core.verify.history import Folder, LogFile

Read = Callable[[str], bytes]
"""The bytes of a blob, by its id."""


class Growth(NamedTuple):
    """`content` is what is new, from `start` on; `rolled` where it began a file of its own."""

    start: Place
    content: bytes
    rolled: bool


def growth(old: Sequence[LogFile], new: Folder, read: Read) -> Growth:
    """What `new` adds to the files `old`; raises DamagedLine where it is not all still there."""
    _check_names(new)
    if len(new.files) < len(old):
        raise DamagedLine(Place(f"{new.path}/{old[len(new.files)].name}", 1, 0), "the file is gone")
    if len(new.files) > len(old) + 1:
        raise DamagedLine(_top(new, len(old) + 1), "more than one new file in one commit")
    rolled = len(new.files) > len(old)
    sealed = old if rolled else old[:-1]
    for index, before in enumerate(sealed):
        if new.files[index].blob != before.blob:
            raise _changed(new, index, read(before.blob), read(new.files[index].blob))
    if rolled:
        return Growth(_top(new, len(old)), read(new.files[-1].blob), True)
    return _appended(old[-1], new, read)


def _check_names(new: Folder) -> None:
    for number, file in enumerate(new.files, start=1):
        if file.name != f"{number:06}.jsonl":
            what = f"files are gone or foreign: {number:06}.jsonl must be here"
            raise DamagedLine(_top(new, number - 1), what)
        if not file.plain:
            raise DamagedLine(_top(new, number - 1), "it is no plain file")


def _appended(before: LogFile, new: Folder, read: Read) -> Growth:
    index = len(new.files) - 1
    old, now = read(before.blob), read(new.files[-1].blob)
    if not now.startswith(old):
        raise _changed(new, index, old, now)
    start = Place(_top(new, index).file, old.count(b"\n") + 1, len(old))
    return Growth(start, now[len(old) :], False)


def _changed(new: Folder, index: int, old: bytes, now: bytes) -> DamagedLine:
    """Where `now` first differs from `old`, of which it does not hold everything."""
    pairs = enumerate(zip_longest(old.split(b"\n"), now.split(b"\n")), start=1)
    line, (was, found) = next((n, pair) for n, pair in pairs if pair[0] != pair[1])
    what = "a line that was committed before is changed"
    if not found:
        what = "lines that were committed before are gone"
    elif not was:
        what = "a line was added to a file that others follow"
    return DamagedLine(Place(_top(new, index).file, line, 0), what)


def _top(new: Folder, index: int) -> Place:
    return Place(f"{new.path}/{new.files[index].name}", 1, 0)
