"""Rewind, undo and fork through the program: exact, undoable, and never at the user's cost."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.scripted import Project, added, finish, git, mutations, put_back, until
from tests.samples import every

CODE: dict[int, dict[str, Any]] = {
    1: {"write": {"kept": "1", "gone_later": "1", "swap": "a file", "run.sh": "echo 1"}},
    2: {
        "run": "rm -r swap; mkdir swap; echo in >swap/inside; chmod +x run.sh; ln -s kept link",
        "delete": ["gone_later"],
    },
    3: {"write": {"kept": "3", "added_later": "3", "deep/er/new": "3"}, "delete": ["link"]},
    4: {"write": {"kept": "4", "ok": "1"}},
}


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A lineage of four generations, whose code changes in every way that git knows."""
    project = Project(tmp_path_factory.mktemp("grown"))
    project.write_seed({"description": "It works", "verify_command": "test -e ok"})
    for number, act in CODE.items():
        project.agent.on("execute", act, gen=number)
        project.agent.on("reflect", mutations(added(f"field{number}")), gen=number)
    project.steps(4, "--no-qa")
    return project


@pytest.fixture
def project(grown: Project, tmp_path: Path) -> Iterator[Project]:
    """The same again and again."""
    with put_back(grown.folder, tmp_path / "spare"):
        yield grown


def tree(project: Project, revision: str) -> str:
    """The code of a commit: modes, ids and names."""
    listed = git(project.root, "ls-tree", "-r", "-z", revision)
    return "\0".join(line for line in listed.split("\0") if "\t.ouro/" not in line)


def rewind(project: Project, to: int, *more: str, code: int = 0) -> Any:
    done = project.ouro("rewind", project.lineage, "--to", str(to), "--json", *more)
    assert done.code == code, done
    return json.loads(done.out) if code == 0 else done


# --- exact


@pytest.mark.parametrize("to", every(2, range(4)))
def test_a_rewind_is_the_generation_again_exactly(project: Project, to: int) -> None:
    old = project.tip()
    was = f"refs/tags/ooo/greet/gen_{to}" if to else project.git("log", "--format=%H",
        "--grep=Ouro-Event: lineage.created", project.branch)  # fmt: skip
    lines = project.git("show", f"{was}:.ouro/lineages/greet/events/000001.jsonl")
    done = rewind(project, to)
    assert done["old"] == old
    assert done["commit"] == project.tip()
    assert project.git("rev-parse", f"{project.branch}^") == old
    assert tree(project, project.branch) == tree(project, was)
    now = project.git("show", f"{project.branch}:.ouro/lineages/greet/events/000001.jsonl")
    kept, last = now.rsplit("\n", 1)
    assert kept == lines
    event = json.loads(last)
    assert event["type"] == "lineage.rewound"
    assert event["data"]["n"] == 1
    project.clean()
    on_disk = {p for p in project.workspace.rglob("*") if p.is_file() or p.is_symlink()}
    names = {str(p.relative_to(project.workspace)) for p in on_disk} - {".git"}
    assert {name for name in names if not name.startswith(".ouro/")} == project.files()
    left = [f"rewound_1/gen_{number}" for number in range(to + 1, 5)]
    assert project.tags() == [*(f"gen_{number}" for number in range(1, to + 1)), *left]
    assert done["left"] == list(range(to + 1, 5))


def test_an_undo_is_what_was_left_and_another_undo_the_rewind_again(project: Project) -> None:
    before, code = project.events(), tree(project, project.branch)
    rewind(project, 2)
    behind = tree(project, project.branch)
    assert project.ouro("undo", "greet").code == 0
    assert project.events()[:-1] == before
    assert project.events()[-1]["type"] == "lineage.restored"
    assert tree(project, project.branch) == code
    project.clean()
    assert [t for t in project.tags() if t.startswith("gen_")] == [f"gen_{n}" for n in (1, 2, 3, 4)]
    for number in (3, 4):
        names = [f"refs/tags/ooo/greet/{at}gen_{number}" for at in ("", "rewound_1/")]
        assert len({project.git("rev-parse", name) for name in names}) == 1
    assert project.ouro("undo", "greet").code == 0
    assert tree(project, project.branch) == behind
    assert project.events()[-1]["data"]["n"] == 3
    assert [t for t in project.tags() if t.startswith("gen_")] == ["gen_1", "gen_2"]


def test_what_a_rewind_left_outlives_a_thorough_gc(project: Project) -> None:
    code = tree(project, project.branch)
    rewind(project, 1)
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "--quiet", "--prune=now")
    assert project.ouro("undo", "greet").code == 0
    assert tree(project, project.branch) == code


