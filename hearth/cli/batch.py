"""`hearth call --batch`: a request a line in, an answer a line out, as the calls finish.

One process, one runtime and one store for thousands of calls. A line that cannot be read is answered like any other
and harms no later one; requests are read only as fast as they are answered.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any, BinaryIO

from hearth import check, dispatch
from hearth.answers import Answer
from hearth.cli.exit_status import exit_status
from hearth.document import document
from hearth.errors import HearthError, InvalidInput, Problem, invalid
from hearth.runtime import Runtime

MAX_LINE_BYTES = 8 * 1024 * 1024
WINDOW = 4  # requests that may wait for each worker
_BOM = b"\xef\xbb\xbf"
_KEYS = frozenset(("id", "operation", "input"))

encode = json.JSONEncoder(ensure_ascii=True, separators=(", ", ": ")).encode


class Batch:
    """The calls of one batch. `write` is handed whole lines, one an answer."""

    def __init__(self, runtime: Runtime, write: Callable[[bytes], None], *, jobs: int, ordered: bool) -> None:
        self._runtime = runtime
        self._write = write
        self._jobs = jobs
        self._ordered = ordered
        self._failed = False

    def run(self, lines: BinaryIO) -> int:
        """Answer every line; 0 only if every call's own status was."""
        requests = read_lines(lines)
        if self._jobs == 1:
            for number, line in requests:
                self._emit(self._answer(number, line))
        else:
            self._run_parallel(requests)
        return 1 if self._failed else 0

    def _emit(self, answered: tuple[int, bytes]) -> None:
        status, line = answered
        self._failed = self._failed or status != 0
        self._write(line)

    def _answer(self, number: int, line: bytes | HearthError) -> tuple[int, bytes]:
        """The exit status and the answer's line."""
        try:
            request = _request(line)
        except HearthError as error:
            refused = Answer("", error.state, error=error)
            return 2, _line({"id": None, "line": number, "exit_status": 2, "result": document(refused)})
        answer = self._call(request)
        status = exit_status(answer)
        return status, _line(
            {
                "id": request.get("id"),
                "operation": request.get("operation"),
                "exit_status": status,
                "result": document(answer),
            }
        )

    def _call(self, request: dict[str, Any]) -> Answer:
        operation = request.get("operation")
        problems = [Problem(name, "unknown_field", "is not part of a request") for name in request if name not in _KEYS]
        if not isinstance(operation, str):
            problems.append(Problem("operation", "wrong_type", "must name an operation, such as fs.stat"))
        if problems:
            error = InvalidInput(*problems)
            return Answer("", error.state, error=error)
        given = request.get("input")
        return dispatch.call_json(self._runtime, str(operation), {} if given is None else given)

    def _run_parallel(self, requests: Iterator[tuple[int, bytes | HearthError]]) -> None:
        pool = _Pool(self._jobs, self._answer, self._emit, ordered=self._ordered)
        try:
            for number, line in requests:
                if not pool.submit(number, line):
                    break  # nobody reads the answers any more
        except BaseException:
            self._runtime.cancelled.set()  # what runs now may end early, and nothing that waits begins
            pool.stop()
            raise
        finally:
            pool.finish()


class _Pool:
    """Worker threads, and the answers on their way out."""

    def __init__(
        self,
        jobs: int,
        answer: Callable[[int, Any], tuple[int, bytes]],
        emit: Callable[[tuple[int, bytes]], None],
        *,
        ordered: bool,
    ) -> None:
        self._answer = answer
        self._emit = emit
        self._ordered = ordered
        self._requests: SimpleQueue[tuple[int, int, Any] | None] = SimpleQueue()
        self._slots = threading.Semaphore(jobs * WINDOW)
        self._writing = threading.Lock()
        self._waiting: dict[int, tuple[int, bytes]] = {}
        self._submitted = 0
        self._written = 0
        self._stopped = False
        self._error: Exception | None = None
        self._threads = [threading.Thread(target=self._work, name=f"batch-{n}", daemon=True) for n in range(jobs)]
        for thread in self._threads:
            thread.start()

    def submit(self, number: int, line: Any) -> bool:
        """Queue a request, waiting while too many are unanswered; false once answers cannot be written."""
        # On Windows a wait without a limit cannot be interrupted by Ctrl-C.
        while not self._slots.acquire(timeout=0.5):
            if self._stopped:
                return False
        self._requests.put((self._submitted, number, line))
        self._submitted += 1
        return not self._stopped

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopped = True

    def finish(self) -> None:
        """Wait for what was submitted, then raise what a worker met."""
        for _ in self._threads:
            self._requests.put(None)
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        while (request := self._requests.get()) is not None:
            if not self._stopped:
                self._one(*request)

    def _one(self, place: int, number: int, line: Any) -> None:
        try:
            answered = self._answer(number, line)
            with self._writing:
                self._deliver(place, answered)
        except Exception as error:
            self._error = self._error or error
            self._slots.release()  # a request that waits to come in learns of it
            self._stopped = True

    def _deliver(self, place: int, answered: tuple[int, bytes]) -> None:
        self._waiting[place] = answered
        ready = self._next_ready(place)
        while ready is not None:
            self._emit(ready)
            self._written += 1
            # Only now may the next request come in: answers that wait for an earlier one take room as well.
            self._slots.release()
            ready = self._next_ready(self._written) if self._ordered else None

    def _next_ready(self, place: int) -> tuple[int, bytes] | None:
        return self._waiting.pop(self._written if self._ordered else place, None)


def read_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | HearthError]]:
    """The lines that hold something, numbered from 1, without a BOM; an error in the place of one that is too long."""
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(_BOM)
        if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            _skip_line(stream)
            yield number, invalid("", "too_long", f"a request has at most {MAX_LINE_BYTES} bytes")
        elif not line.isspace() and line:
            yield number, line


def _skip_line(stream: BinaryIO) -> None:
    while (rest := stream.readline(1024 * 1024)) and not rest.endswith(b"\n"):
        pass


def _request(line: bytes | HearthError) -> dict[str, Any]:
    if isinstance(line, HearthError):
        raise line
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid("", "not_json", f"this line is not UTF-8: {error.reason} at byte {error.start}") from None
    request = check.parse(text)
    if not isinstance(request, dict):
        raise invalid("", "wrong_type", "a request is a JSON object with operation and input")
    if isinstance(request.get("id"), (dict, list)):
        raise invalid("id", "wrong_type", "must be text, a number or null")
    return request


def _line(answer: dict[str, Any]) -> bytes:
    return encode(answer).encode("ascii") + b"\n"
