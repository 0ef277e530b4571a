"""`ouro step --remote`: machines take turns at one lineage, whatever happens to them or to the
remote. The long form, with random kills and a remote that refuses and hangs:

    python -m pytest -n0 -m slow -o faulthandler_timeout=0 tests/app/test_turns.py

LONG_GENERATIONS, LONG_LINEAGES and LONG_SEED set how long, how many and which.
"""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.app.hosts import FOREVER, Host, Net, all_of, sound
from tests.app.scripted import finish, git, until
from tests.samples import sample

LEASE = "ouro/lease/greet"


@pytest.fixture
def net(tmp_path: Path) -> Net:
    return Net(tmp_path)


def lease_is_there(net: Net) -> bool:
    return (net.bare / "refs" / LEASE).is_file()


def start(host: Host, *options: str, **env: str) -> subprocess.Popen[str]:
    return host.start_step("--remote", "origin", *FOREVER, *options, env=env)


# --- turns


def test_three_machines_make_every_generation_once_and_in_order(net: Net) -> None:
    hosts = [net.host(name, depth=depth) for name, depth in (("a", 0), ("b", 1), ("c", 0))]
    options = ("--remote", "origin", *FOREVER, "--max-generations", "6")
    done = all_of(*(host.start_ralph(*options) for host in hosts))
    assert [one.code for one in done] == [11, 11, 11], done
    assert net.agent.calls() == [f"{number}/execute" for number in range(1, 7)]
    assert net.completed() == [1, 2, 3, 4, 5, 6]
    assert not lease_is_there(net)
    for host in hosts:
        assert host.tip() == net.refs()["heads/ooo/greet"]
        assert host.tags() == [f"gen_{number}" for number in range(1, 7)]
        host.sound()
    sound(net.bare)


def test_a_step_takes_up_what_others_did_and_leaves_no_lease(net: Net) -> None:
    a, b = net.host("a"), net.host("b", depth=1)
    first = a.shared_step(*FOREVER)
    assert "pushed greet to origin" in first.err
    # What another step could not push is pushed first.
    assert a.step().json["generation"] == 2
    assert a.shared_step("--max-generations", "3").code == 11
    done = b.shared_step()
    assert done.code == 11, done
    assert "took up greet from origin" in done.err
    assert net.completed() == [1, 2, 3]
    assert not lease_is_there(net)
    assert b.ouro("step", "--lineage-id", "nope", "--remote", "origin").code == 2
    b.bare_step("--remote", "nowhere").refused(2, "there is no remote 'nowhere'")


def test_the_remote_can_stand_in_the_configuration(net: Net) -> None:
    a = net.host("a")
    (a.root / "ouro.yaml").write_text("remote: origin\n")
    assert a.step(*FOREVER, "--remote", "").code == 3
    assert "heads/ooo/greet" not in net.refs()
    assert a.step().code == 3
    assert net.completed() == [1, 2]


@pytest.mark.slow
def test_who_comes_second_is_told_who_works_and_may_wait(net: Net) -> None:
    a, b = net.host("a"), net.host("b")
    net.agent.on("execute", {"run": "until [ -e ../../../go ]; do sleep 0.05; done"}, gen=1)
    working = start(a)
    net.agent.wait_for(1)
    busy = b.shared_step(*FOREVER)
    busy.refused(75, "greet is being worked on at origin by", f"process {working.pid}", "--wait")
    waiting = start(b, "--wait")
    time.sleep(2)
    assert waiting.poll() is None
    (net.folder / "go").touch()
    assert finish(working).code == 3
    done = finish(waiting)
    assert done.json["generation"] == 2
    assert "waiting" in done.err
    assert net.agent.calls() == ["1/execute", "2/execute"]


def test_a_stop_is_heard_while_the_step_waits_for_its_turn(net: Net) -> None:
    a, b = net.host("a"), net.host("b")
    assert a.shared_step(*FOREVER).code == 3
    b.pull()
    net.agent.on("execute", {"run": "until [ -e ../../../go ]; do sleep 0.05; done"}, gen=2)
    working = start(a)
    net.agent.wait_for(2)
    waiting = start(b, "--wait")
    until(lambda: f'"pid":{waiting.pid},' in (b.state / "holder.json").read_text())
    assert f"asked step {waiting.pid}" in b.ouro("stop", "greet").out
    assert finish(waiting).code == 15
    (net.folder / "go").touch()
    assert finish(working).code == 3


# --- a machine that dies, or is too slow


def test_a_machine_that_died_is_overtaken_and_takes_up_what_was_done(net: Net) -> None:
    a, b = net.host("a"), net.host("b")
    assert a.shared_step(*FOREVER).code == 3
    net.agent.on("execute", {"run": "sleep 100"}, "Done.", gen=2)
    dead = start(a, OURO_REMOTE_LIMIT="3")
    net.agent.wait_for(2)
    dead.kill()
    dead.communicate()
    assert lease_is_there(net)
    done = b.shared_step("--wait", env={"OURO_REMOTE_LIMIT": "60"})
    assert done.json["generation"] == 2, done
    again = a.shared_step()
    assert again.json["generation"] == 3, again
    assert net.completed() == [1, 2, 3]
    a.clean()
    a.sound()


