"""Files to begin with: written once, never over anything that is there."""

from __future__ import annotations

from pathlib import Path

from ouro.errors import UsageProblem

_FOLDER = Path(__file__).resolve().parent.parent / "templates"


def text(name: str) -> str:
    """The template `name`, such as `seed.yaml`."""
    return (_FOLDER / name).read_text("utf-8")


def write_new(path: Path, content: str) -> None:
    """Write `content` to a new file; raises UsageProblem where one is there already."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        raise UsageProblem(
            f"{path} is there already", "nothing is overwritten: move it away, or edit it"
        ) from None
    except OSError as problem:
        raise UsageProblem(
            f"{path}: cannot be written: {problem.strerror}", "check the folder"
        ) from problem
