"""Sentences: every word must have its place in one of these rules, else nothing is understood.

A sentence is read from left to right as a chain of statements about a file, a function or tests.
No rule skips a word that it does not know. So a clause too many (`… and logs every call`), a
negation or a condition leaves words over, and the criterion is not understood.
"""

from collections.abc import Callable

from ouro.agents.offline import rules_files, rules_functions, rules_tests
from ouro.agents.offline.demands import Demand
from ouro.agents.offline.lexing import Token
from ouro.agents.offline.sentence import Known, Sentence

_BEGIN: tuple[Callable[[Sentence], bool], ...] = (
    rules_tests.suite,
    rules_tests.collected,
    rules_tests.runner,
    rules_tests.some_tests,
    rules_files.named_file,
    rules_functions.call,
    rules_functions.named_function,
)
"""What a statement may begin with."""

_GO_ON: tuple[Callable[[Sentence], bool], ...] = (
    rules_functions.where,
    rules_functions.takes,
    rules_functions.returns,
    rules_functions.called,
    rules_functions.for_any,
    rules_files.holding,
    rules_tests.about,
    rules_tests.run_by,
    rules_tests.passing,
)
"""What may be said of its subject."""


def read_sentence(tokens: tuple[Token, ...], known: Known) -> tuple[Demand, ...]:
    """What the sentence asks, at least one demand; raises Unclear where any of it is not covered.

    `known` are the functions that the seed names anywhere, with their parameters where given.
    """
    sentence = Sentence(tokens, known)
    while True:
        sentence.skip_links()
        if sentence.peek() is None:
            return sentence.demands()
        if not _covers(sentence):
            raise sentence.unclear()


def _covers(sentence: Sentence) -> bool:
    """After a mere frame ("in hello.py", "for any name") a statement may begin as before."""
    if sentence.tries(rules_files.frame) or sentence.tries(rules_functions.for_each):
        return True
    if any(map(sentence.tries, _GO_ON)) or (sentence.linked and any(map(sentence.tries, _BEGIN))):
        sentence.linked = sentence.there = False
        return True
    return False
