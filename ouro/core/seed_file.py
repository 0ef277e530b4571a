"""Reading seeds: the bytes of a YAML file -> a `Seed`, or one line that says what is wrong.

The format is the one that Ouroboros users have. Bytes come in, nothing is opened here.
"""

import re

from msgspec import Struct
from msgspec.structs import replace

from ouro.core.globs import read_globs
from ouro.core.ontology import normalise
from ouro.core.seed import (
    NO_CHECKS,
    Checks,
    Criterion,
    Field,
    HiddenChecks,
    Ontology,
    Seed,
)
from ouro.core.seed_text import render_seed
from ouro.core.yaml_nodes import Spot, show_key
from ouro.core.yaml_reader import read_yaml

__all__ = ["ParsedSeed", "parse_seed", "render_seed"]

LONGEST_TIMEOUT = 86_400
"""Seconds; a check that needs more than a day is a slip of the keyboard."""

MOST_FIELDS = 300
"""Similarity compares every field with every other; beyond this a step would stand still."""

_LONGEST_NAME = 200
_MOST_WARNINGS = 20
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_DRIVE = re.compile(r"[A-Za-z]:")
_WILDCARD = re.compile(r"[*?]")

_AS_GIVEN = ("evaluation_principles", "exit_conditions", "brownfield_context", "metadata")
_SEED_KEYS = (
    "goal",
    "constraints",
    "acceptance_criteria",
    "ontology_schema",
    "task_type",
    "protect",
    *_AS_GIVEN,
)
_CHECK_KEYS = ("verify_command", "expected_artifacts", "output_assertion", "timeout")
_CRITERION_KEYS = ("id", "description", *_CHECK_KEYS, "hidden")
_ONTOLOGY_KEYS = ("name", "description", "fields")
_FIELD_KEYS = ("name", "field_type", "type", "description", "required")

_SHAPE_HINT = "a seed begins with `goal: …` and has `acceptance_criteria:` with a list below it"
_LIST_HINT = "begin each entry on its own line with '- '"


class ParsedSeed(Struct, frozen=True):
    """A seed and what came with it.

    In `seed` the criteria that are hidden have no checks; those are in `hidden`, by criterion
    id. `sha256` is the hex digest of the file's bytes. Each of `warnings` is one line,
    `line N: <key path>: …`.
    """

    seed: Seed
    hidden: HiddenChecks
    sha256: str
    warnings: tuple[str, ...]


def parse_seed(data: bytes, name: str) -> ParsedSeed:
    """Read a seed file's bytes; `name` is what messages call the file.

    Raises UsageProblem, and nothing else, with the message `<name>:<line>: <key path>: …`.
    """
    from hashlib import sha256

    top, remarks = read_yaml(data, name)
    warnings = list(remarks)
    seed = _seed(top, warnings)
    public = tuple(_without_hidden_checks(c) for c in seed.acceptance_criteria)
    return ParsedSeed(
        seed=replace(seed, acceptance_criteria=public),
        hidden={c.id: c.checks for c in seed.acceptance_criteria if c.hidden},
        sha256=sha256(data).hexdigest(),
        warnings=_limited(warnings),
    )


def _without_hidden_checks(criterion: Criterion) -> Criterion:
    return replace(criterion, checks=NO_CHECKS) if criterion.hidden else criterion


def _limited(warnings: list[str]) -> tuple[str, ...]:
    more = len(warnings) - _MOST_WARNINGS
    rest = [f"and {more} more warnings of this kind"] if more > 0 else []
    return tuple(warnings[:_MOST_WARNINGS] + rest)


def _seed(top: Spot, warnings: list[str]) -> Seed:
    keys = top.mapping(_SHAPE_HINT)
    _warn_unknown(keys, _SEED_KEYS, "unknown key, kept as it is", warnings)
    return Seed(
        goal=_required(top, keys, "goal").text(),
        acceptance_criteria=_criteria(_required(top, keys, "acceptance_criteria"), warnings),
        constraints=_texts(keys.get("constraints")),
        ontology_schema=_ontology(keys.get("ontology_schema"), warnings),
        task_type=_text_or_none(keys.get("task_type")),
        protect=read_globs(keys.get("protect")),
        extra={key: spot.plain() for key, spot in keys.items() if key not in _SEED_KEYS},
        **{key: keys[key].plain() for key in _AS_GIVEN if key in keys},
    )