def test_a_step_that_died_here_is_not_waited_for(net: Net) -> None:
    a = net.host("a")
    net.agent.on("execute", {"run": "sleep 100"}, "Done.", gen=1)
    dead = start(a)
    net.agent.wait_for(1)
    dead.kill()
    dead.communicate()
    done = a.shared_step(*FOREVER)
    assert done.code == 3, done
    assert net.completed() == [1]


def test_an_overtaken_step_ends_at_once_and_loses_nothing(net: Net) -> None:
    """Its machine sleeps for longer than the lease lasts, and wakes up in the other's turn."""
    a, b = net.host("a"), net.host("b")
    assert a.shared_step(*FOREVER).code == 3
    net.agent.on(
        "execute",
        {"write": {"from_a": "1"}, "run": "sleep 100"},
        {"run": "until [ -e ../../../go ]; do sleep 0.05; done"},
        gen=2,
    )
    frozen = start(a, OURO_REMOTE_LIMIT="2")
    net.agent.wait_for(2)
    os.kill(frozen.pid, signal.SIGSTOP)
    other = start(b, "--wait")
    net.agent.wait_for(3)
    os.kill(frozen.pid, signal.SIGCONT)
    done = finish(frozen)
    assert done.code == 75, done
    assert "another machine took over greet at origin" in done.json["error"]
    (net.folder / "go").touch()
    assert finish(other).json["generation"] == 2
    after = a.shared_step()
    assert after.json["generation"] == 3, after
    assert net.completed() == [1, 2, 3]
    assert any(a.git("ls-tree", "--name-only", ref).count("from_a") for ref in a.rescued())
    a.sound()


@pytest.mark.parametrize("where", sample(["pre-push", "pre-receive"], "pre-receive"))
def test_a_push_that_was_overtaken_on_its_way_is_refused_whole(net: Net, where: str) -> None:
    """The other machine takes over between the look at the remote and the sending, or while the
    remote has not yet decided: nothing of the overtaken push arrives."""
    a, b = net.host("a"), net.host("b")
    assert a.shared_step(*FOREVER).code == 3
    hook = a.root / ".git" / "hooks" / "pre-push"
    if where == "pre-receive":
        hook = net.bare / "hooks" / "pre-receive"
    hook.write_text(
        f"#!/bin/sh\nrefs=$(cat)\ncase $refs in *heads/ooo*) ;; *) exit 0 ;; esac\n"
        f"mkdir '{net.folder}/on-its-way' 2>/dev/null || exit 0\n"
        f"until [ -e '{net.folder}/send' ]; do sleep 0.05; done\n"
    )
    hook.chmod(0o755)
    net.agent.on("execute", {"write": {"from_a": "1"}}, {"write": {"from_b": "1"}}, gen=2)
    # It waits for longer than its lease lasts, so its remote may be silent for as long.
    late = start(a, OURO_REMOTE_LIMIT="8")
    until((net.folder / "on-its-way").is_dir)
    won = b.shared_step("--wait")
    assert won.json["generation"] == 2, won
    theirs = net.refs()
    (net.folder / "send").touch()
    done = finish(late)
    assert done.code == 75, done
    assert net.refs() == theirs
    ours = a.tip()
    after = a.shared_step()
    assert after.json["generation"] == 3, after
    assert "both went on with greet" in after.err
    fork = next(n for n in a.git("branch", "--format=%(refname:short)").split() if "-g2" in n)
    assert git(a.root, "rev-parse", f"{fork}^") == ours
    assert net.completed() == [1, 2, 3]
    a.sound()
    sound(net.bare)


def test_a_rewind_beside_a_step_loses_nothing(net: Net) -> None:
    a, b, c = net.host("a"), net.host("b"), net.host("c")
    a.shared_step(*FOREVER)
    a.shared_step()
    c.pull()
    net.agent.on("execute", {"run": "until [ -e ../../../go ]; do sleep 0.05; done"}, gen=3)
    working = start(b)
    net.agent.wait_for(3)
    assert a.ouro("rewind", "greet", "--to", "1").code == 0
    assert "a step works on greet at origin" in a.ouro("push").err
    (net.folder / "go").touch()
    done = finish(working)
    assert done.code == 75, done
    assert "origin has work on greet that is not here" in done.err
    assert b.data("evolve_step.completed")[-1]["next_generation"] == 4
    after = b.shared_step()
    assert after.json["generation"] == 2, after
    assert "-g3 now" in after.err
    assert c.pull()[0]["outcome"] == "moved"
    assert c.tags() == ["gen_1", "gen_2", "rewound_1/gen_2"]
    for host in (a, b, c):
        host.sound()


