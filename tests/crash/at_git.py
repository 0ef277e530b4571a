"""Takes over at the chosen git call of a step: kills the step, which is the parent, and runs git
before that, after it, half or not at all. `STAND_HOW` says which:

before   the step dies, git never runs
after    git has run, the step dies before it hears so
orphan   the step dies; git lives on and runs when the next step may already be at work
lock     both die: git had taken its lock and done nothing yet
half     both die: git had done a part of its work and still held its lock
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

GIT, STAND = os.environ["STAND_GIT"], Path(os.environ["STAND"])
ARGUMENTS = sys.argv[1:]
ORPHANED = 0.7
"""Seconds after which an orphan does its work."""


def main() -> None:
    how, step = os.environ["STAND_HOW"], os.getppid()
    given = sys.stdin.buffer.read()
    if how == "after":
        run(given)
    if how in ("lock", "half"):
        leave_unfinished(given, half=how == "half")
    os.kill(step, signal.SIGKILL)
    if how == "orphan":
        time.sleep(ORPHANED)
        run(given)
        with (STAND / "orphans").open("a") as file:
            file.write("done\n")


def run(given: bytes, **variables: str) -> None:
    subprocess.run([GIT, *ARGUMENTS], input=given, env={**os.environ, **variables})


# --- what a killed git leaves ------------------------------------------------------------------


def leave_unfinished(given: bytes, *, half: bool) -> None:
    match command():
        case "update-ref", *rest if "--stdin" in rest:
            stdin_transaction(given.decode(), half=half)
        case "update-ref", *rest:
            ref = next(word for word in rest if word.startswith("refs/") or word.isupper())
            lock((common() if "/" in ref else git_dir()) / f"{ref}.lock")
        case "symbolic-ref", "HEAD", *_:
            lock(git_dir() / "HEAD.lock")
        case "worktree", "add", *rest:
            unfinished_worktree(Path(rest[-2]), half=half)
        case (("add" | "read-tree" | "reset"), *_):
            if half:
                without_its_index(given)
            lock(git_dir() / "index.lock")
        case _:
            raise SystemExit(f"no lock is known for {ARGUMENTS}")


def command() -> list[str]:
    words = list(ARGUMENTS)
    while words[0] == "-c":
        words = words[2:]
    return words


def git_dir() -> Path:
    return Path(os.environ["GIT_DIR"])


def common() -> Path:
    pointer = git_dir() / "commondir"
    return git_dir() / pointer.read_text().strip() if pointer.is_file() else git_dir()


def lock(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def stdin_transaction(program: str, *, half: bool) -> None:
    """git changes one ref after the other, deletions last: with `half` the first is done."""
    lines = [f"{line} ".split(" ") for line in program.splitlines()]  # a value may be left out
    changes = [words for words in lines if words[0] == "update"]
    changes += [words for words in lines if words[0] == "delete"]
    if half:
        (verb, ref, value, *_), *changes = changes
        words = [ref, value] if verb == "update" else ["-d", ref]
        subprocess.run([GIT, "update-ref", *words], check=True)
    for verb, ref, value, *_ in changes:
        path = common() / f"{ref}.lock"
        lock(path)
        path.write_text(f"{value}\n" if verb == "update" else "")


def without_its_index(given: bytes) -> None:
    """The files are written, the index is not yet renamed into place."""
    index, spare = git_dir() / "index", STAND / "spare_index"
    if index.exists():
        shutil.copyfile(index, spare)
    run(given, GIT_INDEX_FILE=str(spare))
    spare.unlink(missing_ok=True)


def unfinished_worktree(path: Path, *, half: bool) -> None:
    """Registered and locked as git does while it makes one; with `half` already with its HEAD."""
    entry = common() / "worktrees" / path.name
    entry.mkdir(parents=True)
    (entry / "locked").write_text("initializing\n")
    path.mkdir(parents=True)
    (path / ".git").write_text(f"gitdir: {entry}\n")
    (entry / "gitdir").write_text(f"{path}/.git\n")
    if half:
        (entry / "HEAD").write_text(f"{'0' * 40}\n")
        (entry / "commondir").write_text("../..\n")
        lock(entry / "HEAD.lock")


if __name__ == "__main__":
    main()
