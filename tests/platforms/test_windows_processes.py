"""Programs on Windows, with real ones: words, batch files, handles, consoles, limits, ends."""

from __future__ import annotations

import sys

import pytest

if sys.platform != "win32":
    pytest.skip("Windows only", allow_module_level=True)

import ast
import ctypes
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from hearth.errors import ArgumentsTooLong, NotExecutable
from hearth.execution import Ending, Run
from hearth.platforms import windows_processes as processes
from hearth.platforms import windows_programs as programs
from hearth.platforms.local import local_host
from hearth.platforms.processes import Launch, Launcher, Stream
from tests.marks import not_emulated
from tests.platforms.test_windows_programs import NASTY

SHOW = "import sys; print(ascii(sys.argv[1:]))"
SLEEPER = "import time; time.sleep(300)"


def python(code: str, *words: str, **others: Any) -> Launch:
    launch = Launch(sys.executable, (sys.executable, "-c", code, *words), os.getcwd(), dict(os.environ))
    return launch._replace(**others)


def run(
    launcher: Launcher, what: Launch, timeout_ms: int | None = 20_000, grace_ms: int = 200
) -> tuple[Ending, bytes, bytes]:
    heard = {Stream.STDOUT: bytearray(), Stream.STDERR: bytearray()}
    ending = Run(launcher, what).to_end(
        lambda stream, data: heard[stream].extend(data), timeout_ms=timeout_ms, grace_ms=grace_ms
    )
    return ending, bytes(heard[Stream.STDOUT]), bytes(heard[Stream.STDERR])


def test_words_arrive_as_they_were_given(launcher: Launcher) -> None:
    words = [*NASTY, "*.py", "a\nb", "\t", "中文 é", "\U0001f600"]
    ending, out, err = run(launcher, python(SHOW, *words))
    assert (ending.exit.code, err) == (0, b"")
    assert ast.literal_eval(out.decode("ascii")) == words


def test_30_000_characters_arrive_and_more_than_a_line_holds_is_told(launcher: Launcher) -> None:
    ending, out, _ = run(launcher, python("import sys; print(len(sys.argv[1]))", "x" * 30_000))
    assert (ending.exit.code, out.strip()) == (0, b"30000")
    with pytest.raises(ArgumentsTooLong):
        launcher.launch(python(SHOW, "x" * 1_000_000))


def test_standard_input_is_the_end_of_a_file_unless_one_is_given(launcher: Launcher, work: Path) -> None:
    read = "import sys; print(ascii(sys.stdin.buffer.read()))"
    assert run(launcher, python(read))[1].strip() == b"b''"
    (work / "input").write_bytes(b'a "b" $c\n')
    with open(work / "input", "rb") as file:
        assert run(launcher, python(read, stdin=file.fileno()))[1].strip() == rb"""b'a "b" $c\n'"""


def test_a_shell_without_words_reads_the_end_of_its_input_and_ends(launcher: Launcher) -> None:
    cmd = os.path.join(os.environ["SYSTEMROOT"], "system32", "cmd.exe")
    ending, _, _ = run(launcher, Launch(cmd, ("cmd",), os.getcwd(), dict(os.environ)))
    assert not ending.timed_out


def test_what_console_programs_write_is_read_in_the_code_page_of_consoles(launcher: Launcher) -> None:
    encoding = local_host().output_encoding()
    assert encoding is not None
    cmd = os.path.join(os.environ["SYSTEMROOT"], "system32", "cmd.exe")
    ending, out, _ = run(launcher, Launch(cmd, ("cmd", "/d", "/c", "echo", "é"), os.getcwd(), dict(os.environ)))
    assert (ending.exit.code, out.decode(encoding).strip()) == (0, "é")


def test_a_program_is_found_by_the_host_and_not_in_the_current_directory(work: Path) -> None:
    host = local_host()
    (work / "cmd.bat").write_bytes(b"")
    found = host.find_program("cmd", os.environ, str(work))
    assert found.lower().endswith("\\system32\\cmd.exe")
    assert os.path.samefile(host.find_program(".\\cmd", os.environ, str(work)), work / "cmd.bat")


