"""Clients that others wrote, of npm, and beside them an environment with fastmcp's. They lie in the folder that
`MCP_PEERS` names:

    npm install node@24 @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 \
        @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/sdk@1.32.2
    python3 -m venv fastmcp && fastmcp/bin/pip install fastmcp==4.2.3
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("MCP_PEERS", "nowhere"))
NODE = FOLDER / "node_modules" / "node" / "bin" / "node"

needed = pytest.mark.skipif(not NODE.exists(), reason="MCP_PEERS names no folder with the clients of npm")


def run(program: str, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program of an npm package, or a script."""
    bin_ = FOLDER / "node_modules" / ".bin" / program
    path = os.pathsep.join([str(NODE.parent), os.environ["PATH"]])
    return subprocess.run(
        [str(NODE), str(bin_.resolve() if bin_.exists() else program), *words],
        env={**os.environ, "PATH": path},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=240,
        check=False,
    )
