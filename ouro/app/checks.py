"""The mechanical checks: exit codes, files in the tree, texts in an output; no agent's word."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ouro.app.run import Run
from ouro.app.shell import Command, run_shell
from ouro.core.brief import Phase
from ouro.core.events import Method, Verdict
from ouro.core.seed import Checks, Criterion, HiddenChecks
from ouro.errors import NeedsPerson
from ouro.phases.text import cut

if TYPE_CHECKING:
    from ouro.agents.process import Outcome

HIDDEN_EVIDENCE = {True: "met", False: "not met"}
"""All that may be said of a hidden check: agents read evidence."""

LONGEST_EVIDENCE = 4000
"""Characters."""


class Checked(Struct, frozen=True):
    """Verdicts of the criteria that have checks, and the seconds that they took."""

    verdicts: tuple[Verdict, ...]
    seconds: float


class Finding(Struct, frozen=True):
    passed: bool
    evidence: str


def judge(run: Run, mark: str) -> Checked:
    """Run every check of the current seed in the workspace, which must be at the tip."""
    hidden = hidden_checks(run)
    # In a checkout of the user's own, a new ignored file may be theirs.
    there = run.workspace.ignored() if hidden and run.workspace.ours else None
    began = time.monotonic()
    verdicts = tuple(
        _verdict(run, criterion, checks, mark)
        for criterion in run.lineage.current.seed.acceptance_criteria
        if (checks := hidden.get(criterion.id, criterion.checks))
    )
    if there is not None:
        # Caches of a hidden check's tools would show the next agent what it tests.
        run.workspace.remove_ignored(there)
    seconds = round(time.monotonic() - began, 3) if verdicts else 0.0
    return Checked(verdicts, seconds)


def hidden_checks(run: Run) -> HiddenChecks:
    """The checks that no agent sees; raises NeedsPerson where this clone does not have them."""
    if run.lineage.hidden is None:
        return {}
    content = run.session.store.hidden(run.lineage.hidden)
    if content is None:
        raise NeedsPerson(
            f"the hidden checks of {run.lineage.id} are not in this clone",
            f"fetch them: ouro pull REMOTE {run.lineage.id}, once they were pushed with ouro push",
        )
    return msgspec.json.decode(content, type=HiddenChecks)


def _verdict(run: Run, criterion: Criterion, checks: Checks, mark: str) -> Verdict:
    finding = _find(run, criterion.id, checks, mark)
    evidence = HIDDEN_EVIDENCE[finding.passed] if criterion.hidden else finding.evidence
    return Verdict(
        id=criterion.id,
        passed=finding.passed,
        score=1.0 if finding.passed else 0.0,
        method=Method.CHECK,
        evidence=cut(evidence, LONGEST_EVIDENCE),
    )


def _find(run: Run, name: str, checks: Checks, mark: str) -> Finding:
    missing = [p for p in checks.expected_artifacts if not run.session.repo.holds(run.tip, p)]
    if missing:
        return Finding(False, f"not in the committed tree: {', '.join(missing)}")
    if checks.verify_command is None:
        return Finding(True, f"in the committed tree: {', '.join(checks.expected_artifacts)}")
    limit = checks.timeout or run.session.config.settings.check_limit
    command = Command(
        text=checks.verify_command,
        name=f"check-{name}",
        phase=Phase.EVALUATE,
        limit=limit,
        # Compiled files are told apart by second and size alone: a stale one could pass a check.
        environment={"PYTHONDONTWRITEBYTECODE": "1"},
    )
    outcome = run_shell(run, command, mark)
    # Every check sees the tip, not what the one before it left.
    run.workspace.reset(run.tip)
    return _of_outcome(checks, outcome)


def _of_outcome(checks: Checks, outcome: Outcome) -> Finding:
    from ouro.agents.process import Cause

    printed = outcome.stdout + outcome.stderr  # masked when the program ended
    said = f"$ {checks.verify_command}\n{printed.strip()}\n"
    if outcome.cause is Cause.NOT_FOUND:
        return Finding(False, f"{said}could not be started: {outcome.stderr}")
    if outcome.cause is Cause.FLOOD:
        return Finding(False, f"{said}ended: it flooded its output")
    if outcome.cause is not Cause.EXIT:
        return Finding(False, f"{said}ended after {outcome.seconds:.1f} s: the time limit")
    if outcome.code != 0:
        return Finding(False, f"{said}exit code {outcome.code}")
    wanted = checks.output_assertion
    if wanted is not None and wanted not in printed:
        return Finding(False, f"{said}exit code 0, but the output does not hold {wanted!r}")
    return Finding(True, f"{said}exit code 0")
