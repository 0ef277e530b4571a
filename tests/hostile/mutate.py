"""Bytes made worse: by chance, but with words that readers of JSON and YAML stumble over."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

WORDS: tuple[bytes, ...] = (
    b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"\\udfff\\ud800", b"\x00", b"\xff", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\x85", b"\r", b"\n", b"\r\n", b"\t", b" ", b"{", b"}",
    b"[", b"]", b":", b",", b"{}", b"[]", b"null", b"true", b"NaN", b"Infinity", b"-0", b"1e999",
    b"1e-999", b"-1", b"0.1", b"9" * 400, b"1" + b"0" * 5000, b"```json\n", b"```", b"````", b"~~~",
    b"---\n", b"...\n", b"- ", b"? ", b": ", b"!!binary ", b"!!python/object:os.system ", b"!!set ",
    b"&a ", b"*a", b"<<: *a", b"|\n ", b">-\n ", b"%YAML 9.9\n", b"#", b"@", b"<<<<<<<", b">>>>>>>",
    b'"type":', b'"v":2', b'"seq":0', b'"data":{}', b'"prev":""', b'"id":"ac1"', b"..", b"/",
    b"goal: ", b"acceptance_criteria:", b"ontology_schema:", b"fields:", b"timeout: ", b"hidden: ",
    b"expected_artifacts: ", b"verify_command: ", b'"score":', b'"passed":', b'"criteria":',
    b'"ontology_mutations":', b'"questions":', b"error", b"result", b"usage", b"429", b"rate limit",
)  # fmt: skip


def mutated(corpus: Sequence[bytes], chance: Random) -> bytes:
    """One of `corpus` after one to six misfortunes."""
    data = chance.choice(corpus)
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        data = chance.choice(_MISFORTUNES)(data, corpus, chance)[:300_000]
    return data


def _cut(data: bytes, chance: Random) -> tuple[int, int]:
    start = chance.randint(0, len(data))
    return start, min(len(data), start + int(chance.expovariate(0.05)))


def _flip(data: bytes, _: Sequence[bytes], chance: Random) -> bytes:
    at = chance.randrange(len(data)) if data else 0
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _say(data: bytes, _: Sequence[bytes], chance: Random) -> bytes:
    start, end = _cut(data, chance)
    return data[:start] + chance.choice(WORDS) + data[chance.choice((start, end)) :]


def _drop(data: bytes, _: Sequence[bytes], chance: Random) -> bytes:
    start, end = _cut(data, chance)
    return data[:start] + data[end:]


def _tear(data: bytes, _: Sequence[bytes], chance: Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _repeat(data: bytes, _: Sequence[bytes], chance: Random) -> bytes:
    start, end = _cut(data, chance)
    part = chance.choice((data[start:end], chance.choice(WORDS)))
    return data[:start] + part * chance.choice((2, 9, 99, 9999)) + data[start:]


def _splice(data: bytes, corpus: Sequence[bytes], chance: Random) -> bytes:
    other = chance.choice(corpus)
    return data[: chance.randint(0, len(data))] + other[chance.randint(0, len(other)) :]


def _swap(data: bytes, _: Sequence[bytes], chance: Random) -> bytes:
    lines = data.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


_MISFORTUNES = (_flip, _say, _say, _drop, _tear, _repeat, _splice, _swap)
