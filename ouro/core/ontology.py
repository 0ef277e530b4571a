"""How alike two ontologies are, and what changed between them.

Scores are exact fractions up to the last step. So similarity is symmetric to the bit, does not
depend on the order of the fields, and is cut off where it says, on every machine.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from math import lcm
from typing import TYPE_CHECKING

from msgspec import Struct

from ouro.core.assignment import best_total
from ouro.core.events import Delta
from ouro.core.seed import Field, Ontology

if TYPE_CHECKING:
    from fractions import Fraction

_TYPE_WORDS = {
    "string": ("str", "text"),
    "integer": ("int", "number"),
    "boolean": ("bool",),
    "list": ("array",),
    "float": ("double",),
    "dict": ("dictionary", "map", "mapping", "object"),
    "datetime": ("date time",),
}
_SYNONYMS = {other: word for word, others in _TYPE_WORDS.items() for other in others}

# Unicode files these under symbols; between types they are brackets and blanks.
_TYPE_MARKS = str.maketrans("<>|", "   ")


class _Concept(Struct, frozen=True):
    """A field as it is compared, all three parts normalised."""

    name: str
    type: str
    description: str


class _Entry(Struct, frozen=True):
    """A field's name as it was written, and what it is compared as."""

    label: str
    concept: _Concept


def similarity(before: Ontology, after: Ontology) -> float:
    """How alike the fields of two ontologies are: 0 to 1, cut off (not rounded) after 4 decimals.

    1 exactly where both hold the same fields after normalising, so also where both hold none.
    Symmetric; the order of fields, `required` and the ontologies' own name and description do
    not count. The shared part is the S of `_shared`, measured against the whole as in Jaccard's
    index: S / (n + m - S) for n and m fields. O(k³) for k fields; 200 against 200 take one
    to three seconds. DESIGN section 6.
    """
    left, right = _concepts(before), _concepts(after)
    if Counter(left) == Counter(right):
        return 1.0
    shared = _shared(left, right)
    return int(10_000 * shared / (len(left) + len(right) - shared)) / 10_000


def delta(before: Ontology, after: Ontology) -> Delta:
    """The names of the fields added, removed and modified, `before` against `after`.

    A field is known by its normalised name; modified means another type or description, after
    normalising: so an empty delta and a similarity of 1 are the same thing. Added and modified
    names are spelled and ordered as in `after`, removed ones as in `before`. Of fields that share
    a name, as many as can be count as kept, then as modified, then as added or removed.
    """
    old, new = _entries(before), _entries(after)
    gone = _parted(old, new, _content)[1]
    fresh = _parted(new, old, _content)[1]
    modified, added = _parted(fresh, gone, _name)
    removed = _parted(gone, fresh, _name)[1]
    return Delta(added=_labels(added), removed=_labels(removed), modified=_labels(modified))


@lru_cache(maxsize=4096)
def normalise(name: str) -> str:
    """The words of a name: lower case, with single spaces; total, and applying it again is idle.

    Words end at blanks, underscores, punctuation and camelCase humps. Any script serves (NFKC and
    case folding; letters, marks, digits and symbols are all parts of words). A name of nothing
    but punctuation stays itself: names that differ are not made equal by having no words.
    """
    text = _folded(name)
    words = "".join(" " if _is_punctuation(letter) else letter for letter in text).split()
    return " ".join(words) or text


def normalise_type(name: str) -> str:
    """The words of a type, each by the one name that stands for its synonyms.

    `Text` and `str` are "string", `List[int]`, `array<number>` and `int[]` are "list integer".
    """
    words, element = [], name.rstrip()
    while element.endswith("[]"):
        words.append("list")
        element = element[:-2].rstrip()
    words += normalise(element.translate(_TYPE_MARKS)).split()
    known = " ".join(_SYNONYMS.get(word, word) for word in words)
    return _SYNONYMS.get(known, known)


def _folded(text: str) -> str:
    """Without the differences that case, humps, underscores, blanks and encodings make."""
    plain = unicodedata.normalize("NFKC", text)
    split = "".join(_with_hump(plain, at) for at in range(len(plain)))
    # `lower` last: case folding writes Cherokee in capitals. It can also undo the normal form.
    lower = unicodedata.normalize("NFKC", split.casefold().lower())
    return " ".join(lower.replace("_", " ").split())


def _with_hump(text: str, at: int) -> str:
    """The letter at `at`, a blank before it where a word starts; nothing for what is invisible."""
    letter = text[at]
    if unicodedata.category(letter) == "Cf":
        return ""
    starts_word = _starts_word(text[at - 1 : at], letter, text[at + 1 : at + 3])
    return f" {letter}" if starts_word else letter


