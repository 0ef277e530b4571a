"""What a Python file that is there already defines, as far as it can be read off its syntax."""

import ast

from msgspec import Struct


class Outline(Struct, frozen=True):
    """`names` are bound at the top; `tests` has, for each test, the names of what it calls."""

    names: tuple[str, ...]
    tests: tuple[tuple[str, ...], ...]


def parsed(text: str) -> ast.Module | None:
    """The syntax tree; None for what is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def outline(tree: ast.Module) -> Outline:
    tests = tuple(calls(node) for node in test_nodes(tree).values())
    return Outline(tuple(name for node in tree.body for name in _bound(node)), tests)


def _bound(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name.partition(".")[0] for alias in names]
    inner = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return [name.id for name in inner if isinstance(name.ctx, ast.Store)]


def test_nodes(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """pytest's usual tests: `test_x` and `TestX::test_x` -> their definitions."""
    found: dict[str, ast.FunctionDef] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            found[node.name] = node
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name.startswith("test"):
                    found[f"{node.name}::{inner.name}"] = inner
    return found


def calls(node: ast.AST) -> tuple[str, ...]:
    """The last part of each name that is called in it."""
    found = []
    for inner in ast.walk(node):
        match inner:
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                found.append(name)
    return tuple(dict.fromkeys(found))


def functions(tree: ast.Module) -> tuple[str, ...]:
    """The functions defined at the top."""
    return tuple(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
