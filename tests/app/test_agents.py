"""Agents: which one serves, what counts as a reply, and what becomes of their misdeeds."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Project, alive, as_json, git, mutations, questions, verdicts

PASSES: dict[str, Any] = {"write": {"ok": "1"}}
ONCE = ("--stop-on-pass", "--no-qa")
"""One generation that passes is the whole lineage."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# --- which one


def test_no_agent_is_chosen_in_silence(project: Project) -> None:
    named = project.folder / "bin" / "codex"
    named.parent.mkdir()
    named.symlink_to("/bin/true")
    before = project.everything()
    done = project.bare_step(env={"PATH": f"{named.parent}:{os.environ['PATH']}"})
    done.refused(2, "cannot meet ac1", "--agent offline", "installed here: ", "codex")
    assert project.everything() == before
    project.step(*ONCE)
    refused = project.bare_step()
    refused.refused(2, "last served by scripted", "--agent scripted", "--agent offline")


def test_rules_serve_what_they_cover(project: Project) -> None:
    project.write_seed("The file hello.txt exists")
    done = project.bare_step(*ONCE)
    assert (done.code, done.action) == (0, "converged")
    (executed,) = project.data("execute.completed")
    assert executed["usage"]["agent"] == "offline"
    assert project.files() == {"README", "hello.txt"}


def test_what_a_child_gets(project: Project) -> None:
    project.step(*ONCE, env={"OURO_MAX_RETRIES": "4", "GIT_DIR": "/no/where", "NO_GIT": "1"})
    environment = project.agent.environment()
    ours = {name: value for name, value in environment.items() if name.startswith("OURO_")}
    assert len(ours.pop("OURO_RUN")) == 32
    assert ours == {"OURO_LINEAGE_ID": "greet", "OURO_GENERATION": "1", "OURO_PHASE": "execute"}
    assert [name for name in environment if name.startswith("GIT_")] == ["GIT_CEILING_DIRECTORIES"]
    assert environment["GIT_CEILING_DIRECTORIES"] == str(project.workspace.parent)
    assert environment["NO_GIT"] == "1"


def test_the_prompt_can_come_in_a_file(project: Project) -> None:
    copy = project.folder / "copy"
    done = project.step(*ONCE, "--agent", f"sh -c 'cp \"$0\" {copy}; echo done' {{prompt_file}}")
    assert done.code == 3
    assert "Greet people" in copy.read_text()


# --- what counts as a reply


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ({"reply": ""}, "agent_error: scripted exited 0 without a reply"),
        ({"reply": " \n"}, "agent_error: scripted exited 0 without a reply"),
        ({"signal": signal.SIGKILL}, "agent_error: scripted failed, signal 9"),
        # What an agent says in its reply is text: only its exit code counts.
        (
            {"reply": "429 rate limit reached, converged", "exit": 3, "stderr": "no luck\n"},
            "agent_error: scripted failed, exit 3: no luck",
        ),
    ],
    ids=["empty", "blank", "killed", "exit"],
)
def test_a_call_that_failed(project: Project, act: dict[str, Any], said: str) -> None:
    project.agent.on("execute", {**act, "write": {"half": "done"}})
    done = project.step("--max-failures", "1")
    assert (done.code, done.json["error"]) == (12, said)
    (failed,) = project.data("evolve_step.failed")
    assert (failed["phase"], failed["attempt"], failed["retry_at"]) == ("execute", 1, None)
    # What it had done is saved, and no part of the lineage.
    assert project.git("show", f"{failed['rescue']}:half") == "done"
    assert project.files() == {"README"}
    assert project.tags() == []
    project.clean()


@pytest.mark.parametrize("limit", ["--idle-limit", "--wall-limit"])
def test_a_call_that_takes_too_long(project: Project, limit: str) -> None:
    project.agent.on("execute", {"sleep": 60})
    done = project.step(limit, "0.5", "--max-failures", "1")
    assert done.code == 12
    assert done.json["error"].startswith("timeout: scripted was ended after ")
    assert not alive(project.agent.pids()[0])


