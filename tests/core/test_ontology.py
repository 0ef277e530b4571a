"""Similarity: its values, its laws, and that they hold on every machine."""

import os
import subprocess
import sys
from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import ouro
from ouro.core.events import Delta
from ouro.core.ontology import delta, normalise, normalise_type, similarity
from ouro.core.seed import Field, Ontology

ROOT = Path(ouro.__file__).parents[1]

NAME = Field("name", "string", "What people call the customer")
AGE = Field("age", "int", "Full years since birth")
MAIL = Field("email", "str", "Where letters are sent to")
THREE = (NAME, AGE, MAIL)
OTHERS = (
    Field("warehouse", "list", "Shelves and their stock"),
    Field("invoice", "object", "Sum that is due"),
    Field("discount", "bool", "Whether it was granted"),
)


def onto(*fields: Field) -> Ontology:
    return Ontology("Shop", "Customers of a shop", fields)


def like(before: tuple[Field, ...], after: tuple[Field, ...]) -> float:
    return similarity(onto(*before), onto(*after))


LETTERS = "abcdefghijklmnopqrst"
# Words of one letter each, four times over, have nothing in common.
TWENTY = tuple(Field(letter * 4, "string", letter * 9) for letter in LETTERS)


# --- values ---


def test_one_field_added_to_three() -> None:
    assert like(THREE, (*THREE, OTHERS[0])) == 0.75


def test_a_name_that_gains_a_word() -> None:
    assert like(THREE, (replace(NAME, name="person_name"), AGE, MAIL)) == 0.8927


def test_all_replaced() -> None:
    assert like(THREE, OTHERS) == 0.0


def test_a_description_rewritten() -> None:
    rewritten = replace(NAME, description="Given and family name, as on the passport")
    assert like(THREE, (rewritten, AGE, MAIL)) == pytest.approx(0.92, abs=0.015)


def test_one_of_twenty_removed() -> None:
    assert like(TWENTY, TWENTY[1:]) == 0.95


def test_one_of_twenty_replaced() -> None:
    assert like(TWENTY, (*TWENTY[1:], Field("zzzz", "bool", "zzzzzzzzz"))) == 0.9047


def test_another_type_only() -> None:
    assert like(THREE, (replace(NAME, field_type="bool"), AGE, MAIL)) == 0.8181  # 2.7 / 3.3


def test_cut_off_not_rounded() -> None:
    assert like(TWENTY[:2], TWENTY[:3]) == 0.6666


@pytest.mark.parametrize("count", range(2, 21))
def test_whole_ratios_are_not_cut_off_below_themselves(count: int) -> None:
    assert like(TWENTY[:count], TWENTY[1:count]) == (count - 1) * 10_000 // count / 10_000


def test_empty_ontologies() -> None:
    assert like((), ()) == 1.0
    assert like((), THREE) == like(THREE, ()) == 0.0


def test_spelling_does_not_count() -> None:
    before = (Field("personName", "str", "Full name"), Field("is_active", "Boolean", ""))
    after = (Field("Is Active", "bool", "  "), Field("PERSON-NAME", "text", "full   Name"))
    assert like(before, after) == 1.0


def test_required_name_and_description_of_the_ontology_do_not_count() -> None:
    optional = tuple(replace(field, required=False) for field in THREE)
    assert similarity(onto(*THREE), Ontology("Else", "Something else", optional)) == 1.0


# --- which fields pair, and what a pair scores ---


def one_pair(score: float) -> float:
    return int(score / (2 - score) * 10_000 + 1e-6) / 10_000


def test_same_description_and_type_pair_under_another_name() -> None:
    described = Field("alpha", "str", "The very same sentence")
    assert like((described,), (replace(described, name="xyz"),)) == one_pair(0.5)


def test_a_name_alone_without_descriptions_does_not_pair() -> None:
    assert like((Field("alpha", "str"),), (Field("xyz", "str"),)) == 0.0


def test_same_description_under_another_name_and_type_does_not_pair() -> None:
    described = Field("alpha", "str", "The very same sentence")
    assert like((described,), (Field("xyz", "int", described.description),)) == 0.0


@pytest.mark.parametrize(("alike", "score"), [(90, 0.3 + 0.2 * 0.9), (89, 0.0)])
def test_descriptions_count_as_alike_from_0_9(alike: int, score: float) -> None:
    told = [("a" * alike).ljust(100, rest) for rest in "bc"]
    assert like((Field("xyz", "str", told[0]),), (Field("uvw", "str", told[1]),)) == one_pair(score)


