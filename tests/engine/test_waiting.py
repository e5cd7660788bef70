"""Waiting for what is in the database, with what goes wrong around it."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from hearth.engine import presence
from hearth.engine.waiting import wait_until
from hearth.runtime import Runtime


def test_who_waits_is_told_once_that_no_worker_can_be_started_and_waits_on(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    starts: list[int] = []

    def refused(given: Runtime) -> Any:
        starts.append(1)
        given.host.ring(given.bells)  # so that the wait looks again at once
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(presence, "_start", refused)
    waiting = runtime.for_call(notice=told.append)
    assert wait_until(waiting, lambda _: True if len(starts) > 2 else None, 20)
    assert told == ["hearth: no worker could be started, which is tried again: Resource temporarily unavailable"]