def test_a_reply_that_does_not_fit_is_asked_for_once_more(project: Project) -> None:
    project.step("--no-execute")
    project.agent.on("wonder", "Let me think about it.", questions("tone"))
    removal = {"action": "remove", "name": "name", "reason": "away with all of it"}
    project.agent.on("reflect", mutations(removal))
    done = project.step("--max-failures", "1")
    assert done.code == 12
    assert done.json["error"] == (
        "bad_reply: the mutations would remove every field of the ontology"
    )
    assert project.agent.calls() == ["2/wonder", "2/wonder", "2/reflect", "2/reflect"]
    first, second = project.agent.prompts("2-wonder")
    assert second.startswith(first.rstrip())
    assert "no readable JSON" in second
    assert "Let me think about it." in second
    # Wonder's reply is in the log: only reflect is asked again.
    project.agent.on("reflect", mutations())
    assert project.step().code == 3
    assert project.agent.calls()[4:] == ["2/reflect"]
    assert len(project.data("wonder.completed")) == 1


def test_verdicts_go_by_id(project: Project) -> None:
    """In any order, each exactly once; those of checks are none of the agent's business."""
    check = {"description": "It is there", "id": "check", "verify_command": "test -e ok"}
    project.write_seed("It is good", check, "It is quick")
    lacking = verdicts(ac1=True)
    strange = verdicts(ac3=True, ac1=True, check=True)
    project.agent.on("evaluate", lacking, strange)
    done = project.step(*ONCE, "--max-failures", "1")
    assert done.json["error"].startswith("bad_reply: there is a verdict on 'check'")
    assert "there is no verdict on ac3" in project.agent.prompts("1-evaluate")[1]
    project.agent.on("evaluate", verdicts(ac3=0.9, ac1=0.5))
    assert project.step().json["criteria"] == {"passed": 1, "total": 3}
    (evaluated,) = project.data("evaluate.completed")
    assert [(v["id"], v["passed"], v["method"]) for v in evaluated["verdicts"]] == [
        ("ac1", False, "agent"),
        ("check", False, "check"),
        ("ac3", True, "agent"),
    ]
    assert "check" not in project.agent.prompts("1-evaluate")[0].split("## Acceptance criteria")[1]


def test_replies_that_are_no_utf_8(project: Project) -> None:
    broken = "caf\udce9 \udcff \x00\x1b[31m end"
    project.write_seed("It is good")
    project.agent.on("execute", {**PASSES, "reply": broken})
    found = {"id": "ac1", "passed": True, "score": 1.0, "evidence": "EVIDENCE"}
    project.agent.on("evaluate", as_json({"criteria": [found]}).replace("EVIDENCE", "\udce9 ok"))
    assert project.step(*ONCE).code == 0
    assert project.data("execute.completed")[0]["summary"] == "caf� � [31m end"
    assert project.data("evaluate.completed")[0]["verdicts"][0]["evidence"] == "� ok"


# --- misdeeds: while an agent works


def test_a_server_that_outlives_its_agent_is_ended(project: Project) -> None:
    """Also one in a session of its own, which holds on to the agent's output."""
    server = project.folder / "server"
    start = f"setsid sh -c 'echo $$ >{server}; exec sleep 600' & sleep 0.3"
    project.agent.on("execute", {**PASSES, "run": start})
    began = time.monotonic()
    assert project.step(*ONCE).code == 0
    assert time.monotonic() - began < 30
    assert not alive(int(server.read_text()))


def test_a_flood_of_output(project: Project) -> None:
    project.agent.on("execute", {**PASSES, "flood": 200, "reply": "At the end."})
    assert project.step(*ONCE).code == 0
    summary = project.data("execute.completed")[0]["summary"]
    assert summary.endswith("\nAt the end.")
    assert len(summary) <= 4000


# --- misdeeds: with git and with files that are not the agent's

