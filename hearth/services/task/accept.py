"""From what was asked for to rows: every check first, then all jobs in one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hearth import identifiers, secrets
from hearth.clock import parse_timestamp, timestamp
from hearth.engine.moves import add, ready_state
from hearth.engine.spec import Retry, Spec
from hearth.errors import Conflict, InvalidInput, NotDirectory, Problem, SecretRefused, invalid
from hearth.plain import plain, readable
from hearth.platforms.base import Kind
from hearth.runtime import environment
from hearth.services.task.dependencies import Resolved, check_batch, place_of, resolve
from hearth.services.task.job_input import JobFields
from hearth.services.task.names import refuse_secrets
from hearth.settings import JOB_VARIABLE, OnPersist, SecretSettings
from hearth.store import jobs
from hearth.store.jobs import FINAL, Job, JobState
from hearth.variables import MARK, EnvPolicy, check_names, variables

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.services.task.submit import JobQueued

MOST_BYTES = 1024 * 1024  # of one job as it is stored
TITLE_LENGTH = 200
_STRICT = SecretSettings(on_persist=OnPersist.REFUSE)


class Prepared(NamedTuple):
    """A job that is right in itself."""

    asked: JobFields
    id: str
    spec: Spec
    spec_json: str
    variables: dict[str, str]
    due_at: str | None  # None: now
    expires_at: str | None


class Surroundings:
    """What the jobs of one call find around them, looked at once for all of them."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._own = {name: value for name, value in environment().items() if name not in (MARK, JOB_VARIABLE)}
        self._variables: dict[EnvPolicy, dict[str, str]] = {}
        self._directories: dict[str | None, str] = {}

    def variables(self, policy: EnvPolicy) -> dict[str, str]:
        if policy not in self._variables:
            windows = self.runtime.host.name == "windows"
            self._variables[policy] = variables(policy, self._own, {}, allowed=(), windows=windows).values
        return self._variables[policy]

    def directory(self, cwd: str | None) -> str:
        if cwd not in self._directories:
            self._directories[cwd] = _directory(self.runtime, cwd)
        return self._directories[cwd]


def accept(runtime: Runtime, asked: Sequence[JobFields], *, allow_missing: bool) -> tuple[JobQueued, ...]:
    """Store the jobs; what each became."""
    check_batch(asked)
    around = Surroundings(runtime)
    prepared = [prepare(around, each, place_of(each, index)) for index, each in enumerate(asked)]
    ids = [each.id for each in prepared]
    _refuse_twice("id", ids)
    _refuse_twice("idempotency_key", [each.idempotency_key for each in asked if each.idempotency_key])
    with runtime.store.write(durable=True) as tx:
        rows = {each.asked.env_policy: jobs.environment(tx, each.variables) for each in _one_a_policy(prepared)}
        known = [_known(tx, runtime, each) for each in prepared]
        # What waits for a place of the batch waits for the job that an earlier call made there.
        ids = [job.id if job else each.id for job, each in zip(known, prepared, strict=True)]
        made = [
            job
            or _insert(tx, runtime, each, ids, rows[each.asked.env_policy], place_of(each.asked, index), allow_missing)
            for index, (job, each) in enumerate(zip(known, prepared, strict=True))
        ]
        if any(job.state is JobState.BLOCKED for job in made):  # and so may others be by now
            made = [jobs.find(tx, job.id) or job for job in made]
    return tuple(_queued(job, deduplicated=same is not None) for job, same in zip(made, known, strict=True))


def _refuse_twice(name: str, words: Sequence[str]) -> None:
    if len(set(words)) < len(words):
        raise invalid("jobs", "not_unique", f"two jobs have the same {name}")


def _one_a_policy(prepared: Sequence[Prepared]) -> Collection[Prepared]:
    return {each.asked.env_policy: each for each in prepared}.values()


def prepare(around: Surroundings, asked: JobFields, where: str = "") -> Prepared:
    """Check a job, and find its directory and its variables. `where` begins the names of fields in errors."""
    _check(asked, where)
    now_ms = around.runtime.clock.now_ms()
    due_at = _moment(asked.run_at, where + "run_at")
    if asked.delay_ms is not None:
        due_at = timestamp(now_ms + asked.delay_ms)
    spec = spec_of(asked, around.directory(asked.cwd))
    spec_json = spec.to_json()
    if len(spec_json) > MOST_BYTES:
        message = f"a job has at most {MOST_BYTES:,} bytes in all; put this into a file that it reads"
        raise invalid(where + _largest(spec), "too_large", message)
    return Prepared(
        asked=asked,
        id=asked.id or identifiers.new("job", now_ms),
        spec=spec,
        spec_json=spec_json,
        variables=around.variables(asked.env_policy),
        due_at=due_at,
        expires_at=_moment(asked.expires_at, where + "expires_at"),
    )


def _largest(spec: Spec) -> str:
    """The field that takes most of a job."""
    sizes = {
        "stdin": len(spec.stdin or ""),
        "args": sum(map(len, spec.args)),
        "env": sum(len(name) + len(value) for name, value in spec.env.items()),
    }
    return max(sizes, key=lambda name: sizes[name])


def _check(asked: JobFields, where: str) -> None:
    problems = []
    if asked.delay_ms is not None and asked.run_at is not None:
        problems.append(Problem(where + "run_at", "not_both", "delay_ms and run_at exclude each other"))
    if asked.stdin is not None and asked.open_stdin:
        problems.append(Problem(where + "stdin", "not_both", "stdin and open_stdin exclude each other"))
    words = [asked.command or "", *asked.args]
    problems += [
        Problem(f"{where}args.{index - 1}" if index else where + "command", "wrong_form", "cannot hold a NUL character")
        for index, word in enumerate(words)
        if "\0" in word
    ]
    if problems:
        raise InvalidInput(*problems)
    check_names(asked.env)
    _refuse_secrets(asked, words)