def _warn_unknown(
    keys: dict[str, Spot], known: tuple[str, ...], what: str, warnings: list[str]
) -> None:
    for key, spot in keys.items():
        if key not in known:
            # Guessing costs time; nobody reads the guesses beyond the warnings that are shown.
            guess = _guess(key, known) if len(warnings) < _MOST_WARNINGS else ""
            warnings.append(spot.remark(what + guess))


def _guess(key: str, known: tuple[str, ...]) -> str:
    from rapidfuzz import fuzz, process

    near = process.extractOne(key[:40].lower(), known, scorer=fuzz.ratio, score_cutoff=75)
    return f"; did you mean {near[0]}?" if near else ""


def _required(parent: Spot, keys: dict[str, Spot], key: str) -> Spot:
    if key in keys:
        return keys[key]
    guesses = (other for other in list(keys)[:50] if _guess(other, (key,)))
    near = next(guesses, None)
    hint = f"did you mean this by {show_key(near)}?" if near else f"add `{key}: …`"
    raise parent.below(key).problem("is missing", hint)


def _texts(spot: Spot | None) -> tuple[str, ...]:
    if spot is None or spot.empty:
        return ()
    return tuple(item.text() for item in spot.items(_LIST_HINT))


def _text_or_none(spot: Spot | None) -> str | None:
    return None if spot is None or spot.empty else spot.text()


def _text_or_blank(spot: Spot | None) -> str:
    blank = spot is None or spot.empty or spot.node.value == ""
    return "" if spot is None or blank else spot.text()


def _flag(spot: Spot | None, default: bool) -> bool:
    return default if spot is None or spot.empty else spot.flag()


def _criteria(spot: Spot, warnings: list[str]) -> tuple[Criterion, ...]:
    items = [] if spot.empty else spot.items(_LIST_HINT)
    if not items:
        raise spot.problem("is empty", "a seed needs at least one criterion to be met")
    given = [_keys_of_criterion(item) for item in items]
    ids = _ids(given)
    pairs = zip(items, given, ids, strict=True)
    return tuple(_criterion(item, keys, known, warnings) for item, keys, known in pairs)


def _keys_of_criterion(item: Spot) -> dict[str, Spot]:
    """A criterion that is a text is one that has a description only."""
    if not isinstance(item.node.value, dict):
        item.text()
        return {"description": item}
    return item.mapping()


def _ids(criteria: list[dict[str, Spot]]) -> list[str]:
    """Explicit ids as they are; the k-th criterion without one becomes `ack`, or if that is
    taken the next number that is free."""
    explicit = [_explicit_id(keys.get("id")) for keys in criteria]
    _refuse_repeated_ids(criteria, explicit)
    taken = frozenset(explicit)
    ids, last = [], 0
    for position, known in enumerate(explicit, start=1):
        if known is None:
            last = max(last + 1, position)
            while f"ac{last}" in taken:
                last += 1
        ids.append(known or f"ac{last}")
    return ids


def _explicit_id(spot: Spot | None) -> str | None:
    text = _text_or_none(spot)
    if spot is None or text is None or _ID.fullmatch(text):
        return text
    raise spot.problem(
        f"{show_key(text)} cannot be an id",
        "use 1 to 64 of A-Z a-z 0-9 _ . -, beginning with a letter or digit",
    )


def _refuse_repeated_ids(criteria: list[dict[str, Spot]], explicit: list[str | None]) -> None:
    seen: dict[str, int] = {}
    for keys, known in zip(criteria, explicit, strict=True):
        if known is not None and known in seen:
            spot = keys["id"]
            what = f"the id {known} is already that of the criterion in line {seen[known]}"
            raise spot.problem(what, "give each criterion an id of its own, or none")
        if known is not None:
            seen[known] = keys["id"].node.line


def _criterion(item: Spot, keys: dict[str, Spot], known_id: str, warnings: list[str]) -> Criterion:
    if "description" not in keys:
        raise _no_description(item, keys)
    _warn_unknown(keys, _CRITERION_KEYS, "unknown key, dropped", warnings)
    criterion = Criterion(
        id=known_id,
        description=keys["description"].text(),
        checks=_checks(keys, warnings),
        hidden=_flag(keys.get("hidden"), default=False),
    )
    if criterion.hidden and not criterion.checks:
        hint = "add verify_command or expected_artifacts, or leave hidden out"
        raise keys["hidden"].problem("there is no check that could be hidden", hint)
    return criterion


def _no_description(item: Spot, keys: dict[str, Spot]) -> Exception:
    missing = item.below("description")
    strange = [key for key in keys if key not in _CRITERION_KEYS]
    if strange:
        hint = f'if "{show_key(strange[0])}: …" is meant as text, put the line in quotes'
        return missing.problem("is missing", hint)
    return missing.problem("is missing", "say what must be true: `description: …`")