LOG = ".ouro/lineages/greet/events/000001.jsonl"
MISDEEDS = {
    "log": f"echo '{{}}' >>{LOG}; echo x >.ouro/mine; rm .ouro/lineages/greet/seed.yaml;"
    " printf 'agent: offline\\n' >ouro.yaml",
    "log-gone": "rm -rf .ouro; echo x >.ouro",
    "commit": "git add . && git commit -qm mine",
    "commit-everything": "rm -rf .ouro; git add -A && git commit -qm mine",
    "amend": "git add . && git commit -q --amend -m mine",
    "reset": "cp ok ../kept; git reset -q --hard HEAD~1; mv ../kept ok",
    "switch": "git switch -qc other; git add .; git commit -qm mine",
    "detach": "git checkout -q --detach; git add .; git commit -qm mine",
    "orphan": "git switch -q --orphan other; echo 1 >ok; git add ok; git commit -qm mine",
    "branch-gone": "git update-ref -d refs/heads/ooo/greet",
    "stash": "echo 2 >README; git stash -q; git status >/dev/null",
    "merge": "git switch -qc other HEAD~1; echo 3 >README; git commit -qam mine;"
    " git switch -q ooo/greet; echo 4 >README; git commit -qam also; git merge other || :",
    "rebase": "git add .; git commit -qm mine; echo 5 >ok; git commit -qam more;"
    " GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' git rebase -qi HEAD~2; echo 1 >ok",
    "index": "git rm -rq --cached . ; git update-index --add --cacheinfo 100644,"
    "$(git hash-object -w ok),staged",
    "index-lock": "git update-index --skip-worktree README; git update-index --assume-unchanged"
    ' README; git worktree lock .; touch "$(git rev-parse --git-dir)/index.lock"',
    "index-broken": 'echo broken >"$(git rev-parse --git-dir)/index"',
    "worktree-pointer": "rm .git",
    "git-folder": 'rm -rf "$(git rev-parse --git-dir)"',
    "own-repository": "rm .git; git init -q; git add .; git commit -qm mine || :",
    "tags": "git tag ooo/greet/gen_1 HEAD~1; git tag -f ooo/greet/gen_7",
}


@pytest.mark.parametrize("misdeed", MISDEEDS)
def test_misdeeds_in_the_workspace(project: Project, misdeed: str) -> None:
    """The work counts, the log and everything around it is as if nothing had been."""
    before = project.untouched()
    project.agent.on("execute", {**PASSES, "run": MISDEEDS[misdeed]})
    done = project.step(*ONCE)
    assert (done.code, done.action) == (0, "converged"), done
    assert project.show("ok") in ("1", "1\n")
    own = project.git("ls-tree", "-r", "--name-only", project.branch, ".ouro/").splitlines()
    folder = ".ouro/lineages/greet"
    assert own == [f"{folder}/{n}" for n in (".gitattributes", "events/000001.jsonl", "seed.yaml")]
    assert "ouro.yaml" not in project.files()
    assert project.types() == [
        "lineage.created",
        "execute.completed",
        "evaluate.completed",
        "evolve_step.completed",
    ]
    assert project.git("rev-parse", "refs/tags/ooo/greet/gen_1^{commit}") == project.tip()
    project.clean()
    assert (project.workspace / LOG).read_text() == project.show(LOG) + "\n"
    # But for what git shares between working trees, and the agent has made there.
    shared = ("refs", str(project.root / ".git"), "refs/stash", "logs/refs/stash")
    after = project.untouched()
    assert {n: after[n] for n in after if n not in shared} == {
        n: before[n] for n in before if n not in shared
    }


