"""What a job is asked for with: the fields that `submit`, its batches and schedules share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from typing import Annotated, Any

from hearth import bounds
from hearth.durations import milliseconds
from hearth.errors import invalid
from hearth.model import Cli, Content, Ge, Help, Le, Len, PathName, Pattern, model
from hearth.settings import DAY_MS
from hearth.store.jobs import Condition
from hearth.variables import EnvPolicy

LONGEST_MS = 3_660 * DAY_MS
ID, ID_FORM = "job_[0-9a-hjkmnp-tv-z]{26}", "job_ and a lower-case ULID"
NAME = Pattern(r"^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$", "must be letters, digits and ._:/@+- behind the first of those")
Name = Annotated[str, Len(1, 100), NAME]


@model
class Dependency:
    """A job that must have ended."""

    job: Annotated[str | None, Len(1, 64), Help("Its id; at the shell its beginning.")] = None
    index: Annotated[int | None, Ge(0), Le(63), Help("Or its place in this batch, from 0.")] = None
    on: Annotated[
        Condition,
        Help("How it must end: success, failure (in any other way, but cancelled), or finished (in any way)."),
    ] = Condition.SUCCESS

    @classmethod
    def from_word(cls, text: str) -> Dependency:
        """`JOB`, or `JOB:failure` and the like; a number is a place in the batch."""
        name, _, on = text.partition(":")
        if on and on not in list(Condition):
            raise invalid("on", "not_one_of", f"must be one of {', '.join(Condition)}")
        condition = Condition(on) if on else Condition.SUCCESS
        if re.fullmatch(r"[0-9]{1,2}", name, re.ASCII):
            return cls(index=int(name), on=condition)
        return bounds.build(cls, {"job": name, "on": condition})


@model
class RetryRule:
    """Whether a failed run is tried again."""

    attempts: Annotated[int, Ge(1), Le(100), Help("Most runs in all, the first included.")] = 3
    delay_ms: Annotated[int, Ge(0), Le(LONGEST_MS), Help("How long to wait after the first run.")] = 0
    backoff: Annotated[float, Ge(1), Le(100), Help("How many times longer after each further run.")] = 1.0
    max_delay_ms: Annotated[int, Ge(0), Le(LONGEST_MS), Help("The longest wait.")] = 3_600_000
    on: Annotated[
        tuple[Annotated[int, Ge(1), Le(0xFFFFFFFF)], ...],
        Len(0, 64),
        Help("Only after these exit codes, 128 + N for a signal; without them after any failure."),
    ] = ()

    @classmethod
    def from_word(cls, text: str) -> RetryRule:
        """`3`, or `attempts=3,delay=5s,backoff=2,max_delay=1m,on=75,on=76`; each but `on` stands once at most."""
        if text.isascii() and text.isdigit():
            text = f"attempts={text}"
        values: dict[str, Any] = {}
        for part in text.split(","):
            name, _, value = part.partition("=")
            if name not in _RETRY_WORDS:
                raise invalid("", "wrong_form", f"'{part}' is neither a number nor one of {_RETRY_FORMS}")
            target, read = _RETRY_WORDS[name]
            if name != "on" and target in values:
                raise invalid(name, "not_unique", "is said twice")
            values[target] = (*values.get("on", ()), read(name, value)) if name == "on" else read(name, value)
        return bounds.build(cls, values)


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", text, re.ASCII):
        raise invalid(
            name, "wrong_type", "must be a whole number" + ("; say on=N once for each" if name == "on" else "")
        )
    return int(text)


def _factor(name: str, text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,12})?", text, re.ASCII):
        raise invalid(name, "wrong_type", "must be a number")
    return float(text)


def _duration(name: str, text: str) -> int:
    try:
        return milliseconds(text)
    except ValueError as error:
        raise invalid(name, "wrong_type", str(error)) from None


_RETRY_WORDS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "attempts": ("attempts", _whole),
    "delay": ("delay_ms", _duration),
    "max_delay": ("max_delay_ms", _duration),
    "backoff": ("backoff", _factor),
    "on": ("on", _whole),
}
_RETRY_FORMS = ", ".join(f"{name}=..." for name in _RETRY_WORDS)


Command = Annotated[
    str, Cli(argument=True), Len(1, 32_768), Help("The program: a name that PATH is searched for, or a path.")
]
Words = Annotated[
    tuple[str, ...],
    Cli(argument=True, rest=True, metavar="ARG"),
    Len(0, 100_000),
    Help("Its words, each as it is; options of hearth stand before the program."),
]


@model
class ProgramFields:
    """How a program is run, whoever starts it and whenever: what submitted and recurring jobs share."""

    cwd: Annotated[str | None, PathName(), Help("The directory to start in, inside a root that may be written.")] = None
    env: Annotated[dict[str, str], Len(0, 1_000), Help("Variables beside those that it inherits.")] = field(
        default_factory=dict
    )
    env_policy: Annotated[
        EnvPolicy,
        Help("Which variables of the process that submits it inherits: all but secrets, the few needed, or none."),
    ] = EnvPolicy.INHERIT
    stdin: Annotated[
        str | None,
        Cli(metavar="TEXT|@FILE|-", reads_file=True),
        Content(),
        Help("Text for its standard input, which else is empty."),
    ] = None
    open_stdin: Annotated[bool, Help("Keep its standard input open, for `send`.")] = False
    merge: Annotated[bool, Help("Keep both outputs as one, in the exact order.")] = False
    timeout_ms: Annotated[int | None, Ge(1), Le(LONGEST_MS), Help("When to end a run; never by default.")] = None
    grace_ms: Annotated[int, Ge(0), Le(600_000), Help("How long it may take to end once it was asked to.")] = 2_000
    cpu_seconds: Annotated[int | None, Ge(1), Le(10_000_000), Help("Most seconds of processor time.")] = None
    memory_bytes: Annotated[int | None, Ge(1024 * 1024), Le(1 << 50), Help("Most memory of one process.")] = None
    priority: Annotated[int, Ge(-1_000), Le(1_000), Help("Higher ones start first.")] = 0
    group: Annotated[Name, Help("The group, which has its own limit of jobs at once.")] = "default"
    labels: Annotated[
        tuple[Name, ...], Cli(names=("--label",)), Len(0, 32), Help("Words by which it can be found.")
    ] = ()
    retry: Annotated[
        RetryRule | None,
        Cli(metavar="N|RULE"),
        Help("Try a failed run again: 3 runs in all, or attempts=3, delay=5s, backoff=2, max_delay=1m, on=75, on=76."),
    ] = None
    restart: Annotated[
        bool, Help("Run it again when it was interrupted, such as by a power cut, and nobody knows how it ended.")
    ] = False


@model
class JobFields(ProgramFields):
    """A job, but for when it must have a command."""

    command: Command | None = None
    args: Words = ()
    delay_ms: Annotated[int | None, Ge(0), Le(LONGEST_MS), Help("Start no sooner than so long from now.")] = None
    run_at: Annotated[str | None, Len(1, 64), Help("Start no sooner than this time: ISO 8601 with Z or an offset.")] = (
        None
    )
    expires_at: Annotated[str | None, Len(1, 64), Help("Do not start it from this time on.")] = None
    dependencies: Annotated[
        tuple[Dependency, ...],
        Cli(names=("--after",), metavar="JOB[:ON]"),
        Len(0, 256),
        Help("Jobs that must have ended, with success or as :failure or :finished says."),
    ] = ()
    idempotency_key: Annotated[
        str | None, Len(1, 200), Help("The same key answers the same job, rather than making another one.")
    ] = None
    id: Annotated[
        str | None,
        Pattern(f"^{ID}$", f"must be {ID_FORM}"),
        Help("An id that was chosen beforehand, so that others could name it."),
    ] = None


@model
class JobInput(JobFields):
    """One job of a batch."""

    command: Command
