"""The completion scripts that are checked in are those that the catalog makes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hearth.cli.completion.command import FILES, Shell, script_of


@pytest.mark.parametrize("shell", Shell)
def test_a_checked_in_script_is_what_the_catalog_makes(shell: Shell, generated: Callable[[str, str], None]) -> None:
    script = script_of(shell)
    assert script.isascii(), "PowerShell 5.1 reads files without a BOM in the ANSI code page"
    generated(f"completions/{FILES[shell]}", script)


def test_the_powershell_script_is_free_of_syntax_errors() -> None:
    tree_sitter = pytest.importorskip("tree_sitter", reason="the PowerShell grammar is not installed")
    grammar = pytest.importorskip("tree_sitter_powershell", reason="the PowerShell grammar is not installed")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    assert not parser.parse(script_of(Shell.POWERSHELL).encode()).root_node.has_error
