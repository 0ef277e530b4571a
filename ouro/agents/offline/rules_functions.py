"""Statements about functions: their names, parameters and results."""

from ouro.agents.offline.calls import Value
from ouro.agents.offline.lexing import Token
from ouro.agents.offline.sentence import Function, Sentence
from ouro.agents.offline.texts import read_template


def name_function(sentence: Sentence, path: str | None) -> bool:
    """`a function greet(name)`, `the greet function`; `path` is the file that holds it."""
    language = sentence.take("L")
    if language and language.raw.casefold() != "python":
        return False
    introduced = sentence.take("FUNC") is not None
    named = introduced and sentence.take("NAMED") is not None
    token = _any_word(sentence) if named or _sees_known(sentence, introduced) else None
    token = token or _function_token(sentence, introduced)
    if token is None or (language and not introduced and not sentence.sees("FUNC")):
        return False
    if not introduced:
        sentence.take("FUNC")
    if token.call is None:
        sentence.add_function(token.raw, "", path)
        return True
    function = sentence.add_function(token.call.name, token.call.module, path)
    if not _is_call(sentence, token):  # "the function greet()" is a way to write its name
        sentence.add_params(function, token.call.params or ())
    return True


def _function_token(sentence: Sentence, introduced: bool) -> Token | None:
    """A signature; a name where the word function stands by or the seed names it elsewhere."""
    token = sentence.peek()
    if token and token.call:
        if token.call.params is None or (not introduced and _is_call(sentence, token)):
            return None
        sentence.at += 1
        return token
    known = token is not None and token.raw in sentence.known
    beside = token is not None and token.quote != "" and sentence.sees("FUNC", ahead=1)
    return sentence.take_name() if introduced or known or beside else None


def _sees_known(sentence: Sentence, introduced: bool) -> bool:
    token = sentence.peek()
    return introduced and token is not None and token.raw in sentence.known


def _any_word(sentence: Sentence) -> Token | None:
    """`a function named run`: there even a word of these rules is a name."""
    token = sentence.peek()
    if token is None or token.quote or token.call or token.identifier is None:
        return None
    sentence.at += 1
    return token


def _is_call(sentence: Sentence, token: Token) -> bool:
    """`greet()` of a function with parameters is a call without any."""
    call = token.call
    return call is not None and call.params == () and bool(sentence.known.get(call.name))


def named_function(sentence: Sentence) -> bool:
    """`hello.py defines greet(name) and wave(name)`: the second is in that file as well."""
    before = sentence.subject
    held = isinstance(before, Function) and before.held
    if not name_function(sentence, before.path if isinstance(before, Function) and held else None):
        return False
    if isinstance(sentence.subject, Function) and held and sentence.subject is not before:
        sentence.subject.said = sentence.subject.held = True
    return True


def call(sentence: Sentence) -> bool:
    """`calling greet('Ada') …`; with a signature in it the sentence is about every call."""
    calling = sentence.take("CALLING") is not None
    token = sentence.peek()
    if token and token.call and (token.call.params is None or _is_call(sentence, token)):
        sentence.at += 1
        sentence.add_function(token.call.name, token.call.module, None)
        _keep_args(sentence, token.call.args)
        return True
    if not calling or not named_function(sentence):
        return False
    sentence.asking = True
    return True


def _keep_args(sentence: Sentence, args: tuple[Value, ...] | None) -> None:
    if sentence.args is not None or args is None:
        raise sentence.unclear()
    sentence.args = args


def returns(sentence: Sentence) -> bool:
    """`returns 'Hello, {name}!'`, `is 'Hello, Ada!'` after a call."""
    function = sentence.subject
    asked = sentence.args is not None or sentence.asking
    if not isinstance(function, Function) or not sentence.take("RET", *(["IS"] if asked else [])):
        return False
    value = sentence.take_value()
    if value is None:
        return False
    args = sentence.args if sentence.args is not None else _args_after(sentence, function)
    sentence.args, sentence.asking, function.said = None, False, True
    if args is not None:
        sentence.add_result(function, args, value[0])
        return True
    if not isinstance(value[0], str):
        return False
    function.texts.append(value[0])
    return True


def _args_after(sentence: Sentence, function: Function) -> tuple[Value, ...] | None:
    """`… when called with 'Ada'`, `… for 'Ada'`: the arguments may follow the result."""
    start = sentence.at
    if sentence.take("CALLED", "FOR"):
        _skip_param(sentence, function)
        if args := _values(sentence):
            return args
    sentence.at = start
    return None