def _checks(keys: dict[str, Spot], warnings: list[str]) -> Checks:
    checks = Checks(
        verify_command=_text_or_none(keys.get("verify_command")),
        expected_artifacts=_artifacts(keys.get("expected_artifacts"), warnings),
        output_assertion=_text_or_none(keys.get("output_assertion")),
        timeout=_timeout(keys.get("timeout")),
    )
    if checks.verify_command is None and checks.output_assertion is not None:
        raise keys["output_assertion"].problem(
            "there is no verify_command whose output could hold it", "add verify_command"
        )
    if checks.verify_command is None and checks.timeout is not None:
        warnings.append(keys["timeout"].remark("has no effect without verify_command"))
    return checks


def _timeout(spot: Spot | None) -> float | None:
    if spot is None or spot.empty:
        return None
    seconds = spot.number()
    if 0 < seconds <= LONGEST_TIMEOUT:
        return seconds
    raise spot.problem(
        "must be more than 0 seconds and at most a day",
        f"write seconds, 0 < timeout <= {LONGEST_TIMEOUT}",
    )


def _artifacts(spot: Spot | None, warnings: list[str]) -> tuple[str, ...]:
    if spot is None or spot.empty:
        return ()
    spots = spot.items() if isinstance(spot.node.value, list) else [spot]
    return tuple(dict.fromkeys(_artifact(one, warnings) for one in spots))


def _artifact(spot: Spot, warnings: list[str]) -> str:
    """A path as git writes it: relative to the top, `/` between its parts."""
    text = spot.text()
    if "\\" in text or text[0] in "/~" or _DRIVE.match(text):
        raise spot.problem(
            "must be a path below the repository's top, with / between its parts",
            "write it like src/main.py",
        )
    parts = [part for part in text.split("/") if part not in ("", ".")]
    _refuse_outside(spot, parts)
    if _WILDCARD.search(text):
        warnings.append(spot.remark("* and ? are taken literally, as part of the name"))
    return "/".join(parts)


def _refuse_outside(spot: Spot, parts: list[str]) -> None:
    folded = [part.casefold() for part in parts]
    if not parts or ".." in parts:
        raise spot.problem("must name something inside the repository", "leave .. out")
    if folded[0] == ".ouro" or ".git" in folded:
        raise spot.problem(
            "lies in .ouro/ or .git/, where agents write nothing", "name a file of the work itself"
        )


def _ontology(spot: Spot | None, warnings: list[str]) -> Ontology:
    if spot is None or spot.empty:
        return Ontology()
    keys = spot.mapping("write name, description and fields below it")
    _warn_unknown(keys, _ONTOLOGY_KEYS, "unknown key, dropped", warnings)
    return Ontology(
        name=_text_or_blank(keys.get("name")),
        description=_text_or_blank(keys.get("description")),
        fields=_fields(keys.get("fields"), warnings),
    )


def _fields(spot: Spot | None, warnings: list[str]) -> tuple[Field, ...]:
    items = [] if spot is None or spot.empty else spot.items(_LIST_HINT)
    if spot is not None and len(items) > MOST_FIELDS:
        raise spot.problem(f"has {len(items)} fields", f"name at most {MOST_FIELDS} concepts")
    fields = tuple(_field(item, warnings) for item in items)
    seen: dict[str, str] = {}
    for item, field in zip(items, fields, strict=True):
        same = seen.setdefault(normalise(field.name), item.path)
        if same != item.path:
            what = f"the name {show_key(field.name)} is already that of {same}"
            raise item.problem(what, "case, blanks and _ make no difference; rename one of them")
    return fields


def _field(item: Spot, warnings: list[str]) -> Field:
    keys = item.mapping("write `- name: …` with field_type and description below it")
    _warn_unknown(keys, _FIELD_KEYS, "unknown key, dropped", warnings)
    if "type" in keys and "field_type" in keys:
        raise keys["type"].problem("means the same as field_type", "keep one of them")
    return Field(
        name=_field_name(_required(item, keys, "name")),
        field_type=_text_or_none(keys.get("field_type") or keys.get("type")) or "string",
        description=_text_or_blank(keys.get("description")),
        required=_flag(keys.get("required"), default=True),
    )


def _field_name(spot: Spot) -> str:
    name = spot.text()
    if len(name) > _LONGEST_NAME:
        raise spot.problem(f"is longer than {_LONGEST_NAME} characters", "use the description")
    return name
