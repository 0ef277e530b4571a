"""Runs as a program of its own: runs pytest and reports what became of each test.

The job comes as JSON on stdin: `nonce`, `args`. The report, one JSON object, leaves on the first
stdout as a line `nonce report json hex`, after pytest has ended by itself: tests that end the
process leave none. Tests cannot print it, since stdout leads nowhere while they run.
"""

import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

_DUMPS, _WRITE, _EXIT = json.dumps, os.write, os._exit


class Recorder:
    """A pytest plugin. `tests` has node id -> [path, outcome]; a test that did not run through
    has the outcome "not run"."""

    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = {}
        self.errors: list[str] = []

    def pytest_collection_finish(self, session: Any) -> None:
        for item in session.items:
            self.tests[item.nodeid] = [str(item.path), "not run"]

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.errors.append(report.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        test = self.tests.setdefault(report.nodeid, ["", "not run"])
        expected = hasattr(report, "wasxfail")
        if report.failed:
            test[1] = "failed"
        elif report.skipped:
            test[1] = "expected to fail" if expected else "skipped"
        elif report.when == "call" and test[1] == "not run":
            test[1] = "passed against expectation" if expected else "passed"


def _silence() -> int:
    channel, nowhere = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return channel


def main() -> None:
    job = json.loads(sys.stdin.buffer.read())
    nonce, channel = job["nonce"], _silence()
    recorder = Recorder()
    try:
        import pytest
    except ImportError:
        report: dict[str, Any] = {"missing": True}
    else:
        sys.path.insert(0, str(Path.cwd()))
        sys.modules["__main__"] = ModuleType("__main__")
        options = ["-q", "-p", "no:cacheprovider", *job["args"]]
        code = int(pytest.main(options, plugins=[recorder]))
        report = {"code": code, "tests": recorder.tests, "errors": recorder.errors}
    line = f"{nonce} report json {_DUMPS(report).encode('utf-8').hex()}\n"
    _WRITE(channel, line.encode("ascii"))
    _EXIT(0)


if __name__ == "__main__":
    main()
