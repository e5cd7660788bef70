"""The answer about a program that has ended; what does not fit in it becomes artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hearth.content.printed import Text, text_of
from hearth.execution import Ending
from hearth.model import State
from hearth.platforms.processes import Stream
from hearth.runtime import Runtime
from hearth.services.machine.exec import ProgramEnded, RunProgram
from hearth.services.machine.outputs import Output
from hearth.services.machine.start import Start
from hearth.spill import Capture, Kept

if TYPE_CHECKING:
    from hearth.store.artifacts import Artifact


def answer(runtime: Runtime, given: RunProgram, start: Start, ending: Ending, capture: Capture) -> ProgramEnded:
    """The result. Raises what keeping an artifact raises."""
    texts = Texts(runtime, given)
    stdout, stdout_facts = texts.of(capture.kept(Stream.STDOUT), "stdout")
    stderr, stderr_facts = texts.of(capture.kept(Stream.STDERR), "stderr")
    kept = capture.kept_merged()
    merged, merged_facts = texts.of(kept, "merged") if kept is not None else (None, None)
    return ProgramEnded(
        state=_state(ending, truncated=stdout_facts.truncated or stderr_facts.truncated),
        program=start.launch.program,
        cwd=start.cwd,
        exit_code=ending.exit.code,
        signal=ending.exit.signal,
        timed_out=ending.timed_out,
        pipes_held=ending.pipes_held,
        stdout=stdout,
        stderr=stderr,
        merged=merged,
        stdout_facts=stdout_facts,
        stderr_facts=stderr_facts,
        merged_facts=merged_facts,
        withheld=start.withheld,
        duration_ms=ending.duration_ms,
        cpu_ms=ending.exit.cpu_ms,
        peak_memory_bytes=ending.exit.peak_memory_bytes,
    )


def _state(ending: Ending, *, truncated: bool) -> State:
    if ending.cancelled:
        return State.CANCELLED
    if ending.timed_out or ending.exit.code != 0:
        return State.FAILED
    return State.PARTIAL if truncated else State.COMPLETED


class Texts:
    """Makes texts of outputs, and artifacts of what a text cannot hold."""

    def __init__(self, runtime: Runtime, given: RunProgram) -> None:
        self._runtime = runtime
        self._stated = given.encoding
        self._console = runtime.host.output_encoding()

    def of(self, kept: Kept, label: str) -> tuple[str, Output]:
        head = self._read(kept.head, ends_early=kept.body is not None)
        tail = self._read(kept.tail, starts_late=True, ends_early=kept.truncated) if kept.tail else None
        worse = tail if tail is not None and tail.note is not None else head
        artifact = self._kept(kept, worse, label)
        return head.text, Output(
            size_bytes=kept.size,
            encoding=worse.encoding,
            encoding_note=worse.note,
            artifact=artifact.id if artifact else None,
            sha256=artifact.body if artifact else None,
            tail=tail.text if tail is not None else None,
            truncated=kept.truncated,
        )

    def _kept(self, kept: Kept, text: Text, label: str) -> Artifact | None:
        """The artifact of an output that the answer does not hold as it was printed."""
        if kept.body is None and (text.note is None or not kept.size):
            return None
        from hearth import artifacts

        body = kept.body or self._runtime.blobs.store([kept.head], sync=False)
        return artifacts.record(
            self._runtime,
            body,
            media_type="application/octet-stream" if text.encoding is None else "text/plain",
            operation="machine.exec",
            label=label,
            encoding=text.encoding,
        )

    def _read(self, data: bytes, *, starts_late: bool = False, ends_early: bool) -> Text:
        return text_of(data, stated=self._stated, console=self._console, starts_late=starts_late, ends_early=ends_early)
