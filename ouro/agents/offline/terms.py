"""Terms: the files, functions, quantities and entities that a seed is about."""

from collections.abc import Iterator

from msgspec import Struct

from ouro.agents.offline.lexing import Token, tokens
from ouro.agents.offline.readings import named, seed_texts
from ouro.core.ontology import normalise
from ouro.core.seed import Seed

MOST = 9
_MOST_OF_KIND = {"file": 3, "function": 3, "int": 2, "string": MOST}
_KINDS = tuple(_MOST_OF_KIND)

# Words that are no concept of any goal: they join, order, judge or build sentences.
_STOP = frozenset(
    """
    about above according across actually add added adds after again against all almost along
    already also although always among and another any anyone anything are aren around asks assume
    available away back bad based basic because been before behind being below best better between
    beyond big both bring build builds built but call called calling calls came can cannot case
    cases certain change changed changes check checked checks clean clear clearly code come comes
    complete consists contain containing contains correct correctly could create created creates
    current currently define defined defines deliver did different does doesn doing done down due
    during each easily easy either else empty end ends enough ensure ensures entire equal even
    ever every everyone everything exactly example except exist existing exists exits expected
    explain explains fail failed fails false fast few fewer file files find first five following
    for four from full fully function functions further gave general get gets give given gives
    giving goes good got great green had handle handled handles has have having help helps her
    here high him his hold holds how however implement implemented implements important include
    included includes including inside instead into isn its itself just keep keeps kept kind know
    large larger last least left less let like likely little long longer look lot low made main
    make makes making many may maybe mean means meet meets method might minimum module more most
    mostly much must named names near need needed needs never new next nice nine none nor not
    nothing now number object obtain of off often once one ones only onto open other others
    otherwise our out outside over own part parts pass passed passes passing per perhaps plain
    please plus possible present print prints properly provide provided provides put pytest python
    quickly quite rather really receive receives remain remains require required requires result
    results return returned returning returns right run running runs same say says second see
    seems seen set seven several shall she should show shown shows similar simple simply since
    single six small smaller some someone something soon still stop strict succeed succeeds such
    suite support supported supports sure take taken takes ten test tested testing tests than that
    the their them then there these they thing things third this those though three through thus
    time times tiny to together too top toward true try two under unless until up upon use used
    useful uses using usual usually valid value values various very want wants was way ways well
    were what when where whether which while who whole whom whose why wide will with within
    without work working works would write writes written wrong yes yet you your zero
    """.split()
)


class Term(Struct, frozen=True):
    """`name` as an ontology field has it; `kind` is its type there. `written` is how the seed
    writes it, `criteria` are those in which it occurs."""

    name: str
    kind: str
    written: str
    criteria: tuple[str, ...]

    @property
    def description(self) -> str:
        match self.kind:
            case "file":
                return f"The file {self.written}."
            case "function":
                return f"The function {self.written}."
            case "int":
                return f"How many {self.written} there are."
        return f"What the seed calls {self.written}."


def terms_of(seed: Seed) -> tuple[Term, ...]:
    """At most nine, in an order that depends on goal, constraints and criteria alone: files,
    functions, quantities, entities, each kind in the order of first mention."""
    criteria = seed.acceptance_criteria
    texts = seed_texts(seed)
    owners = ("",) * (len(texts) - len(criteria)) + tuple(c.id for c in criteria)
    where: dict[tuple[str, str, str], list[str]] = {}
    for text, owner in zip(texts, owners, strict=True):
        for found in _terms_in(text):
            ids = where.setdefault(found, [])
            if owner and owner not in ids:
                ids.append(owner)
    return _chosen([Term(*found, tuple(ids)) for found, ids in where.items()])


def _chosen(found: list[Term]) -> tuple[Term, ...]:
    kept: dict[str, Term] = {}
    for kind in _KINDS:
        of_kind = [t for t in found if t.kind == kind and normalise(t.name) not in kept]
        for term in of_kind[: _MOST_OF_KIND[kind]]:
            kept.setdefault(normalise(term.name), term)
    return tuple(kept.values())[:MOST]


def _terms_in(text: str) -> Iterator[tuple[str, str, str]]:
    """(name, kind, as written) for each term of the text; texts in quotes name none."""
    found = tokens(text)
    for at, token in enumerate(found):
        if token.kind == "P":
            yield _name(token.raw), "file", token.raw
        elif token.call:
            yield _name(token.call.name), "function", token.call.name
        elif name := named(found, at):
            yield _name(name), "function", name
        elif token.kind in {"TESTS", "TESTFUNCS"} and at and found[at - 1].kind in {"I", "ORMORE"}:
            yield "test_count", "int", "tests"
        elif word := _entity(token):
            yield word, "string", word


def _name(written: str) -> str:
    return "_".join(normalise(written.rpartition("/")[2]).split())


def _entity(token: Token) -> str | None:
    """A word of letters, in the singular where an s alone makes the plural."""
    word = token.raw.casefold()
    if token.kind != "W" or token.quote or not word.isalpha() or len(word) < 3 or word in _STOP:
        return None
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3
    return word[:-1] if plural else word
