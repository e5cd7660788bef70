"""PowerShell scripts where there is no PowerShell: their syntax, by the grammar that editors use."""

from __future__ import annotations

import re

import pytest


def syntax_is_right(script: str) -> bool:
    """Whether the script parses; a test that asks is skipped where the grammar is not installed."""
    tree_sitter = pytest.importorskip("tree_sitter", reason="the PowerShell grammar is not installed")
    grammar = pytest.importorskip("tree_sitter_powershell", reason="the PowerShell grammar is not installed")
    # The grammar takes the digits at the end of `--sha256` for the start of a redirection.
    plain = re.sub(r"(--[a-z-]+)[0-9]+", r"\1", script)
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    return not parser.parse(plain.encode("utf-8")).root_node.has_error
