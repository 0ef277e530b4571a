"""What a sentence has said so far, while it is read."""

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from ouro.agents.offline.calls import Value
from ouro.agents.offline.cursor import Cursor
from ouro.agents.offline.demands import (
    CountedTests,
    Demand,
    FileHolds,
    FileThere,
    Gives,
    GreenTests,
    HasFunction,
    Place,
    Returns,
)
from ouro.agents.offline.lexing import Token
from ouro.agents.offline.texts import Template, Unclear, read_template

_EMPTY = Template(("",))


class File(Struct):
    """`said` is true of every item once the sentence has told something of it."""

    path: str
    texts: list[tuple[str, str]] = field(default_factory=list)
    said: bool = False


class Function(Struct):
    """`held` is true where it was named as a part of its file, and of tests likewise."""

    name: str
    path: str | None = None
    near: str | None = None
    params: tuple[str, ...] | None = None
    texts: list[str] = field(default_factory=list)
    results: list[tuple[tuple[Value, ...], Value]] = field(default_factory=list)
    held: bool = False
    said: bool = False

    @property
    def answers(self) -> bool:
        return bool(self.texts or self.results)


class Tests(Struct):
    """`count` None: nothing is said but that they pass."""

    path: str | None
    count: int | None = None
    exact: bool = False
    about: str | None = None
    functions: bool = False
    held: bool = False
    said: bool = False


Item = File | Function | Tests
Known = Mapping[str, tuple[str, ...] | None]


class Sentence(Cursor):
    """`subject` is what the next words are about, `path` the file that was named last.

    `args` are those of "when called with …" until the result is named; `asking` says that a call
    was begun ("calling …") whose result must follow. `linked` says that a new statement may begin
    here (at the start, after "and"), `there` that it begins with "there is" or the like.
    `quantified` is the parameter of an opening "for any name", which every template must have.
    """

    def __init__(self, tokens: tuple[Token, ...], known: Known) -> None:
        super().__init__(tokens, known)
        self.items: list[Item] = []
        self.subject: Item | None = None
        self.path: str | None = None
        self.args: tuple[Value, ...] | None = None
        self.asking = False
        self.linked = True
        self.there = False
        self.quantified = ""

    def tries(self, rule: Callable[["Sentence"], bool]) -> bool:
        """Whether `rule` covers what comes next; if it does not, it has left no trace."""
        items = len(self.items)
        kept = (self.at, self.subject, self.path, self.args, self.asking)
        if rule(self):
            return True
        self.at, self.subject, self.path, self.args, self.asking = kept
        del self.items[items:]
        return False

    def skip_links(self) -> None:
        """Over "and", "that", punctuation. After tests a comma or a colon may begin their
        description ("two tests: greet('Ada') returns …"), which is no statement of its own."""
        token = None
        while self.sees("SEP", "AND", "THAT") or (self.linked and self.sees("THERE")):
            token = self.tokens[self.at]
            self.at += 1
            soft = token.raw in {",", ":", "(", "–", "—"} and isinstance(self.subject, Tests)
            self.linked = self.linked or (token.kind != "THAT" and not soft)
            self.there = self.there or token.kind == "THERE"
        if token is not None and token.kind != "SEP" and self.peek() is None:
            raise Unclear(f"it ends with {token.raw!r}")

    def add_file(self, path: str, empty: bool = False) -> None:
        self._turn_to(File(path, [("", "all")] if empty else []))
        self.path = path

    def add_function(self, name: str, module: str, path: str | None) -> Function:
        """The same function named twice is one, unless it is placed in another file."""
        same = [i for i in self.items if isinstance(i, Function) and i.name == name]
        function = next((i for i in same if path in {None, i.path}), None)
        if function is None:
            function = Function(name, path, self._near(module))
        if function is not self.subject:
            self._turn_to(function)
        return function

    def _near(self, module: str) -> str | None:
        if module:
            return module.replace(".", "/") + ".py"
        return self.path if self.path and holds_functions(self.path) else None

    def add_params(self, function: Function, params: tuple[str, ...]) -> None:
        if function.params not in {None, params}:
            raise self.unclear()
        function.params = params

    def add_result(self, function: Function, args: tuple[Value, ...], result: Value) -> None:
        """One call and what it gives; a text with places in it would need a reader."""
        if isinstance(result, str) and read_template(result, None)[0].places:
            raise Unclear(f"what is to be filled in in {result!r}")
        function.results.append((args, result))

    def add_tests(self, tests: Tests) -> None:
        self._turn_to(tests)

    def _turn_to(self, item: Item) -> None:
        """A call whose result is still to come must not get that of another function."""
        if self.subject is not None and (self.args is not None or self.asking):
            raise self.unclear()
        if not isinstance(item, File) and (not self.items or self.there):
            item.said = True
        self.subject = item
        if not any(known is item for known in self.items):
            self.items.append(item)

    def require_no_other(self, item: Item) -> None:
        """ "a.py and b.py have …", "greet and wave in …": what is said of the last one is meant
        of all; no rule follows that."""
        for other in self.items:
            alike = type(other) is type(item) and other is not item
            if alike and not other.said:
                raise self.unclear()

    def demands(self) -> tuple[Demand, ...]:
        """Everything said; raises Unclear where something was begun and not said."""
        if self.args is not None or self.asking or not all(map(self._complete, self.items)):
            raise Unclear("it begins something that it does not say")
        found = [demand for item in self.items for demand in self._demands_of(item)]
        templates = [demand.template for demand in found if isinstance(demand, Returns)]
        if self.quantified and not all(self.quantified in t.places for t in templates or [_EMPTY]):
            raise Unclear(f"whose {self.quantified} is meant")
        if not found:
            raise Unclear("it names no file, function or tests")
        return tuple(dict.fromkeys(found))

    def _complete(self, item: Item) -> bool:
        """A file may stand for itself in a list of files. Where one function has a result, "that
        returns …" may be meant of those beside it too."""
        if isinstance(item, File) and not item.said:
            before = self.items[: self.items.index(item)]
            return all(isinstance(other, File) and not other.texts for other in before)
        if isinstance(item, Function) and not item.answers:
            functions = [other for other in self.items if isinstance(other, Function)]
            return item.said and not any(other.answers for other in functions)
        return item.said

    def _demands_of(self, item: Item) -> list[Demand]:
        match item:
            case File(path=path):
                return [FileThere(path), *(FileHolds(path, text, how) for text, how in item.texts)]
            case Function():
                return self._function_demands(item)
            case Tests(path=path, count=count):
                if count is None:
                    return [GreenTests(path)]
                return [CountedTests(path, count, item.exact, item.about, item.functions)]

    def _function_demands(self, function: Function) -> list[Demand]:
        place = Place(function.name, function.path, function.near)
        params = function.params if function.params is not None else self.known.get(function.name)
        found: list[Demand] = [HasFunction(place, function.params)]
        for text in function.texts:
            template, names = read_template(text, params)
            found.append(Returns(place, names, template))
        return found + [Gives(place, args, result) for args, result in function.results]


def holds_functions(path: str) -> bool:
    """Whether a function of the program, not a test, may be meant to lie in `path`."""
    return path.endswith(".py") and not is_test_file(path)


def is_test_file(path: str) -> bool:
    """Whether pytest finds tests in it when it is not told where to look."""
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
