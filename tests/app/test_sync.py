"""`ouro push` and `ouro pull`, between real clones of a real bare repository."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.app.hosts import FOREVER, Host, Net, sound
from tests.app.scripted import ROOT, git, put_back


class Grown(NamedTuple):
    net: Net
    a: Host


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Grown:
    """A machine that made two generations and pushed them."""
    net = Net(tmp_path_factory.mktemp("net"))
    host = net.host("a")
    assert [done.code for done in host.steps(2, *FOREVER)] == [3, 3]
    assert host.push()[0]["outcome"] == "pushed"
    return Grown(net, host)


@pytest.fixture
def net(grown: Grown, tmp_path: Path) -> Iterator[Net]:
    """The same again and again."""
    with put_back(grown.net.folder, tmp_path / "spare"):
        yield grown.net
        grown.net.agent.reset()


@pytest.fixture
def a(net: Net, grown: Grown) -> Host:
    return grown.a


def same(one: Host, other: Host) -> None:
    """Both have the same branch, log and tags, objects and all."""
    assert one.tip() == other.tip()
    refs = ("for-each-ref", "--format=%(refname) %(objectname)", "refs/tags/ooo/greet/")
    assert one.git(*refs) == other.git(*refs)
    assert one.events() == other.events()


# --- there and back


def test_a_lineage_goes_to_another_machine_and_back(net: Net, a: Host) -> None:
    assert set(net.refs()) == {
        "heads/main", "heads/ooo/greet", "tags/ooo/greet/gen_1", "tags/ooo/greet/gen_2",
    }  # fmt: skip
    b = net.host("b")
    assert b.pull()[0]["outcome"] == "created"
    same(a, b)
    assert b.step().json["generation"] == 3
    assert b.push()[0]["changes"][0]["old"] == a.tip()
    done = a.ouro("pull")
    assert "greet pulled from origin (moved)" in done.out
    assert "undo         ouro rewind greet --to 2" in done.out
    same(a, b)
    a.clean()
    assert a.step().json["generation"] == 4
    for host in (a, b):
        host.sound()
    sound(net.bare)


@pytest.mark.slow
def test_pulling_and_pushing_again_changes_nothing(net: Net, a: Host) -> None:
    before = a.everything(), net.refs()
    assert a.push()[0]["outcome"] == "same"
    assert a.pull()[0]["outcome"] == "same"
    assert "nothing new at origin" in a.ouro("pull").out
    assert "origin has all of it" in a.ouro("push").out
    assert (a.everything(), net.refs()) == before
    a.step()
    assert a.pull()[0]["outcome"] == "ahead"
    assert "ouro push origin" in a.ouro("pull").out


def test_a_dry_run_says_what_would_go_and_sends_nothing(net: Net, a: Host) -> None:
    a.step()
    before = net.refs()
    found = a.push("origin", "greet", "--dry-run")[0]
    assert [change["ref"] for change in found["changes"]] == [
        "refs/heads/ooo/greet", "refs/tags/ooo/greet/gen_3",
    ]  # fmt: skip
    assert found["dry_run"]
    assert "would be pushed" in a.ouro("push", "--dry-run").out
    assert net.refs() == before


@pytest.mark.slow
def test_all_lineages_or_those_that_are_named(net: Net, a: Host) -> None:
    assert a.ouro("fork", "greet", "other", "--at", "1").code == 0
    assert a.ouro("fork", "greet", "third").code == 0
    found = a.push("origin", "other")
    assert [one["lineage_id"] for one in found] == ["other"]
    assert "heads/ooo/third" not in net.refs()
    assert net.refs()["tags/ooo/other/gen_1"] == a.git("rev-parse", "refs/tags/ooo/other/gen_1")
    assert [one["outcome"] for one in a.push()] == ["same", "same", "pushed"]
    b = net.host("b")
    assert [one["lineage_id"] for one in b.pull("origin", "third")] == ["third"]
    assert b.git("for-each-ref", "refs/heads/ooo/").count("\n") == 0
    assert [one["outcome"] for one in b.pull()] == ["created", "created", "same"]


def test_names_that_are_not_there(net: Net, a: Host) -> None:
    a.ouro("push", "nowhere").refused(2, "there is no remote 'nowhere'", "origin")
    a.ouro("pull", "greet").refused(2, "there is no remote 'greet'", "origin")
    a.ouro("push", "origin", "nope").refused(2, "there is no lineage nope here", "greet")
    a.ouro("pull", "origin", "nope").refused(2, "origin has no lineage nope", "greet")
    a.git("remote", "rename", "origin", "hub")
    assert a.push()[0]["remote"] == "hub"
    a.git("remote", "remove", "hub")
    a.ouro("push").refused(2, "there is no remote 'origin'", "git remote add NAME URL")


def test_hidden_checks_travel_and_one_who_has_none_is_told(tmp_path: Path) -> None:
    net = Net(tmp_path)
    net.home.write_seed({"description": "Works", "verify_command": "test -e ok", "hidden": True})
    a = net.host("a")
    assert a.step(*FOREVER).code == 3
    a.git("push", "-q", "origin", "ooo/greet")
    b = net.host("b")
    b.pull()
    assert "neither here nor at origin" in b.ouro("push").err
    assert b.ouro("fork", "greet", "other").code == 0
    assert b.push("origin", "other")[0]["outcome"] == "pushed"
    missing = b.step()
    assert missing.code == 12
    assert "ouro pull" in missing.err
    a.push()
    assert net.refs()["ouro/hidden/greet"] == a.git("rev-parse", "refs/ouro/hidden/greet")
    b.pull()
    assert b.git("rev-parse", "refs/ouro/hidden/greet") == net.refs()["ouro/hidden/greet"]
    assert b.step().json["generation"] == 2


def test_into_a_clone_of_depth_1_comes_the_lineage_and_no_more(net: Net, a: Host) -> None:
    b = net.host("b", depth=1)
    assert b.pull()[0]["outcome"] == "created"
    same(a, b)
    assert b.step().json["generation"] == 3
    assert b.push()[0]["outcome"] == "pushed"
    a.pull()
    same(a, b)
    b.sound()


@pytest.mark.slow
def test_a_clone_of_depth_1_of_the_lineages_own_branch(net: Net, a: Host) -> None:
    git(net.bare, "symbolic-ref", "HEAD", "refs/heads/ooo/greet")
    b = net.host("b", depth=1)
    assert b.git("rev-list", "--count", "HEAD") == "1"
    a.step()
    a.push()
    assert b.pull()[0]["outcome"] == "moved"
    same(a, b)
    assert b.git("rev-list", "HEAD") == a.git("rev-list", a.branch)
    assert b.step().json["generation"] == 4


# --- jumps


def test_a_rewind_is_followed_and_so_is_its_undo(net: Net, a: Host) -> None:
    b, c = net.host("b"), net.host("c")
    for host in (b, c):
        host.pull()
    b.step()
    assert b.ouro("rewind", "greet", "--to", "1").code == 0
    b.step()
    b.push()
    plain = subprocess.run(["git", "fetch", "--tags"], cwd=a.root, capture_output=True, text=True)
    assert "would clobber existing tag" in plain.stderr
    for host in (a, c):
        host.pull()
        same(b, host)
    assert c.tags() == ["gen_1", "gen_2", "rewound_1/gen_2", "rewound_1/gen_3"]
    assert c.ouro("undo", "greet").code == 0
    found = c.push()[0]
    assert found["undo"] == "ouro undo greet; ouro push origin greet"
    a.pull()
    same(a, c)
    b.pull()
    same(b, c)
    assert b.step().json["generation"] == 4
    for host in (b, c):
        host.sound()


def test_a_pull_that_was_cut_off_before_its_tags_accuses_nobody(net: Net, a: Host) -> None:
    """The branch, and what is archived, came along; generation tags are still those from before."""
    b = net.host("b")
    b.pull()
    assert b.ouro("rewind", "greet", "--to", "1").code == 0
    b.step()
    b.push()
    old = a.tip()
    archived = "refs/tags/ooo/greet/rewound_*"
    a.git("fetch", "-q", "--no-tags", "origin", b.branch, f"{archived}:{archived}")
    new = a.git("rev-parse", "FETCH_HEAD")
    (a.state / "intent.json").write_text(json.dumps({"old": old, "new": new}))
    a.git("update-ref", a.branch, new)
    done = a.step(*FOREVER)
    assert (done.code, done.json["generation"]) == (4, 3), done
    assert a.tags() == ["gen_1", "gen_2", "gen_3", "rewound_1/gen_2"]
    assert a.git("rev-parse", "ooo/greet/gen_2^{commit}") == b.git(
        "rev-parse", "ooo/greet/gen_2^{commit}"
    )
    assert a.ouro("verify", "greet").code == 0


def test_hooks_on_both_sides_let_a_rewind_through_in_one_push(net: Net, a: Host) -> None:
    assert a.ouro("hooks", "install").code == 0
    assert a.ouro("hooks", "install", "--server", cwd=net.bare).code == 0
    assert a.ouro("rewind", "greet", "--to", "1").code == 0
    assert a.push()[0]["outcome"] == "pushed"
    assert net.refs()["heads/ooo/greet"] == a.tip()
    assert "tags/ooo/greet/gen_2" not in net.refs()
    assert a.step().json["generation"] == 2
    assert a.push()[0]["outcome"] == "pushed"


def test_a_log_that_was_rewritten_is_not_taken(net: Net, a: Host) -> None:
    b = net.host("b")
    b.pull()
    b.step()
    before = b.tip(), b.tags(), b.rescued()
    path = ".ouro/lineages/greet/events/000001.jsonl"
    text = (a.workspace / path).read_text()
    (a.workspace / path).write_text(text.replace("Greet people", "Greet nobody"))
    git(a.workspace, "commit", "-qam", "rewrite")
    a.git("push", "-q", "origin", "ooo/greet")
    found = b.pull(code=1)[0]
    assert found["outcome"] == "refused"
    assert "nothing was moved" in found["hint"]
    assert (b.tip(), b.tags(), b.rescued()) == before
    b.clean()
    assert b.step().json["generation"] == 4


# --- both went on


def test_both_went_on_and_both_are_kept(net: Net, a: Host) -> None:
    b = net.host("b")
    b.pull()
    a.agent.on("execute", {"write": {"from_a": "1"}}, {"write": {"from_b": "1"}}, gen=3)
    a.step()
    a.push()
    b.step()
    ours = b.tip()
    refused = b.push(code=75)[0]
    assert "origin has work on greet that is not here" in refused["reason"]
    assert refused["hint"] == "nothing was pushed; take it up first: ouro pull origin greet"
    found = b.pull()[0]
    name = found["fork"]
    assert name.startswith("greet-")
    assert name.endswith("-g3")
    same(a, b)
    b.clean()
    assert b.files() == {"README", "from_a"}
    assert b.git("rev-parse", f"refs/heads/ooo/{name}^") == ours
    assert b.git("show", f"refs/heads/ooo/{name}:from_b") == "1"
    assert found["rescue"] is None
    assert b.pull()[0]["outcome"] == "same"
    assert [one["outcome"] for one in b.push()] == ["same", "pushed"]
    assert b.step().json["generation"] == 4
    assert b.ouro("step", "--lineage-id", name, "--agent", b.agent.line).json["generation"] == 4
    b.sound()


def test_our_generations_beyond_the_remotes_are_the_forks_alone(net: Net, a: Host) -> None:
    """Also their tags: the lineage is the remote's now, and a tag of ours would stand in the way of
    the generation that it comes to."""
    b = net.host("b")
    b.pull()
    b.steps(2, *FOREVER)
    ours = b.git("rev-parse", "ooo/greet/gen_4^{commit}")
    a.step(*FOREVER)
    a.push()
    name = b.pull()[0]["fork"]
    assert b.tags() == ["gen_1", "gen_2", "gen_3"]
    assert b.git("rev-parse", f"refs/tags/ooo/{name}/gen_4^{{commit}}") == ours
    assert b.ouro("verify", "--all").code == 0
    assert b.push("origin", "greet")[0]["outcome"] == "same"
    a.step(*FOREVER)
    a.push()
    b.pull()
    same(a, b)


def test_tags_that_the_log_does_not_know_are_neither_pulled_nor_pushed(net: Net, a: Host) -> None:
    b = net.host("b")
    b.pull()
    assert a.ouro("rewind", "greet", "--to", "1").code == 0
    a.push()
    for name in ("gen_9", "rewound_1/gen_1", "rewound_9/gen_1", "rewound_1/gen_9"):
        git(net.bare, "update-ref", f"refs/tags/ooo/greet/{name}", "main")
    b.pull()
    same(a, b)
    assert b.tags() == ["gen_1", "rewound_1/gen_2"]
    assert b.ouro("verify", "greet").code == 0
    b.git("tag", "ooo/greet/gen_8", b.tip())
    b.git("tag", "ooo/greet/rewound_8/gen_1", b.tip())
    assert b.push()[0]["outcome"] == "same"


def test_a_push_of_a_tag_alone_is_undone_as_it_says(net: Net, a: Host) -> None:
    tag = "refs/tags/ooo/greet/gen_2"
    git(net.bare, "update-ref", "-d", tag)
    before = net.refs()
    done = a.push()[0]
    assert [change["ref"] for change in done["changes"]] == [tag]
    a.git(*done["undo"].split()[1:])
    assert net.refs() == before


@pytest.mark.parametrize("name", ["", "x" * 300])
def test_what_is_no_name_is_not_looked_for(net: Net, a: Host, name: str) -> None:
    for command in ("push", "pull"):
        a.ouro(command, "origin", name).refused(2, "cannot name a lineage")


def test_what_was_not_finished_is_kept_and_its_notes_come_again(net: Net, a: Host) -> None:
    b = net.host("b")
    b.pull()
    a.step()
    a.push()
    b.ouro("note", "greet", "Be brief")
    b.agent.on("execute", {"exit": 1}, gen=3)
    assert b.step().code == 75
    ours = b.tip()
    done = b.ouro("pull", "--json")
    assert "what was not finished after generation 2 is kept" in done.err
    assert b.git("rev-parse", "refs/ouro/rescue/greet/1") == ours
    assert b.git("for-each-ref", "refs/heads/ooo/").count("\n") == 0
    same(a, b)
    b.agent.on("execute", "Done.", gen=3)
    b.step()
    assert [note["text"] for note in b.data("note.added")] == ["Be brief"]


def test_changes_of_the_users_in_the_workspace_are_refused(net: Net, a: Host) -> None:
    b = net.host("b")
    b.pull()
    b.step()
    b.push()
    before = a.tip()
    (a.workspace / "README").write_text("Mine.\n")
    found = a.pull(code=1)[0]
    assert "README" in found["reason"]
    assert a.tip() == before
    assert (a.workspace / "README").read_text() == "Mine.\n"
    git(a.workspace, "checkout", "-q", "README")
    assert a.pull()[0]["outcome"] == "moved"


# --- the network is the user's


def test_the_users_own_hook_and_settings_hold(net: Net, a: Host) -> None:
    hook = a.root / ".git" / "hooks" / "pre-push"
    hook.write_text("#!/bin/sh\necho not on a Friday >&2\nexit 1\n")
    hook.chmod(0o755)
    a.step()
    before = net.refs()
    found = a.push(code=1)[0]
    assert "not on a Friday" in found["reason"]
    assert net.refs() == before
    hook.unlink()
    a.git("remote", "set-url", "origin", "hub:greet")
    env = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{net.bare}.insteadOf",
        "GIT_CONFIG_VALUE_0": "hub:greet",
        "GIT_DIR": "/nowhere",
    }
    assert "pushed to origin" in a.ouro("push", env=env).out


def test_a_person_at_a_terminal_can_be_asked_for_a_passphrase(net: Net, a: Host) -> None:
    ssh = net.folder / "ssh"
    ssh.write_text(
        "#!/bin/sh\nprintf 'passphrase: ' >/dev/tty; read -r said </dev/tty\n"
        '[ "$said" = sesame ] || exit 255\nwhile [ $# -gt 1 ]; do shift; done; eval "$1"\n'
    )
    ssh.chmod(0o755)
    a.git("remote", "set-url", "origin", f"ssh://hub{net.bare}")
    a.step()
    env = {"GIT_SSH_COMMAND": str(ssh), "GIT_SSH_VARIANT": "simple"}
    # Without a terminal nobody can be asked, and nothing waits for an answer.
    a.ouro("push", env=env).refused(75, "origin cannot be reached")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(a.root)
        os.execve(
            sys.executable,
            [sys.executable, "-m", "ouro", "push"],
            {**os.environ, "PYTHONPATH": str(ROOT), **env},
        )
    said = b""
    with suppress(OSError):  # a terminal whose program has ended
        while more := os.read(terminal, 1024):
            said += more
            if more.endswith(b"passphrase: "):
                os.write(terminal, b"sesame\n")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, said
    assert b"greet pushed to origin" in said
    assert net.refs()["heads/ooo/greet"] == a.tip()


def test_a_remote_that_refuses_is_quoted_and_nothing_of_it_is_there(net: Net, a: Host) -> None:
    net.hook("update", 'case $1 in refs/tags/*) echo "no tags today" >&2; exit 1 ;; esac')
    a.step()
    before = net.refs()
    found = a.push(code=1)[0]
    assert "no tags today" in found["reason"]
    assert net.refs() == before


def test_a_remote_that_is_gone_or_hangs_is_told(net: Net, a: Host) -> None:
    a.step()
    net.hook("pre-receive", "exec sleep 100")
    done = a.ouro("push", env={"OURO_REMOTE_LIMIT": "1"})
    done.refused(75, "origin cannot be reached: it said nothing for 1 s", "git ls-remote origin")
    (net.bare / "hooks" / "pre-receive").unlink()
    net.bare.rename(net.folder / "away")
    a.ouro("push").refused(75, "origin cannot be reached", "does not appear to be a git repository")
    a.ouro("pull").refused(75, "origin cannot be reached")
    secret = "https://me:hunter2hunter2@127.0.0.1:1/x"
    a.git("remote", "set-url", "origin", secret)
    done = a.ouro("pull")
    done.refused(75, "origin cannot be reached")
    assert "hunter2" not in done.err


def test_a_reply_that_was_lost_is_no_failure(net: Net, a: Host) -> None:
    """The remote does what was asked, and the connection breaks before it says so."""
    a.step()
    net.hook("post-receive", "exec sleep 100")
    found = a.ouro("push", env={"OURO_REMOTE_LIMIT": "1"})
    assert found.code == 0, found
    assert net.refs()["heads/ooo/greet"] == a.tip()
