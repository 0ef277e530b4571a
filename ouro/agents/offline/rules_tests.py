"""Statements about tests: how many there are, what they call, that they pass."""

from ouro.agents.offline.cursor import checked_path
from ouro.agents.offline.lexing import Token
from ouro.agents.offline.sentence import File, Function, Sentence, Tests, is_test_file


def counted(sentence: Sentence, path: str | None) -> bool:
    """`at least two tests`, `a test`, `tests` (two or more); `path` is the file that has them."""
    count = sentence.take_count()
    language = sentence.take("L")
    sentence.take("R")
    noun = sentence.take("TESTS", "TESTFUNCS")
    python = language is None or language.raw.casefold() == "python"
    if noun is None or not python or (count and count[0] == 0):
        return False
    number, exact = count or (2 if noun.raw.casefold().endswith("s") else 1, False)
    sentence.add_tests(Tests(path, number, exact, None, noun.kind == "TESTFUNCS"))
    return True


def some_tests(sentence: Sentence) -> bool:
    """`test_x.py has two tests for greet and three tests for wave`: all of them in that file."""
    before = sentence.subject
    held = isinstance(before, Tests) and before.held
    if not counted(sentence, before.path if isinstance(before, Tests) and held else None):
        return False
    if isinstance(sentence.subject, Tests) and held:
        sentence.subject.said = sentence.subject.held = True
    return True


def collected(sentence: Sentence) -> bool:
    """`pytest collects at least two tests`."""
    sentence.take("RUNNING")
    begun = sentence.take("R") is not None and sentence.take("COLLECTS") is not None
    return begun and (sentence.tries(suite) or some_tests(sentence))


def suite(sentence: Sentence) -> bool:
    """`all tests pass`, `the test suite in test_hello.py passes when run with pytest`."""
    tests = _suite_noun(sentence)
    if tests is None or not _passes(sentence):
        return False
    tests.said = True
    sentence.add_tests(tests)
    return True


def _suite_noun(sentence: Sentence) -> Tests | None:
    sentence.take("RUNNING")
    sentence.take("ALL")
    language = sentence.take("L")
    sentence.take("R")
    if not sentence.take("TESTS", "SUITE") or (language and language.raw.casefold() != "python"):
        return None
    if not sentence.take("IN", "OF"):
        return Tests(None)
    hit = sentence.take_path()
    if hit is None:
        return Tests(None) if sentence.take("REPO") else None
    return None if hit[1] else Tests(hit[0])


def runner(sentence: Sentence) -> bool:
    """`pytest passes`, `running pytest exits with code 0`, `pytest test_hello.py succeeds`."""
    sentence.take("RUNNING", "CALLING")
    command = sentence.take("R")
    if command is None:
        return False
    tests = Tests(_path_in(command))
    if sentence.take("ON", "IN") or sentence.sees("P"):
        hit = sentence.take_path()
        if hit is None and not sentence.take("REPO"):
            return False
        tests.path = hit[0] if hit else None
    tests.said = True
    sentence.add_tests(tests)
    return _passes(sentence)


def _path_in(command: Token) -> str | None:
    last = command.raw.rpartition(" ")[2]
    return checked_path(last) if last.endswith(".py") else None


def _passes(sentence: Sentence) -> bool:
    """`passes`, `exits with status 0`, with what they are run by before or after."""
    _skip_runner(sentence)
    if sentence.take("PASSES"):
        return _skip_runner(sentence) and _skip_code(sentence)
    if not sentence.take("EXITS", "RET"):
        return False
    sentence.take("WITH")
    sentence.take("CODE")
    sentence.take("OF")
    number = sentence.take("I")
    sentence.take("CODE")
    return number is not None and number.raw == "0" and _skip_runner(sentence)


def _skip_code(sentence: Sentence) -> bool:
    """`with exit code 0` adds nothing to a pass; another code contradicts it."""
    if sentence.sees("WITH") and sentence.sees("CODE", ahead=1):
        sentence.at += 2
        sentence.take("OF")
        number = sentence.take("I")
        return number is not None and number.raw == "0"
    return True


def _skip_runner(sentence: Sentence) -> bool:
    """`with pytest`, `under pytest`: how tests are run here anyway. Always true."""
    if sentence.sees("USING", "WITH", "IN") and sentence.sees("R", ahead=1):
        sentence.at += 2
    return True


def passing(sentence: Sentence) -> bool:
    """`… and all of them pass`, `test_hello.py passes`."""
    subject = sentence.subject
    sentence.take("ALL")
    sentence.take("THAT")
    if subject is None or isinstance(subject, Function) or not _passes(sentence):
        return False
    sentence.require_no_other(subject)
    subject.said = True
    if isinstance(subject, File):
        sentence.add_tests(Tests(subject.path, said=True))
        # `main.py runs successfully` is about a program.
        return is_test_file(subject.path)
    return True


def run_by(sentence: Sentence) -> bool:
    """`two tests using pytest`: how tests are run here anyway."""
    if not isinstance(sentence.subject, Tests) or not sentence.sees("USING", "WITH"):
        return False
    sentence.at += 1
    return sentence.take("R") is not None


def about(sentence: Sentence) -> bool:
    """`… for greet`, `… of the function greet(name)`, `… for hello.py`."""
    tests = sentence.subject
    if not isinstance(tests, Tests) or tests.count is None or tests.about is not None:
        return False
    if not sentence.take("FOR", "OF"):
        return False
    if hit := sentence.take_path():
        tests.about = hit[0]
        return hit[0].endswith(".py")
    tests.about = _function_name(sentence)
    return tests.about is not None


def _function_name(sentence: Sentence) -> str | None:
    sentence.take("FUNC")
    if token := sentence.take("C"):
        sentence.take("FUNC")
        return token.call.name if token.call and token.call.params is not None else None
    name = sentence.take_name()
    sentence.take("FUNC")
    return name.raw if name and name.raw in sentence.known else None
