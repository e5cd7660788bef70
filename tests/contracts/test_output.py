"""Standard output carries results only, and one module writes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import hearth

PACKAGE = Path(hearth.__file__).parent
WRITERS = {"cli/render.py", "cli/streams.py", "cli/options.py", "__main__.py"}


def _modules(word: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules that hold a word; only these are worth parsing."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if word in text:
            yield path.relative_to(PACKAGE).as_posix(), ast.parse(text)


def test_only_the_renderer_touches_standard_output() -> None:
    offenders = [
        f"{name}:{node.lineno}"
        for name, tree in _modules("stdout")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and "stdout" in node.attr
        and ast.unparse(node) in ("sys.stdout", "sys.__stdout__")
        if name not in WRITERS
    ]
    assert offenders == []


def test_nothing_prints_to_standard_output() -> None:
    offenders = [
        f"{name}:{node.lineno}"
        for name, tree in _modules("print(")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and "sys.stderr" not in ast.unparse(node)
    ]
    assert offenders == []


def test_every_text_file_is_opened_with_an_encoding() -> None:
    offenders = [
        f"{name}:{node.lineno}"
        for name, tree in _modules("open(")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "open"
        and not _names_its_encoding(node)
    ]
    assert offenders == []


def _names_its_encoding(call: ast.Call) -> bool:
    mode = next((k.value for k in call.keywords if k.arg == "mode"), call.args[1] if len(call.args) > 1 else None)
    binary = isinstance(mode, ast.Constant) and "b" in str(mode.value)
    return binary or any(keyword.arg == "encoding" for keyword in call.keywords)