# --- a remote that is not well


def test_work_goes_on_without_the_network_and_arrives_later(net: Net) -> None:
    a = net.host("a")
    away = net.folder / "away"
    net.agent.on("execute", {"run": f"mv '{net.bare}' '{away}'; sleep 3"}, "Done.", gen=1)
    done = a.shared_step(*FOREVER, env={"OURO_REMOTE_LIMIT": "3"})
    assert done.code == 75, done
    assert done.action == "continue", done
    assert "not pushed: origin cannot be reached" in done.json["error"]
    offline = a.shared_step()
    assert (offline.code, offline.action) == (75, "failed"), offline
    assert "origin cannot be reached" in offline.json["error"]
    away.rename(net.bare)
    assert a.shared_step().json["generation"] == 2
    assert net.completed() == [1, 2]
    assert net.agent.calls() == ["1/execute", "2/execute"]


def test_a_remote_that_refuses_is_quoted_and_the_work_is_kept(net: Net) -> None:
    a = net.host("a")
    hook = net.hook(
        "update", 'case $1 in refs/heads/*) echo "frozen until Monday" >&2; exit 1; esac'
    )
    done = a.shared_step(*FOREVER)
    assert done.code == 1, done
    assert done.action == "continue"
    assert "frozen until Monday" in done.json["error"]
    assert a.shared_step().code == 1
    assert net.agent.calls() == ["1/execute"]
    hook.unlink()
    assert a.shared_step().json["generation"] == 2
    assert net.completed() == [1, 2]
    hook = net.hook("update", 'case $1 in refs/ouro/*) echo "no refs/ouro here" >&2; exit 1; esac')
    a.shared_step().refused(1, "no refs/ouro here")


def test_what_was_done_before_an_interruption_is_pushed(net: Net) -> None:
    a = net.host("a")
    net.agent.on("execute", {"run": "sleep 100"}, gen=1)
    working = start(a)
    net.agent.wait_for(1)
    working.send_signal(signal.SIGINT)
    done = finish(working)
    assert done.code == 130, done
    assert net.types() == ["lineage.created", "evolve_step.interrupted"]
    assert not lease_is_there(net)


# --- the long form


def loop(host: Host, generations: int) -> subprocess.Popen[str]:
    return host.start_ralph(
        "--remote", "origin", *FOREVER, "--max-generations", str(generations), "-n", "999",
        env={"OURO_REMOTE_LIMIT": "6"},
    )  # fmt: skip


def has_ended(process: subprocess.Popen[str]) -> bool:
    """Whether a loop came to its end; one that was killed or refused has to start again."""
    if process.poll() is None:
        return False
    out, err = process.communicate()
    assert "Traceback" not in err, err
    assert "a bug in ouro" not in err, err
    assert process.returncode in (1, 11, 75, -signal.SIGKILL), (process.returncode, out, err)
    return process.returncode == 11


@pytest.mark.slow
def test_loops_that_are_killed_on_a_remote_that_fails_make_every_generation(net: Net) -> None:
    """Three machines, many lineages, whole loops killed, a remote that refuses and hangs: at the
    end every lineage has every generation once, in order, everywhere alike."""
    generations = int(os.environ.get("LONG_GENERATIONS", "50"))
    lineages = int(os.environ.get("LONG_LINEAGES", "10"))
    chance = random.Random(int(os.environ.get("LONG_SEED", "1")))
    net.hook(
        "pre-receive",
        "n=$(od -An -N2 -tu2 /dev/urandom)\n"
        "[ $((n % 20)) != 0 ] || { echo not today >&2; exit 1; }\n"
        "[ $((n % 40)) != 1 ] || exec sleep 30",
    )
    names = [f"greet{number}" for number in range(lineages)]
    hosts = {n: [net.host(f"{n}-{k}", lineage=n) for k in "abc"] for n in names}
    machines = [host for n in names for host in hosts[n]]
    running = {host.folder: loop(host, generations) for host in machines}
    try:
        while running:
            time.sleep(chance.uniform(0.5, 2.0))
            for host in machines:
                if host.folder in running and has_ended(running[host.folder]):
                    del running[host.folder]
                elif host.folder in running and running[host.folder].poll() is not None:
                    running[host.folder] = loop(host, generations)
            if running and chance.random() < 0.3:
                os.killpg(chance.choice(list(running.values())).pid, signal.SIGKILL)
    finally:
        for process in running.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    (net.bare / "hooks" / "pre-receive").unlink()
    for name in names:
        assert net.completed(name) == list(range(1, generations + 1))
        for host in hosts[name]:
            host.pull("origin", name)
            assert host.tip() == net.refs()[f"heads/ooo/{name}"]
            host.sound()
    sound(net.bare)
