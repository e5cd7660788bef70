"""Taking a call back."""

from __future__ import annotations

from hearth.cancellation import Cancellation


def test_what_waits_is_called_each_time() -> None:
    cancelled, heard = Cancellation(), []
    with cancelled.calls(lambda: heard.append(1)):
        cancelled.set()
        cancelled.set()
    cancelled.set()
    assert (heard, cancelled.is_set(), cancelled.by_interrupt) == ([1, 1], True, False)


def test_what_begins_to_wait_too_late_is_called_at_once() -> None:
    cancelled, heard = Cancellation(), []
    cancelled.interrupt()
    with cancelled.calls(lambda: heard.append(1)):
        assert (heard, cancelled.by_interrupt) == ([1], True)