def _starts_word(previous: str, letter: str, following: str) -> bool:
    """Is `letter` a hump, as U in userName, N in XMLName, but not D in IDs or in point2D?"""
    if not _is_capital(letter):
        return False
    if previous.isalpha() and not _is_capital(previous):
        return True
    is_plural = following[:1] == "s" and not following[1:].islower()
    return following[:1].islower() and not is_plural


def _is_capital(letter: str) -> bool:
    return letter.lower() != letter


def _is_punctuation(letter: str) -> bool:
    return unicodedata.category(letter)[0] == "P" or unicodedata.category(letter) == "Cc"


def _concept(field: Field) -> _Concept:
    name, kind = normalise(field.name), normalise_type(field.field_type)
    return _Concept(name, kind, _folded(field.description))


def _concepts(ontology: Ontology) -> list[_Concept]:
    return [_concept(field) for field in ontology.fields]


def _entries(ontology: Ontology) -> list[_Entry]:
    return [_Entry(field.name, _concept(field)) for field in ontology.fields]


def _content(entry: _Entry) -> Hashable:
    return entry.concept


def _name(entry: _Entry) -> Hashable:
    return entry.concept.name


def _labels(entries: Sequence[_Entry]) -> tuple[str, ...]:
    return tuple(entry.label for entry in entries)


def _parted(
    entries: Sequence[_Entry], others: Sequence[_Entry], key: Callable[[_Entry], Hashable]
) -> tuple[list[_Entry], list[_Entry]]:
    """Those of `entries` that have one of `others` of the same `key` to themselves; the rest."""
    left = Counter(map(key, others))
    found: list[_Entry] = []
    rest: list[_Entry] = []
    for entry in entries:
        (found if left[key(entry)] > 0 else rest).append(entry)
        left[key(entry)] -= 1
    return found, rest


def _shared(left: Sequence[_Concept], right: Sequence[_Concept]) -> "Fraction":
    """S: the greatest sum of pair scores over one-to-one pairings of `left` and `right`."""
    scores = [[_pair_score(one, other) for other in right] for one in left]
    scale = lcm(*(score.denominator for row in scores for score in row))
    table = [[score.numerator * (scale // score.denominator) for score in row] for row in scores]
    return _share(best_total(table), scale)


def _pair_score(one: _Concept, other: _Concept) -> "Fraction":
    """0.5 for the name, 0.3 for the type, 0.2 for the description; 0 where they may not pair."""
    name = _name_score(one.name, other.name)
    same_type = one.type == other.type
    if 10 * name < 6 and not (same_type and _told_alike(one.description, other.description)):
        return _share(0, 1)
    description = _ratio(one.description, other.description)
    return (5 * name + 3 * same_type + 2 * description) / 10


def _told_alike(one: str, other: str) -> bool:
    return one != "" and _is_near(one, other, 90)


def _name_score(one: str, other: str) -> "Fraction":
    """1 for equal names only: of others the ratio, where it is high, or the words they share."""
    if one == other:
        return _share(1, 1)
    words = _words_shared(one.split(), other.split())
    return max(_ratio(one, other), words) if _is_near(one, other, 85) else words


def _words_shared(one: Sequence[str], other: Sequence[str]) -> "Fraction":
    """0.99 of Dice's coefficient of the words, those counting as the same that are 0.8 alike."""
    alike = [[int(_is_near(word, match, 80)) for match in other] for word in one]
    return _share(99 * 2 * best_total(alike), 100 * (len(one) + len(other)))


def _is_near(one: str, other: str, percent: int) -> bool:
    """Is their ratio at least `percent`? Lengths alone often tell that it is not."""
    may_differ = (100 - percent) * (len(one) + len(other))
    if 100 * abs(len(one) - len(other)) > may_differ:
        return False
    return 100 * _distance(one, other) <= may_differ


def _ratio(one: str, other: str) -> "Fraction":
    """RapidFuzz's normalised Indel similarity (`fuzz.ratio` / 100), exactly; 1 for two empties."""
    whole = len(one) + len(other)
    return _share(whole - _distance(one, other), whole) if whole else _share(1, 1)


def _distance(one: str, other: str) -> int:
    """How many letters must go or come to make one of the other."""
    if one == other:
        return 0
    from rapidfuzz.distance import Indel  # here: equal ontologies never pay for loading it

    return Indel.distance(one, other)


def _share(part: int, whole: int) -> "Fraction":
    from fractions import Fraction  # here, as above

    return Fraction(part, whole)