def test_no_window_is_shown(launcher: Launcher) -> None:
    code = (
        "import ctypes; window = ctypes.WinDLL('kernel32').GetConsoleWindow();"
        "print(bool(window and ctypes.WinDLL('user32').IsWindowVisible(window)))"
    )
    ending, out, err = run(launcher, python(code))
    assert (ending.exit.code, out.strip(), err) == (0, b"False", b"")


@not_emulated("it has no PowerShell")
def test_powershell_reads_a_script_with_a_byte_order_mark_and_its_programs_are_heard(
    launcher: Launcher, work: Path
) -> None:
    script = work / "x.ps1"
    script.write_text(f"[int][char]'é'\n& '{sys.executable}' -c 'print(7 * 191)'\n", encoding="utf-8-sig")
    shell = programs.find_program("powershell", os.environ, os.getcwd(), os.path.isfile)
    words = ("powershell", "-NoProfile", "-ExecutionPolicy", "Bypass", "-File", str(script))
    ending, out, err = run(launcher, Launch(shell, words, os.getcwd(), dict(os.environ)))
    assert (ending.exit.code, out.split(), err) == (0, [b"233", b"1337"], b"")


def test_only_the_standard_handles_are_inherited(launcher: Launcher, work: Path) -> None:
    import msvcrt

    with open(work / "secret", "wb") as file:
        handle = msvcrt.get_osfhandle(file.fileno())
        os.set_handle_inheritable(handle, True)
        code = (
            "import ctypes, sys; k = ctypes.WinDLL('kernel32'); k.GetFinalPathNameByHandleW.argtypes = "
            "[ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint, ctypes.c_uint]; b = ctypes.create_unicode_buffer(999);"
            "k.GetFinalPathNameByHandleW(int(sys.argv[1]), b, 999, 0); print(ascii(b.value))"
        )
        ending, out, err = run(launcher, python(code, str(handle)))
    assert (ending.exit.code, err) == (0, b"")
    assert b"secret" not in out


def test_five_megabytes_of_both_outputs_come_whole_and_in_order(launcher: Launcher) -> None:
    code = (
        "import sys\n"
        "for n in range(80):\n"
        "    sys.stdout.buffer.write(n.to_bytes(1, 'big') * 65_537); sys.stderr.buffer.write(b'e' * 65_537)"
    )
    ending, out, err = run(launcher, python(code))
    assert ending.exit.code == 0
    assert out == b"".join(n.to_bytes(1, "big") * 65_537 for n in range(80))
    assert err == b"e" * 65_537 * 80


@not_emulated("it takes both from a process of the host, which may be gone by then")
def test_memory_and_processor_time_are_measured(launcher: Launcher) -> None:
    ending, _, _ = run(launcher, python("x = b'x' * 50_000_000; sum(range(3_000_000))"))
    assert ending.exit.peak_memory_bytes is not None and ending.exit.peak_memory_bytes > 50_000_000
    assert ending.exit.cpu_ms is not None and ending.exit.cpu_ms > 0


@not_emulated("it takes limits and does not keep them")
@pytest.mark.parametrize("limits", [{"memory_bytes": 100_000_000}, {"cpu_seconds": 1}])
def test_a_limit_ends_a_program(launcher: Launcher, limits: dict[str, int]) -> None:
    code = "x = []\nwhile True: x.append(bytes(1_000_000))" if "memory_bytes" in limits else "while True: pass"
    ending, _, _ = run(launcher, python(code, **limits))
    assert not ending.timed_out
    assert ending.exit.code not in (0, None)


def test_what_a_program_started_apart_from_itself_ends_with_it(launcher: Launcher) -> None:
    apart = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS
    code = (
        "import subprocess, sys\n"
        f"made = subprocess.Popen([sys.executable, '-c', {SLEEPER!r}], creationflags={apart}); print(made.pid)"
    )
    ending, out, _ = run(launcher, python(code))
    assert (ending.exit.code, ending.duration_ms < 10_000) == (0, True)
    assert local_host().process_start(int(out)) is None