def _refuse_secrets(asked: JobFields, words: Sequence[str]) -> None:
    """Whatever secrets.on_persist says: to take a part out of a command would be to run another one."""
    hint = "let the job inherit the variable (machine.env_allow), or read a file"
    if secrets.redact_command(words) != list(words):
        raise SecretRefused("the command would be stored, and it holds a secret", hint=hint, field="args")
    refuse_secrets(group=asked.group, labels=" ".join(asked.labels), idempotency_key=asked.idempotency_key)
    try:
        secrets.guard(_STRICT, "env", asked.env)
        secrets.guard(_STRICT, "stdin", asked.stdin)
    except SecretRefused as error:
        raise SecretRefused(error.message, hint=hint, **error.details) from None


def spec_of(asked: JobFields, cwd: str) -> Spec:
    """What stands in the database."""
    assert asked.command is not None
    rule = asked.retry
    retry = Retry() if rule is None else Retry(**{name: getattr(rule, name) for name in Retry.__dataclass_fields__})
    return Spec(
        command=asked.command,
        args=asked.args,
        cwd=cwd,
        env=asked.env,
        stdin=asked.stdin,
        open_stdin=asked.open_stdin,
        merge=asked.merge,
        timeout_ms=asked.timeout_ms,
        grace_ms=asked.grace_ms,
        cpu_seconds=asked.cpu_seconds,
        memory_bytes=asked.memory_bytes,
        restart=asked.restart,
        retry=retry,
    )


def _directory(runtime: Runtime, cwd: str | None) -> str:
    with runtime.containment.working_directory(cwd) as place:
        if place.found.kind is not Kind.DIRECTORY:
            raise NotDirectory(f"{place.path} is not a directory", path=place.path)
        return runtime.host.real_path(place.path)


def _moment(text: str | None, field: str) -> str | None:
    if text is None:
        return None
    try:
        return timestamp(parse_timestamp(text))
    except (ValueError, OverflowError) as error:
        told = str(error) if "zone" in str(error) else "must be a time with its offset, such as 2026-01-31T12:00:00Z"
        raise invalid(field, "wrong_form", told) from None


def _known(tx: sqlite3.Connection, runtime: Runtime, prepared: Prepared) -> Job | None:
    """The job that an earlier call made with the same key. Raises `Conflict` where that was another one."""
    key = prepared.asked.idempotency_key
    known = jobs.find_by_key(tx, runtime.conversation, key) if key else None
    if known is not None and known.digest != _digest(prepared):
        raise Conflict(f"the key {key} was used for another job, {known.id}", id=known.id)
    return known


def _queued(job: Job, *, deduplicated: bool) -> JobQueued:
    from hearth.services.task.submit import JobQueued

    return JobQueued(id=job.id, state=job.state, title=job.title, deduplicated=deduplicated)


def _insert(
    tx: sqlite3.Connection,
    runtime: Runtime,
    prepared: Prepared,
    ids: Sequence[str],
    environment: int,
    where: str,
    allow_missing: bool,
) -> Job:
    if prepared.asked.id and jobs.find(tx, prepared.id):
        raise Conflict(f"there is a job {prepared.id} already", id=prepared.id)
    resolved = resolve(tx, runtime, prepared.asked.dependencies, ids, prepared.id, where, allow_missing=allow_missing)
    digest = _digest(prepared) if prepared.asked.idempotency_key else None
    job = new_job(runtime, prepared, resolved, environment, digest)
    add(tx, job, labels=prepared.asked.labels, dependencies=resolved.dependencies)
    return job


def _digest(prepared: Prepared) -> str:
    """Of what was asked for, whichever directory the same words were said in."""
    import hashlib

    told = {name: plain(getattr(prepared.asked, name)) for name in JobFields.__dataclass_fields__ if name != "id"}
    told["cwd"] = prepared.spec.cwd
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode("ascii")).hexdigest()


def title_of(spec: Spec) -> str:
    return readable(" ".join(secrets.redact_command((spec.command, *spec.args))))[:TITLE_LENGTH]


def new_job(runtime: Runtime, prepared: Prepared, resolved: Resolved, environment: int, digest: str | None) -> Job:
    """The row of a new job."""
    now = runtime.now()
    due_at = prepared.due_at or now
    state = ready_state(due_at, now)
    if resolved.broken is not None:
        state = JobState.BLOCKED
    elif resolved.unmet:
        state = JobState.WAITING
    return Job(
        id=prepared.id,
        state=state,
        created_at=now,
        due_at=due_at,
        expires_at=prepared.expires_at,
        priority=prepared.asked.priority,
        group_name=prepared.asked.group,
        title=title_of(prepared.spec),
        spec=prepared.spec_json,
        environment=environment,
        caller=runtime.caller.value,
        run=runtime.group,
        conversation=runtime.conversation,
        idempotency_key=prepared.asked.idempotency_key,
        digest=digest,
        unmet=resolved.unmet,
        merged=prepared.spec.merge,
        queued_at=None if state is JobState.WAITING else max(now, due_at),
        ended_at=now if state in FINAL else None,
        reason="dependency" if resolved.broken else None,
        message=resolved.broken,
    )
