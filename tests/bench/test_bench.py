"""That the figures can be taken; what they are is for a quiet machine to say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.figures import ROOT


@pytest.mark.parametrize("figure", ["python -c", " 100 files"])
def test_a_figure_is_printed_and_written(figure: str, tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    words = ["-m", "tests.bench", "--only", figure, "--rounds", "1", "--json", str(out)]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (taken,) = json.loads(out.read_text())
    assert done.stdout.startswith(taken["name"])
    assert 0 < taken["value"] < 100