@pytest.mark.parametrize(
    ("one", "other", "score"),
    [
        ("q" * 17 + "abc", "q" * 17 + "xyz", 0.99),  # words alike are as good as words shared
        ("a b cc dd ee", "a b cc dd ef", 1 - 2 / 24),  # the ratio, as Dice gives 0.792
        ("aa bb cc dd ee ff gg", "aa bb cc dd xe yf zg", 0.85),
        ("first name", "name first", 0.99),
        ("user first name", "first name", 0.99 * 4 / 5),
        ("aaaaaaaabb", "aaaaaaaacc", 0.99),  # one word, 0.8 alike
        ("aa bb cc", "aa bb xx", 0.99 * 2 / 3),
        ("aa aa", "aa", 0.99 * 2 / 3),  # a word pairs once
    ],
)
def test_name_scores(one: str, other: str, score: float) -> None:
    expected = one_pair(0.5 * score + 0.3 + 0.2)
    assert like((Field(one, "str"),), (Field(other, "str"),)) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("aa bb cc dd", "aa bb xx"),  # 0.99 x Dice is 0.566
        ("aaaaaaabb", "aaaaaaacc"),  # one word, 0.78 alike: neither the word nor the ratio
        ("aa bb cc dd ee ff gg hhhh", "aa bb cc wd xe yf zg hhhh"),  # ratio 0.84, Dice 0.5
    ],
)
def test_names_too_far_apart_do_not_pair(one: str, other: str) -> None:
    assert like((Field(one, "str"),), (Field(other, "str"),)) == 0.0


def test_one_empty_description_scores_none() -> None:
    assert like((AGE,), (replace(AGE, description=""),)) == one_pair(0.8)
    assert like((AGE,), (replace(AGE, description=" _ "),)) == one_pair(0.8)


def test_pairs_are_chosen_together_not_first_come() -> None:
    """`ab cd` pairs best with its equal, but then `ab` would find none."""
    before = (Field("ab cd", "str"), Field("ab", "str"))
    after = (Field("ab cd", "str"), Field("cd", "str"))
    pairs = 2 * (0.5 * 0.99 * 2 / 3 + 0.5)
    assert like(before, after) == int(pairs / (4 - pairs) * 10_000) / 10_000


def test_fields_of_the_same_name() -> None:
    twice = (NAME, replace(NAME, field_type="int"))
    assert like(twice, twice[::-1]) == 1.0
    assert like(twice, (NAME, NAME)) == 0.7391  # 1.7 / 2.3
    assert like((NAME, NAME), (NAME,)) == 0.5


# --- normalising ---

# Letters that change length, form or order when their case does, marks, joiners and bystanders.
odd_names = st.text("aAbBsS19 _-.ßẞİıéÉΣςꭰᎠⅣﬁǅ名ना\u0301\u0345\u200d\x1f🚀", max_size=8)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("personName", "person name"),
        ("PersonName", "person name"),
        ("person_name", "person name"),
        ("  Person \t name\n", "person name"),
        ("PERSON-NAME", "person name"),
        ("__person.name()", "person name"),
        ("HTMLParser", "html parser"),
        ("userIDs", "user ids"),
        ("URLsSeen", "urls seen"),
        ("IsActive", "is active"),
        ("HTTPAsync", "http async"),
        ("point2Ds", "point2ds"),
        ("bell\x07rang", "bell rang"),
        ("sha256Hash", "sha256 hash"),
        ("Point2D", "point2d"),
        ("MD5SUM", "md5sum"),
        ("Straße", "strasse"),
        ("\uff26ull\uff37idth", "full width"),
        ("größeInMetern", "grösse in metern"),
        ("имяКлиента", "имя клиента"),
        ("顧客名", "顧客名"),
        ("ग्राहक_नाम", "ग्राहक नाम"),
        ("a\u200bb\u00adc", "abc"),
        ("price_€", "price €"),
        ("🚀Count", "🚀 count"),
        ("", ""),
        (" _ ", ""),
        ("---", "---"),
        ("- _ -", "- -"),
    ],
)
def test_normalise(name: str, words: str) -> None:
    assert normalise(name) == words


def test_names_in_other_alphabets_do_not_melt_into_one() -> None:
    names = ("顧客", "商品", "नाम", "नीम", "🚀", "🔥", "---", "***", "")
    assert len({normalise(name) for name in names}) == len(names)
    assert like((Field("---"),), (Field("***"),)) == 0.0
    assert like((Field("---"),), (Field(" --- "),)) == 1.0


