"""The protocol's own conformance suite."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp import processes
from tests.mcp.peers import node

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), node.needed]

HERE = Path(__file__).parent


@pytest.fixture
def fixtures(tmp_path: Path) -> Iterator[str]:
    """The address of a server with what the suite asks for."""
    given = [sys.executable, "-m", "tests.mcp.peers.fixtures", str(tmp_path)]
    with subprocess.Popen(
        given, cwd=processes.ROOT, env=processes.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.kill()


def test_a_server_with_what_the_suite_asks_for_meets_every_requirement(fixtures: str, tmp_path: Path) -> None:
    done = node.run("conformance", "server", "--url", fixtures, "--requirements", "2026-07-28", cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3_000:]
    unmet = re.findall(r"✗ ([^:\n]+): ", done.stdout)
    unscored = re.findall(r"✗ (\S+) \((?:extension|pending)\)", done.stdout)
    assert sorted(unmet) == sorted(unscored)


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
def test_the_server_as_it_is_fails_only_what_it_does_not_offer(work: Path, tmp_path: Path, version: str) -> None:
    with processes.served(work) as server:
        done = node.run(
            "conformance", "server", "--url", server.url, "--suite", "all", "--spec-version", version,
            "--expected-failures", str(HERE / f"expected-{version}.yml"), cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3_000:]
