"""ralph.sh by itself: a stand-in for the program records how it was called and ends as told."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

RALPH = Path(__file__).parents[1] / "ralph.sh"
PATIENCE = 30.0

# Its n-th call does what the n-th line of `plan` says; after the last line, the last again.
STAND_IN = """#!/bin/sh
cd "$STAND_IN" || exit 99
echo "$$" >>pids
n=$(wc -l <pids)
printf '%s\\0' "$@" >"argv.$n"
cat >stdin
echo "{\\"call\\":$((n))}"
plan=$(sed -n "$((n))p" plan)
[ -n "$plan" ] || plan=$(tail -n 1 plan)
# Saving takes a while; who does not wait for it sees no `saved`.
trap 'sleep 0.3; touch saved; exit 143' TERM HUP
case $plan in
hang) touch running; while :; do sleep 0.05; done ;;
release) touch running; until [ -e release ]; do sleep 0.05; done; exit 0 ;;
die) kill -KILL $$ ;;
tell) kill -TERM "$PPID"; exit 3 ;;
*) exit "$plan" ;;
esac
"""


@dataclass
class StandIn:
    folder: Path
    shell: list[str]
    path: list[Path] = field(default_factory=list)

    @property
    def program(self) -> Path:
        return self.folder / "ouro"

    def plan(self, *lines: object) -> None:
        (self.folder / "plan").write_text("".join(f"{line}\n" for line in lines))

    def start(
        self, *args: str, script: Path = RALPH, before: tuple[str, ...] = (), **env: str
    ) -> subprocess.Popen[str]:
        paths = [*map(str, self.path), os.environ["PATH"]]
        return subprocess.Popen(
            [*before, *self.shell, str(script), *args],
            env={
                **os.environ,
                "OURO": str(self.program),
                "STAND_IN": str(self.folder),
                "PATH": ":".join(paths),
                **env,
            },
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, *args: str, script: Path = RALPH, **env: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*args, script=script, **env)
        out, err = process.communicate("for nobody", timeout=PATIENCE)
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def pids(self) -> list[int]:
        pids = self.folder / "pids"
        return [int(line) for line in pids.read_text().split()] if pids.exists() else []

    def argv(self, call: int = 1) -> list[str]:
        return (self.folder / f"argv.{call}").read_text().split("\0")[:-1]

    def saved(self) -> bool:
        return (self.folder / "saved").exists()

    def wait_for(self, name: str) -> None:
        until((self.folder / name).exists)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture(params=["dash", "bash", "bash --posix"])
def stand_in(request: pytest.FixtureRequest, tmp_path: Path) -> StandIn:
    shell = request.param.split()
    if shutil.which(shell[0]) is None:
        pytest.skip(f"no {shell[0]} here")
    stand = StandIn(tmp_path / "stand in", shell)
    executable(stand.program, STAND_IN)
    stand.plan(0)
    return stand


@pytest.fixture
def naps(stand_in: StandIn, tmp_path: Path) -> Callable[[], list[str]]:
    """Makes every `sleep` of ralph.sh a short one, and tells how long they would have been."""
    record = tmp_path / "naps"
    executable(tmp_path / "bin" / "sleep", f'#!/bin/sh\necho "$1" >>"{record}"\n')
    stand_in.path.append(tmp_path / "bin")
    return lambda: record.read_text().split() if record.exists() else []


# --- what the step is called with


NASTY = [
    "",
    " ",
    "a b",
    "line\nline\n",
    "*",
    "$HOME `id` $(id)",
    "'\"\\",
    "-x",
    "é\x7f",
    "--lineage-id=x",
]


def test_everything_else_is_handed_on_in_its_order(stand_in: StandIn) -> None:
    args = ["--lineage-id", "one", "--seed-file", "my seed.yaml", "--project-dir", "/x y", *NASTY]
    assert stand_in.run("-n", "3", *args).returncode == 0
    assert stand_in.argv() == ["step", "--wait", "--exit-code", *args]


def test_what_follows_a_double_dash_is_not_read(stand_in: StandIn) -> None:
    rest = ["--", "--max-cycles", "0", "--", "-h", "", "a b"]
    assert stand_in.run("a", "--max-cycles=2", "b", *rest).returncode == 0
    assert stand_in.argv() == ["step", "--wait", "--exit-code", "a", "b", *rest]


def test_every_cycle_gets_the_same_arguments(stand_in: StandIn) -> None:
    stand_in.plan(3, 4, 0)
    stand_in.run("--", *NASTY)
    assert stand_in.argv(1) == stand_in.argv(2) == stand_in.argv(3)


def test_no_arguments_at_all(stand_in: StandIn) -> None:
    stand_in.plan(2)
    assert stand_in.run().returncode == 2
    assert stand_in.argv() == ["step", "--wait", "--exit-code"]


def test_the_step_reads_nothing_of_our_stdin(stand_in: StandIn) -> None:
    stand_in.run()
    assert (stand_in.folder / "stdin").read_text() == ""


def test_stdout_is_the_steps_alone(stand_in: StandIn) -> None:
    stand_in.plan(3, 3, 0)
    done = stand_in.run("-n", "9")
    assert done.stdout == '{"call":1}\n{"call":2}\n{"call":3}\n'
    assert done.stderr.splitlines() == [f"ralph.sh: cycle {n} of at most 9" for n in (1, 2, 3)]


# --- how many cycles


@pytest.mark.parametrize(
    "option",
    [
        ["--max-cycles", "3"],
        ["--max-cycles=3"],
        ["-n", "3"],
        ["-n3"],
        ["--max-iterations", "3"],
        ["--max-iterations=3"],
        ["--max-cycles", "9", "-n", "3"],
    ],
)
def test_cycles_are_counted(stand_in: StandIn, option: list[str]) -> None:
    stand_in.plan(3, 4, 3)
    done = stand_in.run("--lineage-id", "x", *option)
    assert done.returncode == 14
    assert len(stand_in.pids()) == 3
    assert "run the same command again" in done.stderr.splitlines()[-1]
    assert stand_in.argv()[3:] == ["--lineage-id", "x"]


def test_thirty_cycles_unless_told(stand_in: StandIn) -> None:
    stand_in.plan(3)
    assert stand_in.run().returncode == 14
    assert len(stand_in.pids()) == 30


def test_an_end_in_the_last_cycle_is_that_end(stand_in: StandIn) -> None:
    stand_in.plan(3, 0)
    assert stand_in.run("-n", "2").returncode == 0


@pytest.mark.parametrize(
    "number", ["0", "00", "-1", "1.5", "abc", "", " 3", "3 ", "1e3", "9" * 40, "1\n2"]
)
def test_what_is_no_number_of_cycles_is_refused(stand_in: StandIn, number: str) -> None:
    for option in (["--max-cycles", number], [f"--max-iterations={number}"]):
        done = stand_in.run(*option)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr == (
            "ralph.sh: --max-cycles needs a whole number from 1 up, "
            f"not '{number}'; see ralph.sh --help\n"
        )
    assert stand_in.pids() == []


@pytest.mark.parametrize("option", ["-n", "--max-cycles", "--max-iterations"])
def test_a_number_that_is_missing(stand_in: StandIn, option: str) -> None:
    done = stand_in.run("--lineage-id", "x", option)
    assert done.returncode == 2
    assert done.stderr == f"ralph.sh: {option} needs a number; see ralph.sh --help\n"


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(stand_in: StandIn, option: str) -> None:
    done = stand_in.run("--lineage-id", "x", option)
    assert done.returncode == 0
    assert done.stderr == ""
    for said in ("Usage:", "Example:", "Exit codes:", "--max-cycles", "--seed-file", "OURO"):
        assert said in done.stdout
    assert stand_in.pids() == []


# --- exit codes


@pytest.mark.parametrize("code", [0, 1, 2, 10, 11, 12, 15, 129, 130, 143, 5, 42, 128])
def test_every_other_code_ends_the_loop_with_that_code(stand_in: StandIn, code: int) -> None:
    stand_in.plan(3, code, 3)
    assert stand_in.run().returncode == code
    assert len(stand_in.pids()) == 2


def test_a_killed_step_ends_the_loop_with_advice(stand_in: StandIn) -> None:
    stand_in.plan("die")
    done = stand_in.run()
    assert done.returncode == 1
    assert "signal 9" in done.stderr.splitlines()[-1]
    assert "run the same command again" in done.stderr.splitlines()[-1]


def test_not_now_is_tried_again_and_not_counted(
    stand_in: StandIn, naps: Callable[[], list[str]]
) -> None:
    stand_in.plan(75, 75, 3, 75, 75, 75, 75, 75, 75, 4)
    done = stand_in.run("-n", "2")
    assert done.returncode == 14
    assert len(stand_in.pids()) == 10
    # Longer and longer, up to 10 s; after a cycle that counted, from the start.
    assert naps() == ["1", "2", "1", "2", "4", "8", "10", "10"]
    assert done.stderr.count("cycle ") == 2


def test_not_now_then_an_end(stand_in: StandIn, naps: Callable[[], list[str]]) -> None:
    stand_in.plan(75, 11)
    assert stand_in.run("-n", "1").returncode == 11
    assert naps() == ["1"]


# --- which program


def test_the_program_beside_the_script_is_found_first(stand_in: StandIn, tmp_path: Path) -> None:
    script = tmp_path / "a clone" / "ralph.sh"
    executable(script.parent / ".venv" / "bin" / "ouro", STAND_IN)
    shutil.copy(RALPH, script)
    executable(tmp_path / "bin" / "ouro", "#!/bin/sh\nexit 98\n")
    stand_in.path.append(tmp_path / "bin")
    assert stand_in.run(script=script, OURO="").returncode == 0
    assert len(stand_in.pids()) == 1


def test_else_the_one_on_the_path(stand_in: StandIn, tmp_path: Path) -> None:
    shutil.copy(RALPH, tmp_path / "ralph.sh")
    stand_in.path.append(stand_in.folder)
    assert stand_in.run(script=tmp_path / "ralph.sh", OURO="").returncode == 0
    assert len(stand_in.pids()) == 1


@pytest.mark.parametrize("named", ["", "/no where/ouro"])
def test_no_program_at_all(stand_in: StandIn, tmp_path: Path, named: str) -> None:
    shutil.copy(RALPH, tmp_path / "ralph.sh")
    for tool in ("dirname", "sleep", *stand_in.shell[:1]):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or tool)
    done = stand_in.run(script=tmp_path / "ralph.sh", OURO=named, PATH=str(tmp_path / "bin"))
    assert done.returncode == 1
    assert done.stderr == (
        f"ralph.sh: cannot find {named or 'ouro'}; "
        "install it, or set OURO to the path of the program\n"
    )


def test_a_program_that_cannot_run(stand_in: StandIn, tmp_path: Path) -> None:
    broken = executable(tmp_path / "broken", "#!/no where/python\n")
    done = stand_in.run(OURO=str(broken))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"ralph.sh: cannot run {broken}"


# --- signals

SIGNALS = {signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.mark.parametrize("sent", SIGNALS)
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["script", "group"])
def test_a_signal_ends_the_step_and_then_the_loop(
    stand_in: StandIn, sent: signal.Signals, send: Callable[[int, int], None]
) -> None:
    stand_in.plan(3, "hang")
    process = stand_in.start()
    stand_in.wait_for("running")
    send(process.pid, sent)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == SIGNALS[sent]
    assert stand_in.saved()
    assert len(stand_in.pids()) == 2
    assert not any(map(alive, stand_in.pids()))
    assert out.count("call") == 2


def test_a_second_signal_reaches_the_step_too(stand_in: StandIn, tmp_path: Path) -> None:
    executable(
        stand_in.program,
        '#!/bin/sh\ncd "$STAND_IN"\nn=0\ntrap \'n=$((n + 1)); touch "got.$n"\' TERM\n'
        "touch running\nwhile [ $n -lt 2 ]; do sleep 0.05; done\nexit 130\n",
    )
    process = stand_in.start()
    stand_in.wait_for("running")
    for n in (1, 2):
        process.send_signal(signal.SIGINT)
        stand_in.wait_for(f"got.{n}")
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130


@pytest.mark.parametrize("sent", SIGNALS)
def test_a_signal_during_the_pause_ends_the_loop_at_once(
    stand_in: StandIn, sent: signal.Signals
) -> None:
    executable(
        stand_in.folder / "bin" / "sleep",
        '#!/bin/sh\ntouch "$STAND_IN/asleep"\nexec tail -f /dev/null\n',
    )
    stand_in.path.append(stand_in.folder / "bin")
    stand_in.plan(75)
    process = stand_in.start()
    stand_in.wait_for("asleep")
    process.send_signal(sent)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == SIGNALS[sent]
    assert len(stand_in.pids()) == 1
    # Nothing but our own lines: how the shell ended the pause is no news.
    assert all(line.startswith("ralph.sh: ") for line in err.splitlines())


def test_a_signal_as_the_step_ends_starts_no_other(stand_in: StandIn) -> None:
    stand_in.plan("tell")
    assert stand_in.run().returncode == 143
    assert len(stand_in.pids()) == 1


@pytest.mark.parametrize("delay", [0.0, 0.005, 0.02, 0.05])
def test_a_signal_at_any_time_leaves_no_process(stand_in: StandIn, delay: float) -> None:
    stand_in.plan(3, 3, "hang")
    process = stand_in.start()
    until(lambda: bool(stand_in.pids()))
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert not any(map(alive, stand_in.pids()))


def test_under_nohup_a_hangup_is_nothing(stand_in: StandIn) -> None:
    stand_in.plan(3, "release")
    process = stand_in.start(before=("nohup",))
    stand_in.wait_for("running")
    os.killpg(process.pid, signal.SIGHUP)
    (stand_in.folder / "release").touch()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
