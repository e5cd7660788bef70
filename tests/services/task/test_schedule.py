from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.clock import parse_timestamp
from hearth.engine.recurring import Overlap
from hearth.engine.spec import Spec
from hearth.engine.waiting import wait_until
from hearth.errors import AlreadyExists, HearthError, InvalidInput, NotDirectory, SecretRefused
from hearth.runtime import Caller, Runtime
from hearth.store import jobs
from hearth.store.jobs import Job
from tests.clocks import ShiftedClock, TickingClock
from tests.conftest import Done
from tests.engine.recurring import end_jobs, fire, gaps, slots
from tests.engine.workers import PATIENCE_S, working
from tests.services.task.scheduling import PROGRAM, call, problems, schedule, set_clock

Hearth = Callable[..., Done]
HOUR = 3_600_000
TOKEN = "ghp_" + "a1B2" * 9


def only_job(runtime: Runtime) -> Job:
    with runtime.store.read() as view:
        (job,) = [jobs.job_of(row) for row in view.execute("SELECT * FROM jobs")]
    return job


def test_the_first_job_is_made_for_the_first_time_to_come(runtime: Runtime) -> None:
    set_clock(runtime)
    made = schedule(runtime)
    assert (made.name, made.enabled, made.next_at, made.zone) == (
        "nightly",
        True,
        "2026-06-16T00:30:00.000Z",
        "Europe/Berlin",
    )
    assert (made.last_at, made.last_job, made.made, made.skipped) == (None, None, 0, 0)


def test_an_interval_begins_when_it_is_stored(runtime: Runtime) -> None:
    clock = set_clock(runtime, "2026-06-15T12:00:00.123Z")
    assert schedule(runtime, every_ms=HOUR).next_at == "2026-06-15T13:00:00.123Z"
    for _ in range(3):
        clock.move(HOUR)
        fire(runtime)
        end_jobs(runtime)
    assert gaps(slots(runtime)) == [HOUR, HOUR]


def test_a_busy_database_does_not_shift_the_second_slot_of_an_interval(runtime: Runtime) -> None:
    runtime.clock = TickingClock("2026-06-15T12:00:00Z")
    made = schedule(runtime, every_ms=HOUR)
    first = parse_timestamp(made.next_at)
    times = call(runtime, "next", name="nightly", limit=2).slots
    assert parse_timestamp(times[1].at) - first == HOUR