@not_emulated("it lets a program leave its job")
def test_no_program_leaves_its_job(launcher: Launcher) -> None:
    away = subprocess.CREATE_BREAKAWAY_FROM_JOB
    code = f"import subprocess, sys; subprocess.Popen([sys.executable], creationflags={away})"
    ending, _, err = run(launcher, python(code))
    assert ending.exit.code == 1 and b"PermissionError" in err


def test_a_program_that_is_asked_ends_before_the_grace_is_over(launcher: Launcher) -> None:
    ending, _, _ = run(launcher, python(SLEEPER), timeout_ms=500, grace_ms=15_000)
    assert ending.timed_out
    assert ending.duration_ms < 12_000


def test_a_program_that_ignores_the_request_is_killed_after_the_grace(launcher: Launcher) -> None:
    deaf = f"import signal; signal.signal(signal.SIGBREAK, signal.SIG_IGN); {SLEEPER}"
    ending, _, _ = run(launcher, python(deaf), timeout_ms=500, grace_ms=100)
    assert ending.timed_out
    assert ending.duration_ms < 10_000


def test_what_is_no_program_is_told_by_its_error(launcher: Launcher, work: Path) -> None:
    (work / "x.exe").write_bytes(b"not a program at all")
    with pytest.raises(NotExecutable):
        launcher.launch(Launch(str(work / "x.exe"), ("x",), os.getcwd(), dict(os.environ)))
    with pytest.raises(FileNotFoundError):
        launcher.launch(Launch(str(work / "gone.exe"), ("x",), os.getcwd(), dict(os.environ)))


def test_a_directory_that_is_gone_or_too_long_is_refused(launcher: Launcher, work: Path) -> None:
    with pytest.raises(OSError) as gone:
        launcher.launch(python(SHOW, directory=str(work / "gone")))
    assert gone.value.winerror == 267
    with pytest.raises(OSError) as long:
        launcher.launch(python(SHOW, directory="C:\\" + "x" * 300))
    assert long.value.winerror == 206


def test_an_empty_environment_still_starts_programs(launcher: Launcher) -> None:
    ending, _, err = run(launcher, python("import socket; socket.socket().close()", environment={"A": "1", "a": "2"}))
    assert (ending.exit.code, err) == (0, b"")
    assert processes.environment({"B": "1", "a": "x", "A": "y", "systemroot": "C:\\W"}) == {
        "A": "y",
        "B": "1",
        "systemroot": "C:\\W",
    }


def handles() -> int:
    count = ctypes.c_ulong()
    kernel32 = ctypes.WinDLL("kernel32")
    kernel32.GetProcessHandleCount.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    assert kernel32.GetProcessHandleCount(ctypes.c_void_p(-1), ctypes.byref(count))
    return count.value


def test_no_handle_is_left_open(launcher: Launcher, work: Path) -> None:
    what = python("print(1)")
    for _ in range(2):
        run(launcher, what)
    before = handles()
    for _ in range(3):
        run(launcher, what)
        with pytest.raises(FileNotFoundError):
            launcher.launch(what._replace(program=str(work / "gone.exe")))
    assert handles() <= before + 1


def test_waking_returns_from_a_wait_at_once(launcher: Launcher) -> None:
    process = launcher.launch(python(SLEEPER))
    started = time.monotonic()
    process.wake()
    assert not process.pump(lambda *_: None, 30)
    assert not process.pump(lambda *_: None, 0)
    assert time.monotonic() - started < 5
    process.close()
    process.close()
    process.wake()
    assert process.ended is not None and process.ended.code == processes.KILLED


def test_closing_the_launcher_ends_what_still_runs() -> None:
    launcher = local_host().make_launcher()
    begun = Run(launcher, python(SLEEPER))
    launcher.close()
    ending = begun.to_end(lambda *_: None, timeout_ms=20_000, grace_ms=0)
    assert (ending.exit.code, ending.timed_out) == (processes.KILLED, False)