def test_a_rewound_lineage_goes_on_and_remembers_what_it_cost(project: Project) -> None:
    spent = json.loads(project.ouro("status", "greet", "--json").out)["seconds"]
    rewind(project, 2)
    assert json.loads(project.ouro("status", "greet", "--json").out)["seconds"] == spent
    done = project.step("--no-qa")
    assert done.json["generation"] == 3
    assert project.show("kept") == "3"
    assert "gen_3" in project.tags()
    assert "rewound_1/gen_3" in project.tags()
    rewind(project, 1)
    assert project.events()[-1]["data"]["n"] == 2
    assert "rewound_2/gen_3" in project.tags()
    assert "rewound_1/gen_4" in project.tags()
    assert project.ouro("undo", "greet").code == 0
    assert project.show("kept") == "3"
    assert project.git("fsck", "--strict", "--no-dangling") == ""


def test_a_dry_run_changes_nothing_and_says_the_same(project: Project) -> None:
    before = project.everything()
    said = rewind(project, 2, "--dry-run")
    assert project.everything() == before
    assert said["commit"] is None
    done = rewind(project, 2)
    for key in ("n", "from_generation", "to_generation", "left", "files", "old", "undo"):
        assert said[key] == done[key]


# --- refused, and saved


@pytest.mark.parametrize(
    ("to", "said"), [(5, "generation 5 was not completed in greet"), (99, "choose one of 0 to 4")]
)
def test_a_generation_that_is_not_there(project: Project, to: int, said: str) -> None:
    before = project.everything()
    rewind(project, to, code=2).refused(2, said)
    assert project.everything() == before


def test_where_it_is_already_there_is_nothing_to_do(project: Project) -> None:
    before = project.everything()
    assert rewind(project, 4) is None
    assert project.everything() == before
    rewind(project, 2)
    tip = project.tip()
    assert rewind(project, 2) is None
    assert project.tip() == tip


def test_an_undo_without_a_rewind(project: Project) -> None:
    project.ouro("undo", "greet").refused(2, "greet was never rewound")


def test_the_users_changes_are_refused_then_saved_with_force(project: Project) -> None:
    (project.workspace / "kept").write_text("mine\n")
    (project.workspace / "gone_later").write_text("mine, untracked\n")
    before = project.everything()
    rewind(project, 1, code=1).refused(1, "kept", "gone_later", "--force")
    assert project.everything() == before
    assert (project.workspace / "kept").read_text() == "mine\n"
    done = rewind(project, 1, "--force")
    assert project.git("show", f"{done['rescue']}:kept") == "mine"
    assert project.git("show", f"{done['rescue']}:gone_later") == "mine, untracked"
    assert (project.workspace / "gone_later").read_text() == "1"
    project.clean()


def test_an_ignored_file_in_the_way_is_not_overwritten(project: Project) -> None:
    (project.root / ".git" / "info" / "exclude").write_text("gone_later\nbuild/\n")
    (project.workspace / "gone_later").write_text("precious\n")
    (project.workspace / "build").mkdir()
    (project.workspace / "build" / "out").write_text("beside\n")
    rewind(project, 1, code=1).refused(1, "gone_later")
    assert (project.workspace / "gone_later").read_text() == "precious\n"
    done = rewind(project, 1, "--force")
    assert project.git("show", f"{done['rescue']}:gone_later") == "precious"
    assert (project.workspace / "build" / "out").read_text() == "beside\n"


def test_a_secret_in_the_way_is_neither_overwritten_nor_saved(project: Project) -> None:
    secret = "ghp_" + "Ab1" * 12
    (project.workspace / "gone_later").write_text(f"{secret}\n")
    rewind(project, 1, "--force", code=1).refused(1, "gone_later", "move it away")
    assert (project.workspace / "gone_later").read_text() == f"{secret}\n"
    assert project.tags()[-1] == "gen_4"


@pytest.mark.slow
def test_in_the_users_own_checkout_other_files_stay(project: Project) -> None:
    project.git("worktree", "remove", "--force", str(project.workspace))
    project.git("switch", "-q", "ooo/greet")
    (project.root / "notes.txt").write_text("mine\n")
    (project.root / "deep" / "mine").write_text("mine too\n")
    rewind(project, 1)
    assert tree(project, "HEAD") == tree(project, "refs/tags/ooo/greet/gen_1")
    assert project.git("status", "--porcelain", "-uall") == "?? deep/mine\n?? notes.txt"
    assert project.ouro("undo", "greet").code == 0
    assert project.git("status", "--porcelain", "-uall") == "?? deep/mine\n?? notes.txt"
    (project.root / "kept").write_text("staged\n")
    project.git("add", "kept")
    rewind(project, 1, code=1).refused(1, "kept")
    done = rewind(project, 1, "--force")
    assert project.git("show", f"{done['rescue']}:kept") == "staged"
    assert (project.root / "notes.txt").read_text() == "mine\n"


