"""A child that feeds one reader with bad input, within limits of time and memory.

    python -m tests.hostile.feed READER SEED COUNT FOLDER

First all of `tests/data/corpus/READER`, then COUNT mutations of it. What it is reading lies in
FOLDER/input: when the child dies, hangs or raises, that is the one to keep.
"""

from __future__ import annotations

import faulthandler
import json
import random
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from ouro.agents.parsers import read_reply
from ouro.agents.presets import PRESETS
from ouro.core.brief import Reply
from ouro.core.codec import decode_files, encode_lines
from ouro.core.events import Usage
from ouro.core.lineage import fold
from ouro.core.seed_advice import advice
from ouro.core.seed_file import parse_seed
from ouro.errors import DamagedLog, NewerLog, UsageProblem
from ouro.phases import BadReply, evaluate, qa, reflect, wonder
from tests.core.builders import created, log_of
from tests.hostile.mutate import mutated

DATA = Path(__file__).parents[1] / "data"
CORPUS, REPLIES, EXAMPLES = DATA / "corpus", DATA / "replies", DATA.parents[1] / "examples"
SECONDS = 10
MEMORY = 500 * 1000**2
"""Bytes, beside what the program itself takes."""


def log(data: bytes) -> None:
    try:
        events = decode_files([("000001.jsonl", data)]).events
    except (DamagedLog, NewerLog) as problem:
        one_line(problem.message)
    else:
        assert encode_lines(events) == data
        fold(events)


def seed(data: bytes) -> None:
    try:
        parsed = parse_seed(data, "seed.yaml")
    except UsageProblem as problem:
        one_line(problem.message)
    else:
        advice(parsed.seed)


def reply(data: bytes) -> None:
    """As every phase would read it."""
    lineage = fold(log_of(created()).events)
    assert lineage
    said = Reply(text=data.decode("utf-8", "replace"), usage=Usage(agent="x", model=None))
    readers: tuple[Callable[[], object], ...] = (
        lambda: wonder.facts(lineage, said),
        lambda: reflect.facts(lineage, said),
        lambda: evaluate.facts(lineage, (), said, ("ac1", "ac2"), 0.0),
        lambda: qa.facts(lineage, said),
    )
    for read in readers:
        try:
            read()
        except BadReply as problem:
            one_line(str(problem))


def client(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for preset in (None, *PRESETS.values()):
        for stdout, stderr in ((text, ""), ("", text)):
            one_line(read_reply(preset, stdout, stderr, 0).message)


def one_line(message: str) -> None:
    assert len(message.splitlines()) <= 1, message
    assert len(message) < 1000, message


def recorded() -> list[bytes]:
    """What clients really print."""
    files = sorted(REPLIES.rglob("*.json"))
    said = [json.loads(path.read_bytes()) for path in files]
    return [each[name].encode() for each in said for name in ("stdout", "stderr") if each[name]]


def main() -> None:
    reader, number, count, folder = sys.argv[1:]
    read = {"log": log, "seed": seed, "reply": reply, "client": client}[reader]
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    faulthandler.enable()
    corpus = [path.read_bytes() for path in sorted((CORPUS / reader).iterdir())]
    if reader == "client":
        corpus += recorded()
    if reader == "seed":
        corpus += [path.read_bytes() for path in sorted(EXAMPLES.glob("*.yaml"))]
    chance = random.Random(int(number))
    current = Path(folder) / "input"
    for turn in range(len(corpus) + int(count)):
        data = corpus[turn] if turn < len(corpus) else mutated(corpus, chance)
        current.write_bytes(data)
        signal.alarm(SECONDS)
        read(data)
        signal.alarm(0)
    sys.stdout.write(f"{len(corpus)} kept and {count} new inputs\n")


if __name__ == "__main__":
    main()
