"""A lineage with a history worth reading: made once, and only looked at."""

from pathlib import Path

from tests.app.scripted import Project, added, modified, mutations, questions, verdicts

CODES = [3, 75, 3, 3, 0]
"""Continue, a failure that passes, continue twice, converged."""


def evolved(folder: Path) -> Project:
    """Four generations. 2: a call fails, and what it wrote is rescued; ac2 is met. 3: ac2 and
    hello.py are broken, ac3 comes, a secret is left out. 4: all is met."""
    project = Project(folder)
    works = {"description": "It works", "verify_command": "test -e ok"}
    project.write_seed("It greets", works, constraints=["small"])
    agent = project.agent
    agent.on("execute", {"write": {"hello.py": "print(1)\n"}, "reply": "Wrote it."}, gen=1)
    broken = {"write": {"junk": "x"}, "exit": 1, "stderr": "out of \x1b[31mluck\n"}
    agent.on("execute", broken, {"write": {"ok": "\tone\x1b]0;title\x07\n"}}, gen=2)
    agent.on("execute", {"delete": ["ok"], "write": {".env": "x", "hello.py": "exit(1)\n"}}, gen=3)
    agent.on("execute", {"write": {"ok": "two\n", "hello.py": "print(2)\n"}}, gen=4)
    agent.on("wonder", questions("tone"), gen=2)
    agent.on("reflect", mutations(added("tone")), gen=2)
    changes = [
        {"action": "add", "id": "ac3", "description": "It is polite"},
        {"action": "note", "id": "ac1", "description": "loudly"},
    ]
    told = modified("name", "Who is greeted")
    agent.on("reflect", mutations(told, criteria=changes, learnings=["names vary"]), gen=3)
    agent.on("evaluate", verdicts(ac1=True))
    for number in (3, 4):
        agent.on("evaluate", verdicts(ac1=True, ac3=True), gen=number)
    assert [project.step("--wait").code for _ in CODES] == CODES
    return project
