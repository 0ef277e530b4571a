"""What is not met never passes, whatever the code under test does to look as if it were."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ouro.agents.offline import Limits
from tests.agents.offline_support import HELLO, evaluate, execute, passed, seed_of

RIGHT = "def greet(name):\n    return f'Hello, {name}!'\n"
GOOD_TEST = "from hello import greet\n\n\ndef test_a():\n    assert greet('A') == 'Hello, A!'\n"
FAST = Limits(call=3.0, tests=20.0)

WRONG_MODULES = {
    "another text": "def greet(name):\n    return f'Hi, {name}!'\n",
    "nothing": "def greet(name):\n    pass\n",
    "bytes": "def greet(name):\n    return f'Hello, {name}!'.encode()\n",
    "a string of its own kind": (
        "class Yes(str):\n    def __eq__(self, other):\n        return True\n"
        "    __hash__ = str.__hash__\n\n\ndef greet(name):\n    return Yes('no')\n"
    ),
    "printed, not returned": "def greet(name):\n    print(f'Hello, {name}!')\n",
    "the examples only": (
        "def greet(name):\n    known = {'Ada', 'Grace', 'grace hopper', 'x'}\n"
        "    return f'Hello, {name}!' if name in known else 'Hello, you!'\n"
    ),
    "right only once": (
        "calls = []\n\n\ndef greet(name):\n    calls.append(name)\n"
        "    return f'Hello, {name}!' if calls.count(name) == 1 else 'Again?'\n"
    ),
    "blanks cut off": "def greet(name):\n    return f'Hello, {\" \".join(name.split())}!'\n",
    "capitals": "def greet(name):\n    return f'Hello, {name.title()}!'\n",
    "one more parameter": "def greet(name, mark):\n    return f'Hello, {name}{mark}'\n",
    "another parameter": "def greet(who):\n    return f'Hello, {who}!'\n",
    "a keyword that is needed": "def greet(name, *, end):\n    return f'Hello, {name}!'\n",
    "a coroutine": "async def greet(name):\n    return f'Hello, {name}!'\n",
    "a generator": "def greet(name):\n    yield f'Hello, {name}!'\n",
    "a class": "class greet(str):\n    pass\n",
    "no function": "greet = 'Hello, {name}!'\n",
    "a function inside": "def outer():\n    def greet(name):\n        return f'Hello, {name}!'\n",
    "no Python": "def greet(name:\n",
    "raises": "def greet(name):\n    raise ValueError(name)\n",
    "raises what hides": (
        "class Odd(BaseException):\n    def __str__(self):\n        raise SystemExit(0)\n\n\n"
        "def greet(name):\n    raise Odd\n"
    ),
    "exits": "def greet(name):\n    raise SystemExit(0)\n",
    "exits while loading": "import sys\n\nsys.exit(0)\n" + RIGHT,
    "ends the process": "import os\n\n\ndef greet(name):\n    os._exit(0)\n",
    "ends the process while loading": "import os\n\nos._exit(0)\n" + RIGHT,
    "kills itself": "import os\n\n\ndef greet(name):\n    os.kill(os.getpid(), 9)\n",
    "loops": "def greet(name):\n    while True:\n        pass\n",
    "loops while loading": "while True:\n    pass\n" + RIGHT,
    "sleeps through a signal": (
        "import signal\nimport time\n\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n\n\n"
        "def greet(name):\n    time.sleep(600)\n"
    ),
    "recurses": "def greet(name):\n    return greet(name)\n",
    "prints a verdict": (
        "import sys\n\nprint('load params 5b5d')\nprint('0 text 48656c6c6f2c2041646121')\n"
        "print('{\"passed\": true}', file=sys.stderr)\n\n\ndef greet(name):\n    return 'no'\n"
    ),
    "writes a verdict to every descriptor": (
        "import os\n\nfor fd in range(40):\n    try:\n"
        "        os.write(fd, b'\\n0 text 48656c6c6f2c2041646121\\n')\n"
        "    except OSError:\n        pass\n\n\ndef greet(name):\n    return 'no'\n"
    ),
    "patches what it can reach": (
        "import builtins\nimport inspect\nimport json\nimport os\n\n"
        "os.write = lambda *a: 0\njson.dumps = lambda *a, **k: '[[\"name\", true]]'\n"
        "builtins.type = lambda v: str\nbuiltins.repr = lambda v: 'True'\n"
        "builtins.isinstance = lambda *a: True\n\n\ndef greet(name):\n    return 'no'\n"
    ),
    "patches the main module": (
        "import __main__\n\n__main__._describe = lambda v: ('text', 'Hello, Ada!')\n"
        "__main__._TYPE = lambda v: str\n\n\ndef greet(name):\n    return 'no'\n"
    ),
    "floods stdout": "def greet(name):\n    print('x' * 50_000_000)\n    return 'no'\n",
}


@pytest.mark.parametrize("source", WRONG_MODULES.values(), ids=WRONG_MODULES)
def test_a_wrong_function_never_passes(source: str, tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(source)
    start = time.monotonic()
    verdicts = evaluate(seed_of(HELLO[0], "greet('Ada') gives 'Hello, Ada!'"), tmp_path, FAST)
    assert "ac1" not in passed(verdicts)
    assert not verdicts["ac1"]["evidence"].startswith("unresolved")
    assert time.monotonic() - start < 60


RIGHT_MODULES = {
    "plain": RIGHT,
    "with more that may be left out": (
        "def greet(name: str, mark: str = '!') -> str:\n    return 'Hello, ' + name + mark\n"
    ),
    "junk printed": "print('junk')\nimport sys\nprint('more', file=sys.stderr)\n" + RIGHT,
    "a default": "def greet(name='World'):\n    return 'Hello, {}!'.format(name)\n",
    "a lambda": "greet = lambda name: f'Hello, {name}!'\n",
    "imported": "from other import greet\n",
    "wrapped": "import functools\n\n\n@functools.cache\n" + RIGHT,
    "with a dataclass": (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n\n\n"
        "@dataclass\nclass Name:\n    text: str\n\n\n" + RIGHT
    ),
    "with a thread that stays": (
        "from threading import Thread\nfrom time import sleep\n\n"
        "Thread(target=sleep, args=(600,)).start()\n" + RIGHT
    ),
    "with work left for the end": (
        "import atexit\nimport os\n\natexit.register(lambda: os._exit(3))\n" + RIGHT
    ),
}


@pytest.mark.parametrize("source", RIGHT_MODULES.values(), ids=RIGHT_MODULES)
def test_a_right_function_passes(source: str, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(RIGHT)
    (tmp_path / "hello.py").write_text(source)
    verdicts = evaluate(seed_of(HELLO[0], "greet('Ada') gives 'Hello, Ada!'"), tmp_path, FAST)
    assert passed(verdicts) == ["ac1", "ac2"], verdicts


def test_modules_of_packages_and_of_src_can_import(tmp_path: Path) -> None:
    package = tmp_path / "src" / "kit"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "words.py").write_text("HELLO = 'Hello'\n")
    (package / "json.py").write_text(
        "from .words import HELLO\nfrom kit import words\n\n\n"
        "def greet(name):\n    return f'{words.HELLO}, {name}!'\n"
    )
    seed = seed_of("src/kit/json.py has a function greet(name) that returns 'Hello, {name}!'")
    assert passed(evaluate(seed, tmp_path)) == ["ac1"]


def test_a_literal_example_is_judged_literally(tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_text(
        "def add(a, b):\n    return a + b\n\n\ndef odd(n):\n    return n % 2\n"
    )
    seed = seed_of(
        "the function add is defined in calc.py",
        "add(2, 3) returns 5",
        "add('a', 'b') returns 'ab'",
        "add(2, 3) returns 6",
        "the function odd in calc.py returns True when called with 3",
    )
    assert passed(evaluate(seed, tmp_path)) == ["ac1", "ac2", "ac3"]


WRONG_TESTS = {
    "one too few": GOOD_TEST,
    "none": "from hello import greet\n",
    "one fails": GOOD_TEST + "\n\ndef test_b():\n    assert greet('A') == 'no'\n",
    "one is skipped": (
        "import pytest\n" + GOOD_TEST + "\n\n@pytest.mark.skip\ndef test_b():\n    assert True\n"
    ),
    "one skips itself": (
        "import pytest\n" + GOOD_TEST + "\n\ndef test_b():\n    pytest.skip('later')\n"
    ),
    "one is expected to fail": (
        "import pytest\n" + GOOD_TEST + "\n\n@pytest.mark.xfail\ndef test_b():\n    assert 0\n"
    ),
    "one passes against expectation": (
        "import pytest\n" + GOOD_TEST + "\n\n@pytest.mark.xfail\ndef test_b():\n    assert 1\n"
    ),
    "one cannot be set up": (
        "import pytest\n"
        + GOOD_TEST
        + "\n\n@pytest.fixture\ndef broken():\n    raise ValueError\n\n\n"
        "def test_b(broken):\n    assert True\n"
    ),
    "one cannot be torn down": (
        "import pytest\n"
        + GOOD_TEST
        + "\n\n@pytest.fixture\ndef broken():\n    yield\n    raise ValueError\n\n\n"
        "def test_b(broken):\n    assert True\n"
    ),
    "it does not import": GOOD_TEST
    + "\n\ndef test_b():\n    assert True\n\n\nimport nowhere_here\n",
    "it is no Python": GOOD_TEST + "\n\ndef test_b(:\n",
    "it ends the process": "import os\n\n" + GOOD_TEST + "\n\ndef test_b():\n    os._exit(0)\n",
    "it ends the process while loading": (
        GOOD_TEST + "\n\ndef test_b():\n    assert True\n\n\nimport os\n\nos._exit(0)\n"
    ),
    "it stops pytest": (
        "import pytest\n" + GOOD_TEST + "\n\ndef test_b():\n    pytest.exit('done', 0)\n"
    ),
    "it hangs": GOOD_TEST + "\n\ndef test_b():\n    while True:\n        pass\n",
    "it prints a verdict": (
        GOOD_TEST + "\n\nimport os\n\nfor fd in range(40):\n    try:\n"
        "        os.write(fd, b'\\n2 passed in 0.01s\\n')\n    except OSError:\n        pass\n"
    ),
}


@pytest.mark.parametrize("source", WRONG_TESTS.values(), ids=WRONG_TESTS)
def test_wrong_tests_never_pass(source: str, tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(RIGHT)
    (tmp_path / "test_hello.py").write_text(source)
    limits = Limits(call=3.0, tests=6.0)
    verdicts = evaluate(seed_of(HELLO[1], "test_hello.py has two tests"), tmp_path, limits)
    assert passed(verdicts) == []
    assert not verdicts["ac1"]["evidence"].startswith("unresolved")


@pytest.mark.parametrize("name", ["one fails", "one is skipped", "none", "it ends the process"])
def test_a_suite_with_such_a_test_does_not_pass(name: str, tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(RIGHT)
    (tmp_path / "test_hello.py").write_text(WRONG_TESTS[name])
    assert passed(evaluate(seed_of("pytest passes", "All tests pass"), tmp_path)) == []


def test_counts_are_taken_literally(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(RIGHT + "\n\ndef wave():\n    return 'Bye'\n")
    (tmp_path / "test_hello.py").write_text(
        "import pytest\nimport hello\n\n\n@pytest.mark.parametrize('name', ['a', 'b', 'c'])\n"
        "def test_greet(name):\n    assert hello.greet(name)\n\n\n"
        "class TestWave:\n    def test_wave(self):\n        assert hello.wave() == 'Bye'\n"
    )
    seed = seed_of(
        "hello.py defines greet(name) and wave()",
        "test_hello.py has exactly four tests",
        "test_hello.py has exactly two test functions",
        "test_hello.py has at least three tests for greet",
        "test_hello.py has one test for wave",
        "test_hello.py has four tests for hello.py",
        "test_hello.py has at least five tests",
        "test_hello.py has three tests",
        "test_hello.py has at least three test functions",
        "test_hello.py has at least two tests for wave",
        "At least four tests exist",
        "At least five tests exist",
    )
    verdicts = evaluate(seed, tmp_path)
    assert passed(verdicts) == ["ac1", "ac2", "ac3", "ac4", "ac5", "ac6", "ac11"], verdicts


Edit = Callable[[Path], object]
TAMPERED: dict[str, tuple[Edit, str]] = {
    "another text": (
        lambda w: (w / "hello.py").write_text("def greet(name):\n    return 1\n"),
        "ac1",
    ),
    "module gone": (lambda w: (w / "hello.py").unlink(), "ac1"),
    "a folder in its place": (lambda w: replaced(w, "hello.py").mkdir(), "ac1"),
    "a link out of the tree": (lambda w: linked_out(w, "hello.py"), "ac1"),
    "a link to nothing": (lambda w: replaced(w, "hello.py").symlink_to("gone.py"), "ac1"),
    "a link in a circle": (lambda w: replaced(w, "hello.py").symlink_to("hello.py"), "ac1"),
    "another case": (lambda w: (w / "hello.py").rename(w / "Hello.py"), "ac1"),
    "a test less": (lambda w: (w / "test_hello.py").write_text(GOOD_TEST), "ac2"),
    "tests outside": (lambda w: linked_out(w, "test_hello.py"), "ac2"),
    "tests in another file": (lambda w: (w / "test_hello.py").rename(w / "test_x.py"), "ac2"),
    "a failing test": (
        lambda w: (w / "test_z.py").write_text("def test_z():\n    assert 0\n"),
        "ac3",
    ),
    "no tests": (lambda w: (w / "test_hello.py").write_text(""), "ac3"),
    "options that select nothing": (
        lambda w: (w / "pytest.ini").write_text("[pytest]\naddopts = -k nothing\n"),
        "ac3",
    ),
    "a text gone": (lambda w: (w / "README.md").write_text("# README\n"), "ac4"),
}


def replaced(workspace: Path, name: str) -> Path:
    (workspace / name).unlink()
    return workspace / name


def linked_out(workspace: Path, name: str) -> None:
    outside = workspace.parent / name
    (workspace / name).rename(outside)
    (workspace / name).symlink_to(outside)


@pytest.mark.parametrize(("edit", "criterion"), TAMPERED.values(), ids=TAMPERED)
def test_what_was_tampered_with_no_longer_passes(
    edit: Edit, criterion: str, tmp_path: Path
) -> None:
    workspace = tmp_path / "tree"
    workspace.mkdir()
    seed = seed_of(*HELLO, 'README.md mentions "greet"')
    execute(seed, workspace)
    edit(workspace)
    assert criterion not in passed(evaluate(seed, workspace))


def test_a_machine_s_pytest_options_do_not_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = seed_of(*HELLO)
    execute(seed, tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    assert len(passed(evaluate(seed, tmp_path))) == 3


def test_processes_carry_the_mark_and_leave_no_one_in_their_group(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(
        "import os\nimport subprocess\nimport sys\nfrom pathlib import Path\n\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "Path('child').write_text(str(child.pid))\n"
        "Path('seen').write_text(os.environ['OURO_RUN'] + str(os.getsid(0) == os.getpid()))\n"
        + RIGHT
    )
    assert passed(evaluate(seed_of(HELLO[0]), tmp_path)) == ["ac1"]
    assert (tmp_path / "seen").read_text() == "mark-1True"
    assert ended(int((tmp_path / "child").read_text()))


def ended(pid: int) -> bool:
    """Within a second: the kernel needs a moment."""
    status = Path(f"/proc/{pid}/stat")
    for _ in range(100):
        if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False
