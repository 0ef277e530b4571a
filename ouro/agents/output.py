"""What a program prints: files that cannot fill the disk; their end is kept, without secrets."""

import os
from collections.abc import Callable
from pathlib import Path

KEPT = 4 * 1024 * 1024
"""At most so many bytes (the last ones) of an output are kept and read back."""
ROOM = 64 * 1024 * 1024
"""Bytes of one output that may lie on the disk while its program runs."""

STREAMS = ("stdout", "stderr")
_PUNCH_HOLE, _KEEP_SIZE = 2, 1  # linux/falloc.h


def written(folder: Path) -> int:
    """Bytes that a program has printed so far."""
    return sum(path.stat().st_size for path in _files(folder))


def make_room(folder: Path) -> bool:
    """Give the disk back what a flood has put on it, but for its end. The files keep their length,
    so whoever writes goes on where it was. False where the system cannot do that."""
    return all(_punched(path) for path in _files(folder) if path.stat().st_blocks * 512 > ROOM)


def _punched(path: Path) -> bool:
    import ctypes

    with path.open("r+b") as file:
        libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(libc, "fallocate"):
            return False
        length = file.seek(0, os.SEEK_END) - KEPT
        span = (ctypes.c_int64(0), ctypes.c_int64(length))
        return bool(libc.fallocate(file.fileno(), _PUNCH_HOLE | _KEEP_SIZE, *span) == 0)


def settle_output(folder: Path, mask: Callable[[bytes], bytes]) -> None:
    """Bring what a program printed into the form in which it is kept: its end, without secrets."""
    for path in _files(folder):
        content = tail(path)
        fit = mask(content)
        if fit != content or path.stat().st_size > len(content):
            path.write_bytes(fit)


def tail(path: Path) -> bytes:
    """The end of a file; nothing where there is none: an agent may have removed it."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - KEPT))
            return file.read()
    except FileNotFoundError:
        return b""


def _files(folder: Path) -> list[Path]:
    return [folder / name for name in STREAMS if (folder / name).is_file()]
