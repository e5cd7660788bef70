"""What libraries log goes into hearth's log and nowhere else."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearth.logs import Log
from hearth.mcp import noise
from hearth.platforms.local import local_host


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    kept = {name: (logging.getLogger(name).handlers, logging.getLogger(name).propagate) for name in noise.LIBRARIES}
    yield
    for name, (handlers, propagate) in kept.items():
        logging.getLogger(name).handlers, logging.getLogger(name).propagate = handlers, propagate


def test_a_library_s_errors_are_logged_in_a_line_and_its_warnings_only_when_asked(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    noise.send_to(Log(local_host(), str(tmp_path)))
    logger = logging.getLogger("uvicorn.error")
    logger.warning("Invalid HTTP request received.")
    try:
        raise ValueError("token=ghp_" + "a1B2" * 9)
    except ValueError:
        logger.exception("Exception in ASGI application")
    text = (tmp_path / "logs" / "hearth.log").read_text("utf-8")
    assert text.count("\n") == 1
    assert "Exception in ASGI application: ValueError" in text
    assert "a1B2" not in text
    assert capfd.readouterr() == ("", "")
