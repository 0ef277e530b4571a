"""The numbers that part one verdict from another."""

from ouro.core.events import QaVerdict

PASS_MARK = 0.8
"""The least score with which an agent's verdict on a criterion passes."""
BELOW_PASS = 0.79
"""The most that a verdict which does not pass can score."""
QA_PASS_FROM = 80.0
QA_FAIL_BELOW = 40.0


def qa_verdict(score: float) -> QaVerdict:
    """QA's verdict follows from its score, 0 to 100."""
    if score >= QA_PASS_FROM:
        return QaVerdict.PASS
    return QaVerdict.FAIL if score < QA_FAIL_BELOW else QaVerdict.REVISE