@pytest.mark.parametrize(
    ("names", "type_"),
    [
        (("str", "String", "TEXT", " text "), "string"),
        (("int", "Integer", "number"), "integer"),
        (("bool", "Boolean"), "boolean"),
        (("list", "Array", "[]"), "list"),
        (("float", "double"), "float"),
        (("dict", "Map", "object"), "dict"),
        (("datetime", "DateTime", "date-time", "date_time"), "datetime"),
        (("list[str]", "Array<String>", "string[]", "text []"), "list string"),
        (("int[][]", "list[list[int]]"), "list list integer"),
        (("str | None", "String|none"), "string none"),
        (("UserProfile", "user_profile"), "user profile"),
        (("",), ""),
    ],
)
def test_normalise_type(names: tuple[str, ...], type_: str) -> None:
    assert {normalise_type(name) for name in names} == {type_}


@settings(max_examples=100)
@given(odd_names)
def test_normalising_again_is_idle(name: str) -> None:
    words = normalise(name)
    assert normalise(words) == words
    assert words == " ".join(words.split())


def test_normalising_again_is_idle_for_each_character() -> None:
    for number in range(0x2200):
        words = normalise(f"a{chr(number)}b")
        assert normalise(words) == words


# --- laws ---

# Few words, spellings and texts, so that pairs of every kind come up.
spellings = ["name", "Name", "personName", "person_name", "Name-person", "names", "user", "users"]
short_names = ["user_id", "id", "userID", "顧客名", "顧客", "---", "--", "", "total_sum", "totals"]
names = st.one_of(st.sampled_from([*spellings, *short_names]), odd_names)
kinds = st.sampled_from(["str", "text", "int", "bool", "List[str]", ""])
texts = st.sampled_from(["", "the name", "The  name", "the names of it", "the name of it", "sum"])
fields = st.builds(Field, names, kinds, texts, st.booleans())
ontologies = st.lists(fields, max_size=4).map(lambda found: onto(*found))
laws = settings(max_examples=50)


def contents(ontology: Ontology) -> Counter[tuple[str, str, str]]:
    return Counter(
        (
            normalise(field.name),
            normalise_type(field.field_type),
            " ".join(field.description.lower().split()),
        )
        for field in ontology.fields
    )


@laws
@given(ontologies)
def test_identity(one: Ontology) -> None:
    assert similarity(one, one) == 1.0
    assert delta(one, one) == Delta()


@laws
@given(ontologies, ontologies)
def test_symmetric_bounded_and_of_four_decimals(one: Ontology, other: Ontology) -> None:
    value = similarity(one, other)
    assert value == similarity(other, one)
    assert 0.0 <= value <= 1.0
    assert value == float(f"{value:.4f}")


@laws
@given(ontologies, ontologies)
def test_one_only_for_equals(one: Ontology, other: Ontology) -> None:
    equal = contents(one) == contents(other)
    assert (similarity(one, other) == 1.0) is equal
    assert (delta(one, other) == Delta()) is equal


@laws
@given(ontologies, ontologies, st.data())
def test_order_does_not_count(one: Ontology, other: Ontology, data: st.DataObject) -> None:
    shuffled = onto(*data.draw(st.permutations(one.fields)))
    assert similarity(shuffled, one) == 1.0
    assert similarity(shuffled, other) == similarity(one, other)


@laws
@given(ontologies, ontologies)
def test_as_the_definition_says(one: Ontology, other: Ontology) -> None:
    exact = defined(one.fields, other.fields)
    assert exact - 1e-4 - 1e-9 < similarity(one, other) < exact + 1e-9


@laws
@given(st.lists(fields, max_size=4), st.sampled_from(["customerName", "name", "NAME customer"]))
def test_a_rename_is_nearer_than_a_replacement(rest: list[Field], renamed: str) -> None:
    before = Field("customer", "string", "Zyx wvu")
    replaced = onto(*rest, Field("qqqq", "qqqq", "qqqq"))
    new_name = onto(*rest, replace(before, name=renamed))
    assert similarity(onto(*rest, before), new_name) > similarity(onto(*rest, before), replaced)


def defined(left: tuple[Field, ...], right: tuple[Field, ...]) -> float:
    """The definition word by word, by other means: floats, and every pairing tried."""
    if not left and not right:
        return 1.0
    few, many = sorted((left, right), key=len)
    seatings = permutations(many, len(few))
    best = max(sum(map(pair_score, few, seats)) for seats in seatings)
    return best / (len(left) + len(right) - best)


def ratio(one: str, other: str) -> float:
    from rapidfuzz import fuzz

    return round(fuzz.ratio(one, other) / 100, 12)


def words_alike(one: list[str], other: list[str]) -> int:
    few, many = sorted((one, other), key=len)
    seatings = permutations(many, len(few))
    return max(sum(ratio(a, b) >= 0.8 for a, b in zip(few, s, strict=True)) for s in seatings)