def called(sentence: Sentence) -> bool:
    """`when called with 'Ada', …`: the arguments of the result that is named next."""
    function = sentence.subject
    if not isinstance(function, Function | None) or not sentence.take("CALLED"):
        return False
    if function and _takes_unnamed(sentence, function):
        return True
    if function and _skip_param(sentence, function) and not sentence.sees("N", "T", "I"):
        return True
    args = _values(sentence)
    if not args:
        return False
    _keep_args(sentence, args)
    return True


def _takes_unnamed(sentence: Sentence, function: Function) -> bool:
    """`given a name` tells the parameter where nothing else does."""
    unknown = function.params is None and sentence.known.get(function.name) is None
    token = sentence.take_name() if unknown and not sentence.sees("N") else None
    if token is not None:
        sentence.add_params(function, (token.raw,))
    return token is not None


def for_each(sentence: Sentence) -> bool:
    """`For any name, …`, `Given a name, …`: says of a parameter what a template says anyway."""
    if sentence.subject is not None or not sentence.take("FOR", "CALLED"):
        return False
    sentence.take("ANY", "ALL")
    token = sentence.take_name() if sentence.sees("W") else None
    if token is None or sentence.quantified or not sentence.take("SEP"):
        return False
    sentence.quantified = token.raw
    return True


def for_any(sentence: Sentence) -> bool:
    """`for any name`, `for every given name`: what a template says anyway."""
    function = sentence.subject
    if not isinstance(function, Function) or not function.texts or not sentence.take("FOR"):
        return False
    sentence.take("ANY", "ALL")
    sentence.take("CALLED")
    return _skip_param(sentence, function)


def where(sentence: Sentence) -> bool:
    """`where {name} is the given name`: what a place means, which was understood anyway."""
    function = sentence.subject
    if not isinstance(function, Function) or not function.texts or not sentence.take("WHERE"):
        return False
    ok = _skip_place(sentence, function) and sentence.take("IS") is not None
    sentence.take("CALLED", "SUPPLIED")
    ok = ok and _skip_param(sentence, function)
    sentence.take("CALLED", "SUPPLIED")
    return ok


def _skip_place(sentence: Sentence, function: Function) -> bool:
    token = sentence.peek()
    if token is None or token.raw.strip("{}<>") not in _params(sentence, function):
        return False
    sentence.at += 1
    return True


def _skip_param(sentence: Sentence, function: Function) -> bool:
    """`the argument`, `the name` where that is a parameter, `the argument name`."""
    before = sentence.take("PARAM") is not None
    token = sentence.peek()
    bare = token is not None and token.quote in {"", "`"}
    if token is not None and bare and token.raw in _params(sentence, function):
        sentence.at += 1
        sentence.take("PARAM")
        return True
    return before


def _params(sentence: Sentence, function: Function) -> tuple[str, ...]:
    """The parameters, where nothing names them the places in the texts."""
    if function.params is not None:
        return function.params
    known = sentence.known.get(function.name)
    if known is not None or not function.texts:
        return known or ()
    return read_template(function.texts[-1], None)[1]


def _values(sentence: Sentence) -> tuple[Value, ...]:
    """`'Ada'`, `'Ada' and 'Bob'`, `2, 3`; a link that no value follows is left for what follows."""
    found: list[Value] = []
    while True:
        start = sentence.at
        if found and not sentence.take("AND", "SEP"):
            return tuple(found)
        value = sentence.take_value()
        if value is None:
            sentence.at = start
            return tuple(found)
        found.append(value[0])


def takes(sentence: Sentence) -> bool:
    """`takes a name`, `with a parameter name`; one parameter is understood, more in a signature."""
    function = sentence.subject
    if not isinstance(function, Function):
        return False
    if sentence.sees("WITH") and not sentence.sees("PARAM", "TEXTWORD", "I", ahead=1):
        return False
    if not sentence.take("TAKES", "WITH"):
        return False
    one = sentence.take("I")
    sentence.take("TEXTWORD")
    sentence.take("PARAM")
    sentence.take("SEP")
    sentence.take("NAMED")
    token = sentence.take_name()
    sentence.take("PARAM")
    if token is None or (one and one.raw != "1"):
        return False
    if function.params is None or token.raw not in function.params:
        sentence.add_params(function, (token.raw,))
    function.said = True
    return True
