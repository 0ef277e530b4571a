"""Short ways to a parser."""

import json

from ouro.agents.parsers import PARSERS, Hints, Parsed


def lines(*values: object) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def parse(name: str, stdout: str = "", stderr: str = "", code: int = 0) -> Parsed:
    return PARSERS[name](stdout, stderr, code, Hints())
