"""Statements about files: that they exist, what they hold."""

from ouro.agents.offline.rules_functions import name_function
from ouro.agents.offline.rules_tests import counted
from ouro.agents.offline.sentence import File, Function, Sentence, Tests
from ouro.agents.offline.texts import Unclear

# Verbs that say what can be read in a file; a file does not "implement" a text.
_SHOWING = ("contain", "includ", "hold", "has", "hav", "comes", "with", "'s", "mention")


def frame(sentence: Sentence) -> bool:
    """`The repository contains …`, `… exists`, `… in the project's root`."""
    if sentence.subject is None and sentence.take("REPO"):
        sentence.there = True
        return sentence.take("HAS", "WITH") is not None
    if sentence.subject is not None and sentence.take("EXISTS"):
        _say_exists(sentence)
        return True
    if sentence.take("IN", "OF"):
        return _inside(sentence)
    return False


def _say_exists(sentence: Sentence) -> None:
    """`a.py and b.py exist` says so of both."""
    kind = type(sentence.subject)
    for item in sentence.items:
        item.said = item.said or type(item) is kind


def _inside(sentence: Sentence) -> bool:
    """`in hello.py` tells where the subject is, and at the start what comes next is about it."""
    if sentence.take("REPO"):
        return True
    hit = sentence.take_path()
    if hit is None or hit[1]:
        return False
    subject, path = sentence.subject, hit[0]
    if subject is None:
        sentence.add_file(path)
        sentence.items[-1].said = True
        return True
    if not isinstance(subject, Function | Tests) or subject.path not in {None, path}:
        return False
    if any(type(other) is type(subject) and other.path is None for other in _others(sentence)):
        raise sentence.unclear()
    subject.path = path
    subject.said = True
    return True


def _others(sentence: Sentence) -> list[Function | Tests]:
    items = [item for item in sentence.items if isinstance(item, Function | Tests)]
    return [item for item in items if item is not sentence.subject]


def named_file(sentence: Sentence) -> bool:
    """`a file named hello.py`: to name it is to ask for it."""
    hit = sentence.take_path()
    if hit is None:
        return False
    sentence.add_file(*hit)
    return True


def holding(sentence: Sentence) -> bool:
    """`hello.py has …`, with a function, tests or a text to follow."""
    if sentence.path is None:
        return False
    if sentence.sees("WHOSE") and isinstance(sentence.subject, File):
        sentence.at += 1
        sentence.require_no_other(sentence.subject)
        sentence.subject.said = True
        return _add_text(sentence, "all")
    with_ = sentence.sees("WITH")
    if with_ and isinstance(sentence.subject, Function | Tests):
        return False
    verb = sentence.take("HAS", "WITH")
    if verb is None:
        return False
    if isinstance(sentence.subject, File):
        sentence.require_no_other(sentence.subject)
    _file(sentence).said = True
    if sentence.tries(_tests_inside) or sentence.tries(_function_inside):
        return True
    return verb.raw.casefold().startswith(_SHOWING) and _text(sentence)


def _file(sentence: Sentence) -> File:
    """The file that was named last."""
    files = [i for i in sentence.items if isinstance(i, File) and i.path == sentence.path]
    return files[-1]


def _tests_inside(sentence: Sentence) -> bool:
    if not counted(sentence, sentence.path) or not isinstance(sentence.subject, Tests):
        return False
    sentence.subject.said = sentence.subject.held = True
    return True


def _function_inside(sentence: Sentence) -> bool:
    if not name_function(sentence, sentence.path) or not isinstance(sentence.subject, Function):
        return False
    sentence.subject.said = sentence.subject.held = True
    return True


def _text(sentence: Sentence) -> bool:
    """`contains the line 'x'`, `contains exactly 'x'`, `contains 'x'`."""
    how = "all" if sentence.take("EXACT") else "part"
    if sentence.take("LINE"):
        how = "line" if how == "part" else "unknown"
    else:
        sentence.take("CONTENT")
    name = sentence.peek()
    if name and name.kind in {"N", "C"} and (sentence.path or "").endswith(".py"):
        raise Unclear(f"whether {name.raw} is a text or a function")
    return how != "unknown" and _add_text(sentence, how)


def _add_text(sentence: Sentence, how: str) -> bool:
    text = sentence.take_text()
    if text is None or sentence.path is None or "\\" in text or not text.strip():
        return False
    _file(sentence).texts.append((text, how))
    return True