def test_a_job_has_the_directory_the_variables_and_the_fields_of_its_schedule(
    runtime: Runtime, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = set_clock(runtime)
    (work / "sub").mkdir()
    monkeypatch.setenv("COLOUR", "red")
    fields: dict[str, Any] = {
        "timeout_ms": 5_000,
        "priority": 7,
        "group": "night",
        "labels": ["a", "b"],
        "retry": {"attempts": 2},
    }
    schedule(runtime, every_ms=HOUR, cwd="sub", env={"SIZE": "5"}, merge=True, **fields)
    monkeypatch.setenv("COLOUR", "blue")
    clock.move(HOUR)
    fire(runtime)
    job = only_job(runtime)
    spec = Spec.from_json(job.spec)
    assert (os.path.normcase(spec.cwd), spec.env, spec.timeout_ms, spec.retry.attempts, spec.merge) == (
        os.path.normcase(os.path.realpath(work / "sub")),
        {"SIZE": "5"},
        5_000,
        2,
        True,
    )
    assert (job.priority, job.group_name, job.merged) == (7, "night", True)
    with runtime.store.read() as view:
        assert jobs.labels(view, job.seq) == ("a", "b")
        assert json.loads(jobs.variables(view, job.environment))["COLOUR"] == "red"


def test_what_is_told_about_a_job_names_its_schedule_and_slot(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    made = schedule(runtime, every_ms=HOUR)
    clock.move(HOUR + 5)
    fire(runtime)
    shown = call(runtime, "get", id=only_job(runtime).id).job
    assert (shown.schedule, shown.slot_at) == (made.id, "2026-06-15T13:00:00.000Z")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"cron": None, "every_ms": None}, ("cron", "not_one_of")),
        ({"cron": "@daily", "every_ms": HOUR}, ("cron", "not_one_of")),
        ({"cron": "0 25 * * *"}, ("cron", "wrong_form")),
        ({"cron": "0 0 30 2 *"}, ("cron", "never")),
        ({"cron": "@daily", "zone": "Europe/Berlni"}, ("zone", "unknown_zone")),
        ({"every_ms": HOUR, "zone": "Europe/Berlni"}, ("zone", "unknown_zone")),
        ({"every_ms": 999}, ("every_ms", "too_small")),
        ({"every_ms": HOUR, "missed_most": 5}, ("missed_most", "not_alone")),
        ({"every_ms": HOUR, "missed": "all", "missed_most": 101}, ("missed_most", "too_large")),
        ({"every_ms": HOUR, "missed": "all", "overlap": "skip"}, ("overlap", "not_both")),
        ({"every_ms": HOUR, "name": "sch_x"}, ("name", "wrong_form")),
        ({"every_ms": HOUR, "name": "two words"}, ("name", "wrong_form")),
        ({"every_ms": HOUR, "stdin": "x", "open_stdin": True}, ("stdin", "not_both")),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(runtime: Runtime, given: dict[str, Any], expected: tuple[str, str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        schedule(runtime, **given)
    assert problems(caught) == [expected]


@pytest.mark.parametrize("field", ["delay_ms", "run_at", "expires_at", "dependencies", "idempotency_key", "id"])
def test_fields_that_are_of_one_job_only_are_not_those_of_a_schedule(runtime: Runtime, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call(runtime, "schedule", name="nightly", every_ms=HOUR, **PROGRAM, **{field: 1})
    assert problems(caught) == [(field, "unknown_field")]


def test_a_secret_or_a_directory_that_is_none_is_refused_now_and_not_at_night(runtime: Runtime, work: Path) -> None:
    (work / "file").write_bytes(b"")
    refused: list[tuple[type[HearthError], dict[str, Any]]] = [
        (SecretRefused, {"args": ["--token", TOKEN]}),
        (SecretRefused, {"name": TOKEN}),
        (NotDirectory, {"cwd": "file"}),
    ]
    for error, given in refused:
        with pytest.raises(error):
            schedule(runtime, every_ms=HOUR, **given)
    assert call(runtime, "schedules").schedules == ()


def test_missed_slots_that_are_all_to_be_made_are_queued(runtime: Runtime) -> None:
    made = schedule(runtime, every_ms=HOUR, missed="all")
    assert (made.overlap, made.missed_most) == (Overlap.QUEUE, 10)
    assert schedule(runtime, "other", every_ms=HOUR).overlap is Overlap.SKIP


def test_a_name_is_taken_once_and_replaced_only_when_that_is_asked_for(runtime: Runtime) -> None:
    schedule(runtime)
    with pytest.raises(AlreadyExists, match="nightly"):
        schedule(runtime, every_ms=HOUR)
    assert schedule(runtime, every_ms=HOUR, replace=True).every_ms == HOUR


def test_a_replaced_schedule_keeps_its_id_and_its_counts(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    before = schedule(runtime, every_ms=HOUR)
    clock.move(HOUR)
    fire(runtime)
    after = schedule(runtime, cron="@hourly", zone="UTC", priority=3, replace=True)
    assert (after.id, after.created_at, after.made) == (before.id, before.created_at, 1)
    assert (after.every_ms, after.cron, after.priority, after.next_at) == (
        None,
        "@hourly",
        3,
        "2026-06-15T14:00:00.000Z",
    )


def test_storing_an_interval_again_and_again_does_not_put_it_off(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    schedule(runtime, every_ms=HOUR)
    clock.move(HOUR // 2)
    assert schedule(runtime, every_ms=HOUR, replace=True, priority=1).next_at == "2026-06-15T13:00:00.000Z"
    assert schedule(runtime, every_ms=2 * HOUR, replace=True).next_at == "2026-06-15T14:30:00.000Z"


def test_a_disabled_schedule_that_is_replaced_stays_disabled(runtime: Runtime) -> None:
    schedule(runtime)
    call(runtime, "disable", names=["nightly"])
    after = schedule(runtime, every_ms=HOUR, replace=True)
    assert (after.enabled, after.next_at) == (False, None)
    assert call(runtime, "enable", names=["nightly"], start=False).schedules[0].next_at is not None


def test_another_conversation_neither_sees_nor_replaces_a_schedule(runtime: Runtime) -> None:
    one, other = (runtime.for_call(caller=Caller.MCP, conversation=name) for name in ("one", "other"))
    schedule(one)
    assert call(other, "schedules").schedules == ()
    with pytest.raises(AlreadyExists):
        schedule(other, replace=True)
    assert [each.name for each in call(one, "schedules").schedules] == ["nightly"]


def test_the_systems_zone_is_taken_and_told(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert schedule(runtime, cron="@daily").zone == "Asia/Tokyo"


@pytest.mark.skipif(os.name == "nt", reason="rules of POSIX are not what Windows takes its zone from")
def test_a_zone_without_a_name_means_utc_and_that_is_told(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setenv("TZ", "FOO-5BAR")
    assert schedule(runtime.for_call(notice=told.append), cron="@daily").zone == "UTC"
    assert "so the times are UTC" in told[0]


def test_at_the_shell_options_stand_before_or_behind_the_name(hearth: Hearth) -> None:
    options = ("--every", "90m", "--no-start", "--missed", "skip", "--json")
    for words in (("one", *options, "--"), ("two", *options), (*options, "three"), (*options, "--", "four")):
        done = hearth("task", "schedule", *words, "echo", "--every", "5")
        assert done.status == 0, done
        shown = done.json["schedule"]
        assert (shown["every_ms"], shown["missed"], shown["title"]) == (90 * 60_000, "skip", "echo --every 5")
        assert done.json["worker"] == "none"
        assert "no worker is there" in done.err


@pytest.mark.parametrize("verb", [("submit",), ("schedule", "x", "--every", "1h")], ids=lambda words: words[0])
def test_standard_input_and_files_are_read_now_and_not_when_the_job_runs(
    runtime: Runtime, hearth: Hearth, work: Path, verb: tuple[str, ...]
) -> None:
    (work / "text").write_bytes(b"from a file")
    for word, text in (("-", "from a pipe"), ("@text", "from a file"), ("as it is", "as it is")):
        with runtime.store.write() as tx:
            tx.execute("DELETE FROM schedules")
            tx.execute("DELETE FROM jobs")
        options = ("--no-start", "--stdin", word)
        assert hearth("task", *verb, *options, "--", "cat", stdin=b"from a pipe").status == 0
        with runtime.store.read() as view:
            rows = view.execute(
                "SELECT json_extract(job, '$.spec') FROM schedules UNION ALL SELECT spec FROM jobs"
            ).fetchall()
        assert [Spec.from_json(row[0]).stdin for row in rows] == [text]


def test_a_naive_time_is_refused_and_a_delay_of_a_day_is_a_day(runtime: Runtime) -> None:
    set_clock(runtime, "2026-03-07T20:00:00-08:00")  # the clocks of Los Angeles change that night
    with pytest.raises(InvalidInput) as caught:
        call(runtime, "submit", start=False, run_at="2026-03-08T20:00:00", **PROGRAM)
    assert problems(caught) == [("run_at", "wrong_form")]
    call(runtime, "submit", start=False, delay_ms=24 * HOUR, **PROGRAM)
    assert only_job(runtime).due_at == "2026-03-09T04:00:00.000Z"


@pytest.mark.timeout(30)  # of a busy machine
def test_a_worker_that_waits_for_nothing_else_hears_of_a_new_schedule(runtime: Runtime) -> None:
    runtime.clock = ShiftedClock("2026-06-15T11:59:59.500Z")
    completed = "SELECT 1 FROM jobs WHERE state = 'completed' AND schedule = :id"
    with working(runtime):
        made = schedule(runtime, cron="0 12 * * *", zone="UTC")
        assert wait_until(
            runtime, lambda view: view.execute(completed, {"id": made.id}).fetchone(), PATIENCE_S, starts=False
        )


def test_the_event_of_a_schedule_names_it_and_holds_no_input_of_its_program(runtime: Runtime) -> None:
    made = schedule(runtime, stdin="private words")
    with runtime.store.read() as view:
        rows = view.execute("SELECT entity, data FROM events WHERE operation = 'task.schedule'").fetchall()
    assert [(row[0], json.loads(row[1])["stdin"]["length"]) for row in rows] == [(made.id, 13)]
    assert "private words" not in rows[0][1]


def test_a_shell_completes_the_names_of_schedules(runtime: Runtime, hearth: Hearth) -> None:
    for name in ("nightly", "night", "sync"):
        schedule(runtime, name)
    assert hearth("__complete", "schedule", "ni").out.split() == ["night", "nightly"]
