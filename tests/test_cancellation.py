"""Taking a call back."""

from __future__ import annotations

import threading

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


def test_all_of_many_threads_that_begin_to_wait_at_once_are_called() -> None:
    cancelled, started, heard = Cancellation(), threading.Barrier(33), threading.Semaphore(0)

    def wait() -> None:
        with cancelled.calls(heard.release):
            started.wait(4)
            cancelled.wait(4)

    threads = [threading.Thread(target=wait) for _ in range(32)]
    for thread in threads:
        thread.start()
    started.wait(4)
    cancelled.set()
    for thread in threads:
        thread.join()
    assert all(heard.acquire(blocking=False) for _ in threads)
