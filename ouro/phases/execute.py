"""Execute: the work itself. What it said is a summary; what it did is read off the tree."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ouro.core.brief import Brief, Phase, Reply, Request
from ouro.core.events import ExecuteCompleted, LeftOut
from ouro.core.lineage import Lineage
from ouro.phases import Prompts, specification, standing
from ouro.phases.compose import compose, known_verdicts_section
from ouro.phases.text import bullets, clean, cut, keep_end, material, section

LONGEST_SUMMARY = 4_000
_LONGEST_PLAN = 2_000
_PROTECTED = (
    "Leave what these globs fit as it is, and add nothing there. Whatever you change of it is "
    "undone before the work is judged."
)


class Work(Struct, frozen=True, kw_only=True):
    """What became of the working tree: paths of `files` and their lines `added` and `removed`,
    ids of agent commits `adopted`, paths `left_out`, and the id of the code `tree`."""

    files: tuple[str, ...]
    added: int
    removed: int
    adopted: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    tree: str


def request(lineage: Lineage, prompts: Prompts, protected: Sequence[str] = ()) -> Request:
    """`protected` are globs of what the agent must leave as it is, beside those of the seed."""
    globs = dict.fromkeys((*lineage.current.seed.protect, *protected))
    brief = Brief(
        phase=Phase.EXECUTE,
        lineage_id=lineage.id,
        generation=lineage.current.number,
        seed=lineage.current.seed,
        verdicts=standing.known_verdicts(lineage),
    )
    return compose(
        brief,
        lineage,
        prompts,
        checks=specification.checks(lineage.current.seed),
        protected=section("Protected", f"{_PROTECTED}\n\n{bullets(globs)}" if globs else ""),
        plan=_plan(lineage),
        verdicts=known_verdicts_section(lineage, passing=0),
    )


def _plan(lineage: Lineage) -> str:
    reflect = lineage.current.reflect
    if reflect is None or not reflect.reasoning:
        return ""
    reasoning = cut(reflect.reasoning, _LONGEST_PLAN)
    return section("What reflection suggests for this generation", material(reasoning))


def facts(lineage: Lineage, reply: Reply, work: Work) -> ExecuteCompleted:
    """The summary is the end of the reply; any text will do, so BadReply is never raised."""
    return ExecuteCompleted(
        summary=keep_end(clean(reply.text).strip(), LONGEST_SUMMARY),
        files=tuple(map(_path, work.files)),
        added=work.added,
        removed=work.removed,
        adopted=work.adopted,
        left_out=tuple(replace(left, path=_path(left.path)) for left in work.left_out),
        tree=work.tree,
        usage=reply.usage,
    )


def _path(path: str) -> str:
    """With bytes that are no UTF-8 (surrogates, in Python) spelled out, so that JSON holds them."""
    return path.encode("utf-8", "backslashreplace").decode()
