"""What ouro itself costs, against what git and Python cost alone, in one interleaved run.

    python -m tests.bench                   the table, and build/bench.json
    python -m tests.bench --only step       figures whose name holds a word
    python -m tests.bench --huge            with a lineage of 10,000 generations, too

Every figure is a ratio of medians of at least nine rounds in which the things compared take turns:
absolute times say more about the machine than about ouro.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import sys
import tempfile
from pathlib import Path

from tests.bench.figures import FIGURES, ROOT, Figure, Measured


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", default="", help="figures whose name holds this word")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--huge", action="store_true", help="10,000 generations, too")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    asked = parser.parse_args()
    # What an installation has compiled, no user's step compiles.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(ROOT / "ouro", quiet=1)
    chosen = [f for f in FIGURES if asked.only in f.name and (asked.huge or not f.huge)]
    results = []
    with tempfile.TemporaryDirectory(prefix="ouro-bench-") as folder:
        for figure in chosen:
            measured = figure.measure(Path(folder), asked.rounds)
            sys.stdout.write(line(figure, measured) + "\n")
            sys.stdout.flush()
            results.append({"name": figure.name, "at_most": figure.at_most, **measured._asdict()})
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps(results, indent=1) + "\n")


def line(figure: Figure, measured: Measured) -> str:
    verdict = "ok" if measured.value <= figure.at_most else "TOO MUCH"
    compared = f"{measured.value:8.2f} of {figure.at_most:<6.3g} {verdict:<9}"
    return f"{figure.name:<58} {compared}{measured.note}"


if __name__ == "__main__":
    main()
