"""machine.exec: run a program to its end."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from hearth.containment import translated
from hearth.content.printed import check_encoding
from hearth.errors import invalid
from hearth.execution import Ending, Run, Slots
from hearth.model import Cli, Content, Ge, Help, Le, Len, PathName, Raw, State, model
from hearth.runtime import Caller, Runtime
from hearth.services.machine.outputs import Output
from hearth.settings import DAY_MS
from hearth.spill import Bounds, Capture
from hearth.variables import EnvPolicy


@model
class RunProgram:
    command: Annotated[
        str, Cli(argument=True), Len(1, 32_768), Help("The program: a name that PATH is searched for, or a path.")
    ]
    args: Annotated[
        tuple[str, ...],
        Cli(argument=True, rest=True, metavar="ARG"),
        Len(0, 100_000),
        Help("Its words, each as it is; options of hearth stand before the program."),
    ] = ()
    cwd: Annotated[str | None, PathName(), Help("The directory to start in, inside a root that may be written.")] = None
    env: Annotated[dict[str, str], Len(0, 1_000), Help("Variables that the program gets, whatever the policy.")] = (
        field(default_factory=dict)
    )
    env_policy: Annotated[
        EnvPolicy,
        Help("Which of hearth's own variables it gets: all but secrets, the few that programs need, or none."),
    ] = EnvPolicy.INHERIT
    stdin: Annotated[
        str | None,
        Content(),
        Help("Text for its standard input; at the shell - passes on hearth's own. Without it the input is empty."),
    ] = None
    stdin_from: Annotated[str | None, PathName(), Help("A file for its standard input.")] = None
    timeout_ms: Annotated[
        int | None, Ge(1), Le(DAY_MS), Help("When to end it; none at the shell, elsewhere command_timeout_ms.")
    ] = None
    grace_ms: Annotated[int, Ge(0), Le(600_000), Help("How long it may take to end once it was asked to.")] = 2_000
    cpu_seconds: Annotated[int | None, Ge(1), Le(86_400), Help("Most seconds of processor time.")] = None
    memory_bytes: Annotated[int | None, Ge(1024 * 1024), Le(1 << 50), Help("Most memory of one process.")] = None
    encoding: Annotated[str | None, Len(1, 40), Help("How it writes; without it UTF-8 or the console's.")] = None
    merged: Annotated[bool, Help("Also answer both outputs together, in the order in which they came.")] = False

    @classmethod
    def from_word(cls, text: str) -> RunProgram:
        """A command as people write it: words between blanks, quotes around what holds blanks; no shell's signs."""
        import shlex

        lexer = shlex.shlex(text, posix=True)
        lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
        try:
            words = list(lexer)
        except ValueError as error:
            raise invalid("", "wrong_form", f"these are not the words of a command: {error}") from None
        if not words:
            raise invalid("", "too_short", "a command has at least one word")
        return cls(command=words[0], args=tuple(words[1:]))


@model
class ProgramEnded:
    state: State = State.COMPLETED
    program: Annotated[str, PathName(), Help("The file that was run.")]
    cwd: Annotated[str, PathName(), Help("The directory that it started in.")]
    exit_code: Annotated[int | None, Help("Its exit code; null when a signal ended it.")]
    signal: Annotated[int | None, Help("The signal that ended it.")]
    timed_out: Annotated[bool, Help("Whether the time limit ended it.")]
    pipes_held: Annotated[bool, Help("Whether something that it left behind held its outputs, and was ended.")]
    stdout: Annotated[str, Raw(), Help("What it printed; of long output the beginning.")]
    stderr: Annotated[str, Help("What it printed about errors; of long output the beginning.")]
    merged: Annotated[str | None, Help("Both outputs, in the order in which they came.")]
    stdout_facts: Annotated[Output, Help("The facts about stdout.")]
    stderr_facts: Annotated[Output, Help("The facts about stderr.")]
    merged_facts: Annotated[Output | None, Help("The facts about merged.")]
    withheld: Annotated[tuple[str, ...], Help("Variables that it did not get because they look like secrets.")]
    duration_ms: Annotated[int, Help("How long it ran.")]
    cpu_ms: Annotated[int | None, Help("Processor time of it and of the programs that it waited for.")]
    peak_memory_bytes: Annotated[
        int | None, Help("Its most memory; null where it is no more than hearth's own, which Linux counts in.")
    ]

    @property
    def exit_status(self) -> int:
        """What `hearth machine exec` ends with: the program's own status, in the way of shells."""
        if self.state is State.CANCELLED:
            return 6
        if self.timed_out:
            return 124
        if self.exit_code is not None:
            return self.exit_code
        return 128 + (self.signal or 0)


def run_program(runtime: Runtime, given: RunProgram) -> ProgramEnded:
    """Run a program to its end and answer what it printed. A non-zero exit and a time-out are results of state
    `failed`. Raises `ProgramNotFound`, `NotExecutable`, `ArgumentsTooLong`, `Unsupported`, `NoSpace`, and what
    `containment.locate` raises about `cwd` and `stdin_from`."""
    return run_bounded(runtime, given, inline_bytes=runtime.settings.max_output_bytes)


def run_bounded(runtime: Runtime, given: RunProgram, *, inline_bytes: int) -> ProgramEnded:
    """`run_program` with at most `inline_bytes` of output in the answer."""
    from hearth.services.machine.answers import answer
    from hearth.services.machine.start import prepared

    check_encoding(given.encoding)
    slots: Slots = runtime.opener.keep("program slots", lambda: Slots(runtime.host.most_programs()))
    with slots.taken(runtime.cancelled):
        with prepared(runtime, given) as start, translated(start.launch.program):
            begun = Run(runtime.launcher, start.launch)
        with _capture(runtime, given, inline_bytes) as capture:
            ending = _to_end(runtime, given, begun, capture)
    return answer(runtime, given, start, ending, capture)


def _capture(runtime: Runtime, given: RunProgram, inline_bytes: int) -> Capture:
    settings = runtime.settings
    preview = min(settings.artifact_preview_bytes, inline_bytes // 4)
    return Capture(
        lambda: runtime.blobs, Bounds(inline_bytes, preview, settings.max_artifact_bytes), merged=given.merged
    )


def _to_end(runtime: Runtime, given: RunProgram, begun: Run, capture: Capture) -> Ending:
    with runtime.cancelled.calls(lambda: begun.cancel(interrupt=runtime.cancelled.by_interrupt)):
        return begun.to_end(
            runtime.live or capture.deliver, timeout_ms=time_limit(runtime, given), grace_ms=given.grace_ms
        )


def time_limit(runtime: Runtime, given: RunProgram) -> int | None:
    """The call's own limit; none at a shell, where a person sees what goes on and has Ctrl-C."""
    if given.timeout_ms is not None or runtime.caller is Caller.SHELL:
        return given.timeout_ms
    return runtime.settings.command_timeout_ms
