"""machine.exec: what a program prints, how it ends, what it is given."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from hearth import artifacts, spill
from hearth.containment import Root
from hearth.errors import DatabaseReadOnly, HearthError, NoSpace, NotFound
from hearth.execution import Run
from hearth.model import State
from hearth.runtime import Caller, Runtime
from hearth.services.machine.exec import ProgramEnded, RunProgram, run_program, time_limit
from hearth.services.machine.start import prepared
from hearth.settings import MachineSettings, Settings
from hearth.variables import EnvPolicy
from tests.marks import WINDOWS, needs_links, posix_only

Hearth = Callable[..., Any]
SLEEPER = "import time; time.sleep(300)"
posix = posix_only("a POSIX shell")


def python(runtime: Runtime, code: str, **given: Any) -> ProgramEnded:
    return run_program(runtime, RunProgram(command=sys.executable, args=("-c", code), **given))


def shell(runtime: Runtime, script: str, **given: Any) -> ProgramEnded:
    return run_program(runtime, RunProgram(command="sh", args=("-c", script), **given))


def with_settings(runtime: Runtime, **changes: Any) -> Runtime:
    return runtime.for_call(settings=Settings(**changes))


def kept_bytes(runtime: Runtime, id_: str | None) -> bytes:
    assert id_ is not None
    return b"".join(artifacts.verified(runtime, artifacts.get(runtime, id_)))


def error_of(runtime: Runtime, **given: Any) -> HearthError:
    with pytest.raises(HearthError) as caught:
        run_program(runtime, RunProgram(**given))
    return caught.value


class TestOutput:
    def test_both_outputs_and_the_exit_code_are_answered_apart(self, runtime: Runtime) -> None:
        ended = python(runtime, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
        assert (ended.state, ended.exit_code, ended.signal) == (State.FAILED, 3, None)
        assert (ended.stdout.splitlines(), ended.stderr.splitlines()) == (["out"], ["err"])
        assert ended.stdout_facts.artifact is ended.stderr_facts.artifact is None

    @posix
    def test_what_a_program_prints_before_it_fails_at_once_is_never_lost(self, runtime: Runtime) -> None:
        ends = [shell(runtime, "echo nope >&2; exit 1") for _ in range(100)]
        assert {(ended.exit_code, ended.stderr) for ended in ends} == {(1, "nope\n")}

    def test_the_order_of_both_outputs_is_told_on_request(self, runtime: Runtime) -> None:
        code = "import os, time\nfor i in range(6): os.write(1 + i % 2, b'%d ' % i); time.sleep(0.02)"
        assert python(runtime, code, merged=True).merged == "0 1 2 3 4 5 "
        assert python(runtime, "print('x')").merged is None

    def test_long_output_becomes_an_artifact_with_its_two_ends_at_hand(self, runtime: Runtime) -> None:
        runtime = with_settings(runtime, max_output_bytes=4_096, artifact_preview_bytes=100)
        ended = python(runtime, "print('first'); print('x' * 50_000); print('last', end='')")
        facts = ended.stdout_facts
        assert ended.state is State.COMPLETED
        assert ended.stdout.startswith("first")
        assert facts.tail is not None and facts.tail.endswith("last")
        assert len(ended.stdout) == len(facts.tail) == 100
        whole = kept_bytes(runtime, facts.artifact)
        assert (len(whole), facts.truncated) == (facts.size_bytes, False)
        assert hashlib.sha256(whole).hexdigest() == facts.sha256
        made = artifacts.get(runtime, str(facts.artifact))
        assert (made.operation, made.label, made.media_type) == ("machine.exec", "stdout", "text/plain")

    def test_a_flood_of_errors_leaves_the_other_output_alone(self, runtime: Runtime) -> None:
        ended = python(runtime, "import sys; print('ok'); sys.stderr.write('e' * 3_000_000)")
        assert ended.stdout.strip() == "ok"
        assert (ended.stderr_facts.size_bytes, ended.stdout_facts.artifact) == (3_000_000, None)

    @pytest.mark.parametrize("offset", range(4))
    def test_text_is_cut_between_characters(self, runtime: Runtime, hearth: Hearth, offset: int) -> None:
        runtime = with_settings(runtime, max_output_bytes=1_024, artifact_preview_bytes=100)
        code = f"import sys; sys.stdout.buffer.write(b'x' * {offset} + '\U0001f600'.encode() * 2000)"
        ended = python(runtime, code)
        assert set(ended.stdout) | set(ended.stdout_facts.tail or "") <= {"x", "\U0001f600"}
        assert (ended.stdout_facts.encoding, ended.stdout_facts.encoding_note) == ("utf-8", None)
        answered = hearth("machine", "exec", "--json", sys.executable, "-c", code)
        assert answered.json["stdout"].encode("utf-8", "strict")

    @pytest.mark.parametrize(
        ("data", "note"),
        [(b"\xff\0ok", "binary"), (b"\xff ok", "invalid_utf8"), ("half ä".encode()[:-1], "invalid_utf8")],
    )
    def test_bytes_that_are_no_text_are_kept_exactly(self, runtime: Runtime, data: bytes, note: str) -> None:
        ended = python(runtime, f"import sys; sys.stdout.buffer.write({data!r})")
        facts = ended.stdout_facts
        read_as_console = WINDOWS and b"\0" not in data  # its code page has a character for every byte
        assert facts.encoding_note == ("console_code_page" if read_as_console else note)
        assert facts.encoding == (runtime.host.output_encoding() if read_as_console else None)
        assert kept_bytes(runtime, facts.artifact) == data
        assert "\ufffd" not in ended.stdout
        assert json.loads(json.dumps(ended.stdout)) == ended.stdout

    def test_random_bytes_are_kept_exactly(self, runtime: Runtime) -> None:
        code = "import random, sys; sys.stdout.buffer.write(random.Random(1).randbytes(65536))"
        facts = python(runtime, code).stdout_facts
        import random

        assert kept_bytes(runtime, facts.artifact) == random.Random(1).randbytes(65536)

    def test_a_code_page_that_is_named_is_read(self, runtime: Runtime) -> None:
        code = "import sys; sys.stdout.buffer.write('中文'.encode('gbk'))"
        ended = python(runtime, code, encoding="gbk")
        assert (ended.stdout, ended.stdout_facts.encoding, ended.stdout_facts.artifact) == ("中文", "gbk", None)
        if not WINDOWS:
            guessed = python(runtime, code)
            assert guessed.stdout_facts.encoding_note == "invalid_utf8"
            assert kept_bytes(runtime, guessed.stdout_facts.artifact) == "中文".encode("gbk")

    def test_an_unknown_encoding_is_an_input_error(self, runtime: Runtime) -> None:
        assert error_of(runtime, command=sys.executable, encoding="klingon").exit_status == 2
        assert error_of(runtime, command=sys.executable, encoding="rot13").exit_status == 2

    def test_a_program_that_prints_without_end_is_counted_and_ended(self, runtime: Runtime) -> None:
        runtime = with_settings(runtime, max_artifact_bytes=1024 * 1024)
        ended = python(runtime, "import os\nwhile True: os.write(1, b'y' * 65536)", timeout_ms=700, grace_ms=100)
        facts = ended.stdout_facts
        assert (ended.timed_out, ended.state, facts.truncated) == (True, State.FAILED, True)
        assert len(kept_bytes(runtime, facts.artifact)) == 1024 * 1024 < facts.size_bytes

    def test_output_above_the_bound_is_dropped_and_told(self, runtime: Runtime) -> None:
        runtime = with_settings(runtime, max_artifact_bytes=100_000)
        ended = python(runtime, "print('x' * 300_000)")
        assert (ended.state, ended.exit_code, ended.stdout_facts.truncated) == (State.PARTIAL, 0, True)

    def test_a_full_disk_ends_the_program_and_the_call(self, runtime: Runtime, small_disk: Path) -> None:
        full = runtime.for_call(data_dir=str(small_disk))
        _ = full.store
        mark = "full-disk-test"
        with pytest.raises(NoSpace):
            python(full, f"import os\nwhile True: os.write(1, os.urandom(65536)) # {mark}")
        assert not [p for p in psutil.process_iter(["cmdline"]) if mark in " ".join(p.info["cmdline"] or ())]
        assert python(runtime, "print('on')").stdout.strip() == "on"

    @posix_only("an open file keeps its folder there")
    def test_a_data_directory_that_goes_while_output_streams_is_an_error(self, runtime: Runtime) -> None:
        _ = runtime.store
        blobs = os.path.join(runtime.data_dir, "blobs")
        code = (
            "import glob, shutil, time\n"
            "print('x' * 200_000, flush=True)\n"
            f"while not glob.glob({blobs + '/new/*'!r}): time.sleep(0.01)\n"
            f"shutil.rmtree({blobs!r})"
        )
        with pytest.raises((DatabaseReadOnly, NotFound)):
            python(runtime, code, timeout_ms=4_000)
        assert python(runtime, "print('on')").stdout.strip() == "on"

    def test_the_last_of_a_disk_is_left_to_others(self, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(spill, "RESERVE_BYTES", 1 << 62)
        monkeypatch.setattr(spill, "RESERVE_PARTS", 1)
        with pytest.raises(NoSpace):
            python(runtime, "print('x' * 200_000)")
        assert python(runtime, "print('on')").stdout.strip() == "on"


class TestInput:
    @pytest.mark.parametrize(
        "code", ["import sys; print(repr(sys.stdin.read()))", "try: input()\nexcept EOFError: print(\"''\")"]
    )
    def test_a_program_that_reads_input_without_any_meets_its_end(self, runtime: Runtime, code: str) -> None:
        assert python(runtime, code).stdout.strip() == "''"

    @pytest.mark.parametrize("text", ['a "b" $c\n\\ä', "", "x" * 1_000_000], ids=["signs", "none", "long"])
    def test_text_arrives_exactly(self, runtime: Runtime, text: str) -> None:
        code = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
        assert python(runtime, code, stdin=text).stdout.strip() == hashlib.sha256(text.encode()).hexdigest()

    def test_text_comes_back_while_more_is_read(self, runtime: Runtime) -> None:
        text = "line\n" * 200_000
        runtime = with_settings(runtime, max_output_bytes=2_000_000)
        code = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line)"
        assert python(runtime, code, stdin=text).stdout == text

    def test_a_file_inside_the_roots_is_read(self, runtime: Runtime, work: Path, tmp_path: Path) -> None:
        (work / "input").write_bytes(b"\xffbytes")
        code = "import sys; print(sys.stdin.buffer.read())"
        assert python(runtime, code, stdin_from="input").stdout.strip() == r"b'\xffbytes'"
        (tmp_path / "outside").touch()
        outside = error_of(runtime, command=sys.executable, stdin_from=str(tmp_path / "outside"))
        assert outside.code == "outside_root"
        both = error_of(runtime, command=sys.executable, stdin="x", stdin_from="input")
        assert both.exit_status == 2

    def test_the_shells_own_input_is_passed_on_only_when_asked_for(self, hearth: Hearth) -> None:
        code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
        passed = hearth("machine", "exec", "--stdin", "-", sys.executable, "-c", code, stdin=b"\xffmine")
        kept = hearth("machine", "exec", sys.executable, "-c", code, stdin=b"mine")
        assert (passed.out_bytes, kept.out_bytes) == (b"\xffmine", b"")


class TestDirectory:
    def test_a_program_starts_in_the_current_directory(self, runtime: Runtime, work: Path) -> None:
        ended = python(runtime, "import os; print(os.getcwd()); print(os.environ['PWD'])")
        assert ended.stdout.splitlines() == [str(work.resolve()), str(work)]
        assert ended.cwd == str(work)

    def test_blanks_and_signs_in_its_path_do_no_harm(self, runtime: Runtime, work: Path) -> None:
        folder = work / "A & B (x)" / "Visual Studio"
        folder.mkdir(parents=True)
        ended = python(runtime, "import os; print(os.getcwd())", cwd=str(folder))
        assert (ended.state, ended.stdout.strip()) == (State.COMPLETED, str(folder.resolve()))

    def test_one_outside_the_roots_or_missing_or_no_directory_is_refused(self, runtime: Runtime, work: Path) -> None:
        (work / "file").touch()
        codes = [error_of(runtime, command=sys.executable, cwd=cwd).code for cwd in ("..", "gone", "file")]
        assert codes == ["outside_root", "not_found", "not_a_directory"]

    def test_one_in_a_read_only_root_is_refused(self, runtime: Runtime, work: Path) -> None:
        guarded = runtime.for_call(roots=(Root(str(work), read_only=True),))
        assert error_of(guarded, command=sys.executable).code == "read_only_root"

    @needs_links
    def test_a_link_that_leads_out_is_refused(self, runtime: Runtime, work: Path, tmp_path: Path) -> None:
        (work / "link").symlink_to(tmp_path)
        assert error_of(runtime, command=sys.executable, cwd="link").code == "outside_root"

    @needs_links
    def test_one_that_is_swapped_for_a_link_in_between_changes_nothing(
        self, runtime: Runtime, work: Path, tmp_path: Path
    ) -> None:
        if sys.platform != "linux":
            pytest.skip("only Linux hands an open directory to a program")
        (work / "inside").mkdir()
        given = RunProgram(command=sys.executable, args=("-c", "import os; print(os.getcwd())"), cwd="inside")
        heard: list[bytes] = []
        with prepared(runtime, given) as start:
            (work / "inside").rename(work / "moved")
            (work / "inside").symlink_to(tmp_path)
            Run(runtime.launcher, start.launch).to_end(
                lambda _, data: heard.append(data), timeout_ms=4_000, grace_ms=100
            )
        assert b"".join(heard).decode().strip() == str((work / "moved").resolve())

    @posix_only("Windows keeps an open directory there")
    def test_one_that_is_deleted_while_hearth_stands_in_it_is_told(
        self, hearth: Hearth, work: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = work / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        done = hearth("machine", "exec", "true")
        assert (done.status, "no longer exists" in done.err) == (125, True)
        called = hearth("call", "machine.exec", json.dumps({"command": "true"}))
        assert (called.status, called.json["error"]["code"]) == (125, "not_found")
        assert hearth("fs", "list").status == 4


class TestProgram:
    def test_one_that_is_missing_is_told_with_what_was_searched(self, runtime: Runtime, hearth: Hearth) -> None:
        missing = error_of(runtime, command="no-such-program", env={"PATH": os.path.dirname(sys.executable)})
        assert missing.code == "program_not_found"
        assert os.path.dirname(sys.executable) in missing.message
        assert hearth("machine", "exec", "no-such-program").status == 127

    def test_an_empty_path_finds_nothing_and_says_so(self, runtime: Runtime) -> None:
        missing = error_of(runtime, command="python3", env={"PATH": ""})
        assert "PATH names no directory" in missing.message

    @posix_only("permission bits and interpreters")
    def test_one_that_cannot_be_run_ends_with_126(self, hearth: Hearth, work: Path) -> None:
        for name, text, mode in (
            ("plain", "text", 0o644),
            ("orphan", "#!/no/such/interpreter\n", 0o755),
            ("garbage", "\x01\x02\x03", 0o755),
        ):
            (work / name).write_text(text, "utf-8")
            (work / name).chmod(mode)
        (work / "folder").mkdir()
        done = [hearth("machine", "exec", f"./{name}") for name in ("plain", "orphan", "garbage", "folder")]
        assert [each.status for each in done] == [126] * 4
        assert "/no/such/interpreter" in done[1].err

    @posix_only("permission bits")
    def test_the_current_directory_is_not_searched(self, runtime: Runtime, work: Path) -> None:
        (work / "mine").write_text("#!/bin/sh\n", "utf-8")
        (work / "mine").chmod(0o755)
        assert error_of(runtime, command="mine", env={"PATH": ".::/usr/bin"}).code == "program_not_found"
        assert run_program(runtime, RunProgram(command="./mine")).exit_code == 0

    def test_words_reach_it_as_they_are(self, runtime: Runtime) -> None:
        words = ("a b", '"', "$HOME", "*", "", "\\", "ä", "a\nb", "--json", "%PATH%", "^")
        code = "import json, sys; print(json.dumps(sys.argv[1:]))"
        ended = run_program(runtime, RunProgram(command=sys.executable, args=("-c", code, *words)))
        assert tuple(json.loads(ended.stdout)) == words

    def test_a_word_of_a_megabyte_is_refused_with_a_name(self, hearth: Hearth, work: Path) -> None:
        request = {"command": sys.executable, "args": ["-c", "pass", "x" * 1_000_000]}
        (work / "input.json").write_text(json.dumps(request), "utf-8")
        done = hearth("call", "machine.exec", "@input.json")
        assert (done.status, done.json["error"]["code"]) == (126, "arguments_too_long")

    def test_a_nul_in_a_word_is_an_input_error(self, runtime: Runtime) -> None:
        assert error_of(runtime, command=sys.executable, args=("a\0b",)).exit_status == 2


class TestEnvironment:
    SHOW = "import json, os; print(json.dumps(dict(os.environ)))"

    def seen(self, runtime: Runtime, **given: Any) -> dict[str, str]:
        made = json.loads(python(runtime, self.SHOW, **given).stdout)
        assert isinstance(made, dict)
        return made

    def test_secrets_are_withheld_and_named(self, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        secret = {"HEARTH_TOKEN": "t0ps3cret", "OPENAI_API_KEY": "x1", "HARMLESS": "ghp_" + "a1B2" * 9}
        for name, value in {**secret, "GREETING": "hello"}.items():
            monkeypatch.setenv(name, value)
        ended = python(runtime, self.SHOW)
        seen = json.loads(ended.stdout)
        assert not set(secret) & set(seen)
        assert set(secret) <= set(ended.withheld)
        assert seen["GREETING"] == "hello"

    def test_what_the_call_or_a_setting_names_is_given(self, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "from-outside")
        assert self.seen(runtime, env={"OPENAI_API_KEY": "named"})["OPENAI_API_KEY"] == "named"
        allowing = with_settings(runtime, machine=MachineSettings(env_allow=("OPENAI_API_KEY",)))
        assert self.seen(allowing)["OPENAI_API_KEY"] == "from-outside"

    def test_the_policies_give_less(self, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GREETING", "hello")
        minimal, explicit = (
            self.seen(runtime, env_policy=policy, env={"MINE": "1"})
            for policy in (EnvPolicy.MINIMAL, EnvPolicy.EXPLICIT)
        )
        assert "PATH" in minimal and "GREETING" not in minimal
        assert explicit["MINE"] == "1"
        assert "GREETING" not in explicit and ("PATH" not in explicit)

    @pytest.mark.parametrize("name", ["A=B", "", "A\0"])
    def test_a_name_that_no_environment_holds_is_an_input_error(self, runtime: Runtime, name: str) -> None:
        assert error_of(runtime, command=sys.executable, env={name: "x"}).exit_status == 2


class TestEnd:
    def test_what_holds_the_outputs_after_the_end_does_not_hold_the_call(self, runtime: Runtime) -> None:
        code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]); print('hi')"
        ended = python(runtime, code, timeout_ms=20_000)
        assert (ended.exit_code, ended.stdout.strip(), ended.timed_out, ended.pipes_held) == (0, "hi", False, True)
        assert ended.duration_ms < 3_000

    def test_a_filter_that_outlives_its_program_by_a_moment_has_its_say(self, runtime: Runtime) -> None:
        tee = "import sys, time; data = sys.stdin.read(); time.sleep(0.1); print(data + 'there')"
        code = (
            "import subprocess, sys\n"
            f"tee = subprocess.Popen([sys.executable, '-c', {tee!r}], stdin=subprocess.PIPE)\n"
            "tee.stdin.write(b'hi '); tee.stdin.flush()"
        )
        ended = python(runtime, code)
        assert (ended.exit_code, ended.stdout.strip(), ended.pipes_held) == (0, "hi there", False)

    @posix
    def test_one_that_ignores_the_end_and_holds_the_outputs_is_told(self, runtime: Runtime) -> None:
        ended = shell(runtime, "trap '' TERM; sleep 300 & echo hi", timeout_ms=20_000)
        assert (ended.exit_code, ended.stdout, ended.pipes_held) == (0, "hi\n", True)
        assert ended.duration_ms < 3_000

    @posix
    def test_a_time_limit_ends_every_part_of_a_pipeline(self, runtime: Runtime) -> None:
        ended = shell(runtime, "echo $$; while :; do sleep 0.1; done | cat", timeout_ms=300, grace_ms=200)
        assert (ended.state, ended.timed_out) == (State.FAILED, True)
        session = int(ended.stdout)
        assert [pid for pid in psutil.pids() if _session_of(pid) == session] == []

    def test_a_time_limit_is_status_124_and_a_signal_128_and_more(self, hearth: Hearth) -> None:
        words = ("machine", "exec", "--json", "--timeout", "200ms", "--grace", "100ms", sys.executable, "-c")
        done = hearth(*words, SLEEPER)
        assert (done.status, done.json["state"], done.json["timed_out"]) == (124, "failed", True)
        if not WINDOWS:
            killed = hearth("machine", "exec", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
            assert killed.status == 137

    def test_a_call_that_is_taken_back_ends_its_program(self, runtime: Runtime) -> None:
        threading.Timer(0.1, runtime.cancelled.set).start()
        ended = python(runtime, SLEEPER, grace_ms=100)
        assert (ended.state, ended.exit_status) == (State.CANCELLED, 6)

    @pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
    def test_limits_hold_from_the_first_moment(self, runtime: Runtime) -> None:
        greedy = python(runtime, "x = bytearray(2_000_000_000)", memory_bytes=500_000_000)
        assert (greedy.state, "MemoryError" in greedy.stderr) == (State.FAILED, True)
        code = "from resource import *; print(*getrlimit(RLIMIT_CPU), getrlimit(RLIMIT_AS)[0])"
        limited = python(runtime, code, memory_bytes=500 * 1024**2, cpu_seconds=7)
        assert limited.stdout.split() == ["7", "8", str(500 * 1024**2)]
        assert limited.program == sys.executable

    @posix_only("processor time")
    @pytest.mark.slow
    @pytest.mark.timeout(60)
    def test_a_program_that_uses_up_its_processor_time_is_ended(self, runtime: Runtime) -> None:
        ended = python(runtime, "while True: pass", cpu_seconds=1)
        assert (ended.state, ended.signal) == (State.FAILED, signal.SIGXCPU)
        assert ended.cpu_ms is not None and ended.cpu_ms >= 900

    def test_a_time_limit_is_there_unless_a_person_watches(self, runtime: Runtime) -> None:
        given = RunProgram(command="x")
        assert time_limit(runtime, given) is None
        assert time_limit(runtime.for_call(caller=Caller.BATCH), given) == 30_000
        assert time_limit(runtime, RunProgram(command="x", timeout_ms=5)) == 5

    def test_a_time_limit_of_nothing_is_an_input_error(self, hearth: Hearth) -> None:
        assert hearth("machine", "exec", "--timeout-ms", "0", sys.executable).status == 2


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid) if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE else None
    except (ProcessLookupError, psutil.Error):
        return None


class TestAtTheShell:
    def test_it_ends_as_the_program_did(self, hearth: Hearth) -> None:
        for words in ((), ("--json",)):
            done = hearth("machine", "exec", *words, sys.executable, "-c", "raise SystemExit(7)")
            assert done.status == 7
        assert done.json["exit_code"] == 7

    def test_both_outputs_are_passed_on_as_they_are(self, hearth: Hearth) -> None:
        code = r"import sys; sys.stdout.buffer.write(b'\xff\0out'); sys.stderr.write('err')"
        done = hearth("machine", "exec", "--", sys.executable, "-c", code)
        assert (done.status, done.out_bytes, done.err) == (0, b"\xff\0out", "err")
        assert hearth("machine", "exec", "--quiet", sys.executable, "-c", code).out_bytes == b""

    def test_words_behind_the_program_are_its_own(self, hearth: Hearth) -> None:
        done = hearth("machine", "exec", sys.executable, "-c", "import sys; print(sys.argv[1:])", "--json", "--", "-q")
        assert done.out.strip() == "['--json', '--', '-q']"

    def test_what_hearth_itself_cannot_do_is_125(self, hearth: Hearth, tmp_path: Path) -> None:
        done = hearth("machine", "exec", "--cwd", tmp_path, sys.executable)
        assert (done.status, "outside the roots" in done.err) == (125, True)

    def test_long_output_is_found_again_in_its_artifact(self, hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HEARTH_MAX_OUTPUT_BYTES", "1024")
        monkeypatch.setenv("HEARTH_ARTIFACT_PREVIEW_BYTES", "100")
        code = "print('ä' * 1500 + 'needle' + 'x' * 1500)"
        done = hearth("machine", "exec", "--json", sys.executable, "-X", "utf8", "-c", code)
        kept = done.json["stdout_facts"]["artifact"]
        assert len(done.json["stdout"].encode()) <= 110
        (hit,) = hearth("artifact", "search", kept, "needle", "--json").json["matches"]
        part = hearth("artifact", "range", kept, "--offset", str(hit["offset"]), "--limit", "6", "--json")
        assert (hit["offset"], part.json["data"]) == (3_000, "needle")
