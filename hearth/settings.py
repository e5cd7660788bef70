"""Every setting, declared once: its name, type, default, bounds and one sentence.

`Narrows` marks what a project's file may change before its owner trusts it, and in which direction.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from hearth.model import Ge, Help, Le, Len, model

DAY_MS = 86_400_000
JOB_VARIABLE = "HEARTH_JOB"  # no setting: by it a program knows its own job, such as to submit others that follow it


class Narrows(StrEnum):
    """The only change that an untrusted file may make to a setting; a setting without it stays as it was."""

    SMALLER = "smaller"
    ON = "on"
    BELOW = "below"  # each root below one that there is, and read-only where that one is


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"


class HardLinks(StrEnum):
    """What a write does to a file that has other names."""

    REPORT = "report"  # replace it, and say how many other names keep the old content
    IN_PLACE = "in_place"  # write into it, so that all names keep showing one file


class OnPersist(StrEnum):
    """What happens to a secret that would be stored."""

    REFUSE = "refuse"
    REDACT = "redact"


@model
class RootSetting:
    """A directory below which hearth may act."""

    path: Annotated[str, Len(1), Help("A directory; a relative one is seen from the file that names it.")]
    read_only: Annotated[bool, Help("Whether hearth may only read below it.")] = False


@model
class FsSettings:
    """How files are written."""

    sync: Annotated[bool, Narrows.ON, Help("Whether a write returns only once it is on the disk.")] = True
    hard_links: Annotated[HardLinks, Help("What a write does to a file that has other names.")] = HardLinks.REPORT
    lock_timeout_ms: Annotated[
        int, Ge(0), Le(600_000), Narrows.SMALLER, Help("How long a write waits for another one's lock.")
    ] = 10_000
    backup_max_bytes: Annotated[
        int,
        Ge(0),
        Le(1 << 40),
        Narrows.SMALLER,
        Help("Above this, content is not backed up and a change needs --permanent."),
    ] = 64 * 1024 * 1024


@model
class SecretSettings:
    """What is done about secrets."""

    on_persist: Annotated[OnPersist, Help("What happens to a secret that would be stored.")] = OnPersist.REFUSE


@model
class RetentionSettings:
    """How long and how much is kept."""

    events_days: Annotated[int, Ge(1), Le(36_500), Help("Days that events are kept.")] = 30
    events_max: Annotated[int, Ge(1_000), Le(100_000_000), Help("Most events that are kept.")] = 1_000_000
    receipts_days: Annotated[int, Ge(1), Le(36_500), Help("Days that a change can be undone.")] = 90
    backups_max_bytes: Annotated[
        int, Ge(0), Le(1 << 50), Help("Most bytes of old content; the oldest receipts lose theirs first.")
    ] = 10 * 1024**3
    artifacts_days: Annotated[int, Ge(1), Le(36_500), Help("Days that artifacts are kept, unless pinned.")] = 30
    artifacts_max_bytes: Annotated[
        int, Ge(0), Le(1 << 50), Help("Most bytes of artifacts that are not pinned; the oldest go first.")
    ] = 20 * 1024**3
    jobs_days: Annotated[
        int, Ge(1), Le(36_500), Help("Days that jobs and calls that were answered pending are kept after they ended.")
    ] = 30
    jobs_max: Annotated[int, Ge(0), Le(100_000_000), Help("Most ended jobs that are kept; the oldest go first.")] = (
        100_000
    )
    mailbox_days: Annotated[
        int, Ge(1), Le(36_500), Help("Days that a conversation can be told what ended, received or not.")
    ] = 30


@model
class MachineSettings:
    """How programs are run."""

    env_allow: Annotated[
        tuple[Annotated[str, Len(1)], ...],
        Help("Variables that programs get although they look like secrets."),
    ] = ()


@model
class WorkerSettings:
    """The background worker."""

    idle_exit_s: Annotated[
        int, Ge(0), Le(86_400), Narrows.SMALLER, Help("Seconds after which an idle worker ends.")
    ] = 60
    parallel: Annotated[
        int, Ge(0), Le(1_000), Narrows.SMALLER, Help("Most jobs of one group at once; 0: as many as there are cores.")
    ] = 0
    output_max_bytes: Annotated[
        int,
        Ge(4_096),
        Le(1 << 50),
        Narrows.SMALLER,
        Help("Most bytes that are kept of each output of a job: half of its beginning, half of its end."),
    ] = 256 * 1024 * 1024


class ServeTools(StrEnum):
    """Which tools are served."""

    FAMILY = "family"  # one for each family
    SPLIT = "split"  # and beside each that may also write one that only reads, for hosts that ask before the others


@model
class ServeSettings:
    """`hearth serve`."""

    host: Annotated[str, Len(1, 64), Help("The address of this machine to listen on: 127.0.0.1, ::1 or localhost.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Ge(0), Le(65_535), Help("The port to listen on; 0: any that is free.")] = 3000
    tools: Annotated[
        ServeTools, Help("One tool for each family, or split: also tools that only read (fs_read, ...).")
    ] = ServeTools.FAMILY
    wait_ms: Annotated[
        int | None,
        Ge(0),
        Le(45_000),
        Help("How long a call is held before it answers pending; 100 for ChatGPT and 10,000 for others by default."),
    ] = None
    answer_max_bytes: Annotated[
        int, Ge(4_096), Le(1024 * 1024), Narrows.SMALLER, Help("Most bytes of one answer; more goes into an artifact.")
    ] = 24 * 1024
    lane: Annotated[bool, Help("Answer plain calls without the SDK, which takes three times as long.")] = True
    shutdown_grace_s: Annotated[
        int, Ge(0), Le(3_600), Help("Seconds that calls get to end once the server was told to stop.")
    ] = 5
    origins: Annotated[
        tuple[Annotated[str, Len(1, 255)], ...], Help("Web pages that may call, such as http://localhost:6274.")
    ] = ()
    max_body_bytes: Annotated[int, Ge(1_024), Le(1 << 30), Narrows.SMALLER, Help("Most bytes of one request.")] = (
        8 * 1024 * 1024
    )
    max_connections: Annotated[
        int, Ge(1), Le(100_000), Narrows.SMALLER, Help("Most connections at once; fewer where handles are scarce.")
    ] = 2_048
    request_timeout_s: Annotated[
        int, Ge(1), Le(3_600), Narrows.SMALLER, Help("Seconds that a request may take to come in.")
    ] = 10


class Isolation(StrEnum):
    """Whose work a caller over MCP gets to see."""

    CONVERSATION = "conversation"  # that of its own conversation, and what was shared
    NONE = "none"  # all


@model
class OracleSettings:
    """The program that goes on with a run."""

    command: Annotated[
        tuple[Annotated[str, Len(1)], ...], Len(1, 64), Help("The program and its first words, a word an item.")
    ] = ("oracle",)
    armed: Annotated[bool, Help("Whether continuations that are due are started; otherwise they are only shown.")] = (
        False
    )


@model
class Settings:
    """All settings, after every layer was read."""

    data_dir: Annotated[str | None, Help("Where the database and the backups lie.")] = None
    roots: Annotated[tuple[RootSetting, ...], Narrows.BELOW, Help("Directories below which hearth may act.")] = ()
    log: Annotated[
        LogLevel | None, Help("Log from this level on to standard error too; the log file always gets warnings.")
    ] = None
    max_output_bytes: Annotated[
        int, Ge(1_024), Le(64 * 1024 * 1024), Narrows.SMALLER, Help("Most bytes of content in one answer.")
    ] = 65_536
    artifact_preview_bytes: Annotated[
        int, Ge(0), Le(1024 * 1024), Narrows.SMALLER, Help("Bytes of the beginning and of the end of long output.")
    ] = 4_096
    max_artifact_bytes: Annotated[
        int, Ge(0), Le(1 << 50), Narrows.SMALLER, Help("Most bytes of a program's output that are kept.")
    ] = 4 * 1024**3
    command_timeout_ms: Annotated[
        int, Ge(1), Le(DAY_MS), Narrows.SMALLER, Help("Time limit of a program over MCP and in a batch.")
    ] = 30_000
    max_concurrent_futures: Annotated[
        int, Ge(1), Le(32), Narrows.SMALLER, Help("Most calls of one scatter or recipe at once.")
    ] = 4
    future_input_max_bytes: Annotated[
        int, Ge(1_024), Le(1024 * 1024), Narrows.SMALLER, Help("Most bytes of the calls of one scatter, as JSON.")
    ] = 262_144
    recipe_max_steps: Annotated[int, Ge(1), Le(1_000), Narrows.SMALLER, Help("Most steps of a recipe.")] = 50
    isolation: Annotated[Isolation, Help("Whose work a caller over MCP gets to see: its conversation's, or all.")] = (
        Isolation.CONVERSATION
    )
    oracle: Annotated[OracleSettings, Help("The program that goes on with a run.")] = OracleSettings()
    machine: Annotated[MachineSettings, Help("Programs.")] = MachineSettings()
    fs: Annotated[FsSettings, Help("Files.")] = FsSettings()
    secrets: Annotated[SecretSettings, Help("Secrets.")] = SecretSettings()
    retention: Annotated[RetentionSettings, Help("How long things are kept.")] = RetentionSettings()
    worker: Annotated[WorkerSettings, Help("The background worker.")] = WorkerSettings()
    serve: Annotated[ServeSettings, Help("The server for AI assistants.")] = ServeSettings()