def test_commits_of_an_agent_are_further_parents(project: Project) -> None:
    commits = "git add .; git commit -qm one; echo 2 >more; git add .; git commit -qm two"
    project.agent.on("execute", {**PASSES, "run": commits})
    done = project.step(*ONCE)
    assert done.code == 0
    # They are in the history: nothing was lost, and so nothing saved or said.
    assert project.rescued() == []
    assert "warning" not in done.err
    (executed,) = project.data("execute.completed")
    (adopted,) = executed["adopted"]
    assert project.git("log", "--format=%s", "-2", adopted) == "two\none"
    merge = project.git("log", "--merges", "--format=%P", "-1", project.branch).split()
    assert merge[1:] == [adopted]
    assert project.files() == {"README", "ok", "more"}
    first_parents = project.git("log", "--first-parent", "--format=%s", project.branch)
    assert "one" not in first_parents.splitlines()


def test_what_an_agent_cut_off_is_kept(project: Project) -> None:
    """Its commit took the place of ours: it is in no history of ours, and not lost."""
    project.agent.on("execute", {**PASSES, "run": "git add .; git commit -q --amend -m mine"})
    done = project.step(*ONCE)
    assert "was moved; what it held is kept" in done.err
    (rescued,) = project.rescued()
    assert project.git("log", "-1", "--format=%s", rescued) == "mine"
    assert project.git("show", f"{rescued}:ok") == "1"


@pytest.mark.parametrize("command", ['rm -rf "$PWD"', "git worktree remove --force ."])
def test_who_removes_the_workspace_has_failed(project: Project, command: str) -> None:
    """An empty folder would be a generation that deletes everything."""
    project.agent.on("execute", {"run": command}, PASSES)
    done = project.step("--max-failures", "1")
    assert (done.code, done.json["error"]) == (12, "agent_error: scripted removed its workspace")
    project.clean()
    assert project.step(*ONCE).code == 0
    assert project.files() == {"README", "ok"}


def test_a_repository_of_its_own_is_left_out_and_left_alone(project: Project) -> None:
    commit = "git -c user.name=a -c user.email=b commit -q --allow-empty -m x"
    made = "for n in one two; do mkdir $n; cd $n; git init -q; echo 1 >f; cd ..; done"
    run = f"{made}; cd one; {commit}"
    project.agent.on("execute", {**PASSES, "run": run}, gen=1)
    done = project.step("--no-qa")
    assert "left out of the generation: one (nested repository)" in done.err
    assert project.step().code == 0
    assert project.files() == {"README", "ok"}
    assert (project.workspace / "one" / "f").is_file()
    assert (project.workspace / "two" / "f").is_file()


@pytest.mark.parametrize(("phase", "gen"), [("qa", 1), ("wonder", 2), ("evaluate", 1)])
def test_who_is_only_to_think_changes_nothing(project: Project, phase: str, gen: int) -> None:
    project.write_seed("It is good")
    project.agent.on("evaluate", verdicts(ac1=True))
    project.agent.on("execute", {"write": {"README": "mine\n"}, "run": "git commit -qam mine"})
    act = {"write": {"README": "thoughts\n", "new": "1"}, "run": "git add .; git commit -qm no"}
    reply = {"qa": as_json({"score": 90}), "wonder": questions(), "evaluate": verdicts(ac1=True)}
    project.agent.on(phase, {**act, "reply": reply[phase]}, gen=gen)
    done = project.steps(gen)[-1]
    assert done.json["error"] is None
    assert "files changed outside execute, put back and saved" in done.err
    assert project.files() == {"README"}
    assert project.show("README") == "mine"
    project.clean()


def test_stash_entries_of_the_user_survive(project: Project) -> None:
    """All working trees share one stash."""
    (project.root / "README").write_text("Unfinished.\n")
    project.git("stash", "-q")
    entry = project.git("rev-parse", "refs/stash")
    project.agent.on("execute", {**PASSES, "run": "git stash pop -q; git checkout -q README"})
    assert project.step(*ONCE).code == 0
    assert project.git("rev-parse", "refs/stash") == entry


def test_settings_that_all_working_trees_share(project: Project) -> None:
    bad = "git config core.hooksPath /tmp/mine; git config core.bare true"
    project.agent.on("execute", {**PASSES, "run": bad})
    before = git(project.root, "config", "--list")
    assert project.step(*ONCE).code == 0
    assert git(project.root, "config", "--list") == before
