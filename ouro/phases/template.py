"""Templates: `$name` becomes a value, once. What a value says is never looked at again."""

import re
from collections.abc import Mapping
from string import Template

from ouro.phases.text import clean

_ALONE = re.compile(r"^\$\{?([a-z_]+)\}?[ \t]*\n(?:[ \t]*\n)?", re.MULTILINE)


def fill(template: str, values: Mapping[str, str]) -> str:
    """`template` with `values`; a `$` that names none of them stays, `$$` is a plain `$`.

    A line that is nothing but a name with an empty value goes, with one blank line after it.
    """
    text = _ALONE.sub(
        lambda line: "" if values.get(line[1]) == "" else line[0], clean(template) + "\n"
    )
    return Template(text).safe_substitute(values).strip() + "\n"