def name_score(one: str, other: str) -> float:
    if one == other:
        return 1.0
    pairs = words_alike(one.split(), other.split())
    dice = 2 * pairs / (len(one.split()) + len(other.split()))
    close = ratio(one, other)
    return max(close if close >= 0.85 else 0.0, 0.99 * dice)


def pair_score(one: Field, other: Field) -> float:
    name = name_score(normalise(one.name), normalise(other.name))
    same = normalise_type(one.field_type) == normalise_type(other.field_type)
    told = [" ".join(field.description.lower().split()) for field in (one, other)]
    close = ratio(*told)  # 1 for two empty texts, 0 for one
    if name < 0.6 and not (same and all(told) and close >= 0.9):
        return 0.0
    return 0.5 * name + 0.3 * same + 0.2 * close


# --- delta ---


def test_delta_names_what_changed() -> None:
    after = (OTHERS[0], replace(MAIL, name="E_MAIL"), replace(AGE, field_type="bool"), OTHERS[1])
    changes = delta(onto(*THREE), onto(*after))
    assert changes.added == ("warehouse", "E_MAIL", "invoice")
    assert changes.removed == ("name", "email")
    assert changes.modified == ("age",)


def test_delta_spells_names_as_they_are_now() -> None:
    before = (Field("userName", "str", "a"), Field("userAge", "int", "b"))
    after = (Field("user_age", "number", "c"), Field("user_name", "text", "A"))
    assert delta(onto(*before), onto(*after)) == Delta(modified=("user_age",))


def test_delta_ignores_what_similarity_ignores() -> None:
    after = tuple(replace(field, required=False) for field in THREE[::-1])
    assert delta(onto(*THREE), Ontology("Else", "Something else", after)) == Delta()


def test_delta_of_fields_that_share_a_name() -> None:
    one, two, three = (Field("Size", kind) for kind in ("int", "str", "bool"))
    assert delta(onto(one, two), onto(two)) == Delta(removed=("Size",))
    assert delta(onto(two), onto(one, two)) == Delta(added=("Size",))
    assert delta(onto(one, two), onto(three, one)) == Delta(modified=("Size",))
    assert delta(onto(one), onto(three, two)) == Delta(modified=("Size",), added=("Size",))


@laws
@given(ontologies, ontologies)
def test_delta_read_backwards(one: Ontology, other: Ontology) -> None:
    forth, back = delta(one, other), delta(other, one)
    assert Counter(map(normalise, forth.added)) == Counter(map(normalise, back.removed))
    assert Counter(map(normalise, forth.modified)) == Counter(map(normalise, back.modified))
    assert len(one.fields) - len(forth.removed) + len(forth.added) == len(other.fields)


# --- every machine, every start ---


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


FIELDS = """
from ouro.core.ontology import delta, similarity
from ouro.core.seed import Field, Ontology
def onto(*names): return Ontology(fields=tuple(Field(name, "str", name[::-1]) for name in names))
before = onto("TITLE", "personName", "İl", "größe", "顧客名", "total sum", "ID")
"""

PRINT = """
after = onto("title", "name_person", "il", "GRÖSSE", "顧客", "totals", "ids", "extra")
print(repr(similarity(before, after)), ascii(delta(before, after)))
"""


def test_same_under_any_hash_seed_and_locale() -> None:
    settings_ = [("0", "C"), ("1", "tr_TR.UTF-8"), ("4242", "de_DE.UTF-8")]
    said = {run(FIELDS + PRINT, PYTHONHASHSEED=seed, LC_ALL=locale) for seed, locale in settings_}
    assert len(said) == 1
    assert 0.2 < float(said.pop().split()[0]) < 0.9


def test_equal_ontologies_do_not_load_rapidfuzz() -> None:
    code = """
same = onto("total_sum", "id", "顧客名", "Größe", "İl", "person name", "title")
same = Ontology(fields=tuple(map(lambda f, g: Field(f.name, "text", g.description),
                                 same.fields, (before.fields[i] for i in (5, 6, 4, 3, 2, 1, 0)))))
print(similarity(before, same), similarity(onto(), onto()), similarity(onto(), before))
print(delta(before, same).added)
import sys
print("rapidfuzz" in sys.modules)
"""
    assert run(FIELDS + code).split() == ["1.0", "1.0", "0.0", "()", "False"]


def test_other_ontologies_load_it() -> None:
    assert run(FIELDS + PRINT + "import sys; print('rapidfuzz' in sys.modules)").endswith("True\n")