def test_the_users_checkout_comes_along_where_asked(project: Project) -> None:
    (project.root / "README").write_text("changed\n")
    rewind(project, 2, "--checkout", code=1).refused(1, "changes that are not committed")
    project.git("checkout", "-q", "README")
    rewind(project, 2, "--checkout")
    assert project.git("rev-parse", "HEAD") == project.git("rev-parse", "ooo/greet/gen_2^{commit}")
    assert (project.root / "link").is_symlink()


@pytest.mark.parametrize("ignored", [True, False])
def test_the_users_checkout_loses_no_file_that_is_in_the_way(
    project: Project, ignored: bool
) -> None:
    (project.root / ".git" / "info" / "exclude").write_text("kept\n" if ignored else "")
    (project.root / "kept").write_text("precious\n")
    before = project.everything()
    rewind(project, 2, "--checkout", code=1).refused(1, "kept", "leave out --checkout")
    rewind(project, 4, "--checkout", code=1).refused(1, "kept", "leave out --checkout")
    rewind(project, 2, "--checkout", "--dry-run", code=1).refused(1, "kept")
    assert project.everything() == before
    assert (project.root / "kept").read_text() == "precious\n"


def test_a_name_that_is_no_lineage_leaves_nothing_behind(project: Project) -> None:
    before = project.everything()
    for words in (["rewind", "nope", "--to", "1"], ["undo", "nope"], ["retry", "nope"]):
        project.ouro(*words).refused(1, "there is no lineage nope")
    assert project.everything() == before


def test_no_jump_while_a_step_works(project: Project) -> None:
    gate = project.folder / "gate"
    project.agent.on("wonder", {"run": f"while [ ! -e {gate} ]; do sleep 0.05; done"}, gen=5)
    (project.folder / "agent" / "calls").unlink()
    step = project.start_step("--no-qa")
    until(lambda: "5/wonder" in project.agent.calls())
    rewind(project, 1, code=75).refused(75, "busy")
    gate.touch()
    finish(step)


# --- forks


def test_a_fork_shares_the_past_and_has_its_own_future(project: Project) -> None:
    source = project.tip()
    done = project.ouro("fork", "greet", "other", "--at", "2", "--json")
    assert done.code == 0, done
    said = json.loads(done.out)
    assert said["at"] == project.git("rev-parse", "ooo/greet/gen_2^{commit}")
    assert project.tip() == source
    project.lineage = "other"
    assert project.git("rev-parse", f"{project.branch}^") == said["at"]
    assert project.tags() == ["gen_1", "gen_2"]
    assert project.git("rev-parse", "ooo/other/gen_1^{commit}") == project.git(
        "rev-parse", "ooo/greet/gen_1^{commit}"
    )
    assert {e["lineage_id"] for e in project.events()[:-1]} == {"greet"}
    step = project.step("--no-qa")
    assert (step.json["generation"], step.json["lineage_id"]) == (3, "other")
    done = project.ouro("rewind", "other", "--to", "1")
    done.refused(2, "belongs to greet", "ouro fork greet NEW --at 1")
    rewind(project, 2)
    assert project.tags() == ["gen_1", "gen_2", "rewound_1/gen_3"]
    assert project.ouro("undo", "other").code == 0
    assert project.show("kept") == "3"


def test_a_fork_with_another_seed_starts_at_execute(project: Project) -> None:
    seed = project.folder / "other.yaml"
    seed.write_text(
        json.dumps(
            {
                "goal": "Part from people",
                "acceptance_criteria": [
                    {"description": "bye", "verify_command": "test -e bye", "hidden": True}
                ],
                "ontology_schema": {"name": "Farewell", "fields": [{"name": "name"}]},
            }
        )
    )
    done = project.ouro("fork", "greet", "other", "--seed-file", str(seed))
    assert done.code == 0, done
    project.lineage, project.seed = "other", seed
    project.agent.on("execute", {"write": {"bye": "1"}})
    before = len(project.agent.calls())
    step = project.step("--no-qa")
    assert (step.json["generation"], step.json["similarity"]) == (5, None)
    assert step.json["criteria"] == {"passed": 1, "total": 1}
    assert project.agent.calls()[before:] == ["5/execute"]
    assert "Greet people" not in project.agent.prompts("5-execute")[-1]
    blob = project.git("rev-parse", "refs/ouro/hidden/other")
    assert "test -e bye" in project.git("cat-file", "blob", blob)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["greet", "greet"], 2, "there is a lineage greet already"),
        (["nobody", "other"], 1, "there is no lineage nobody"),
        (["greet", "other", "--at", "9"], 2, "generation 9 was not completed"),
        (["greet", "no/good"], 2, "cannot name a lineage"),
    ],
)
def test_what_cannot_be_forked(project: Project, words: list[str], code: int, said: str) -> None:
    before = project.everything()
    project.ouro("fork", *words).refused(code, said)
    assert project.everything() == before
