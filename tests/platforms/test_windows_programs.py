"""What Windows' programs and batch files are started with, on every system."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.errors import ArgumentsTooLong, NotExecutable, ProgramNotFound, UnsafeArgument
from hearth.platforms import windows_programs as programs
from tests.platforms import windows_parsers as parsers

CMD = r"C:\Windows\system32\cmd.exe"
SCRIPT = r"C:\my tools\100% & more\tool.cmd"
VARIABLES = {"CD": r"C:\work", "PATH": "& calc", "X": '" & calc & "', "CD:~,": "& calc"}
NASTY = ["a&calc", "%PATH%", '"&whoami', "^", "!PATH!", "a b", "", "\\", "a\\", 'a\\"', "%X%", "%%", "%", "a=b", "(x)"]

# Mostly of what means something to a reader, so that odd neighbours come up.
special = st.text(st.sampled_from("ab%\"\\&|<>^!()',;=*? \tX~:é中"), max_size=12)
words = st.lists(st.one_of(special, st.text(st.characters(exclude_characters="\0"), max_size=8)), max_size=4)
printable = st.lists(st.one_of(special, st.text(st.characters(exclude_categories=["C"]), max_size=8)), max_size=4)


@given(words)
def test_a_program_gets_its_words_back(given_words: list[str]) -> None:
    for program in (r"C:\a b\x.exe", "x.exe", CMD):
        assert parsers.argv(programs.program_line([program, *given_words])) == given_words


@pytest.mark.parametrize(
    ("given_words", "line"),
    [
        (["x", "a b", "c"], 'x "a b" c'),
        (["x", ""], 'x ""'),
        (["x", 'say "hi"'], r'x "say \"hi\""'),
        (["x", "C:\\a b\\"], 'x "C:\\a b\\\\"'),
        (["x", "C:\\a\\"], "x C:\\a\\"),
        (["x", "*.py"], 'x "*.py"'),  # or MSYS would put names there
        (["cmd", "/c", "echo", "*", "%PATH%", "&"], "cmd /c echo * %PATH% &"),
        (["C:\\a b\\x.exe"], '"C:\\a b\\x.exe"'),
    ],
)
def test_only_what_needs_quotes_gets_them(given_words: list[str], line: str) -> None:
    assert programs.program_line(given_words) == line


def inside(line: str) -> str:
    """What cmd.exe reads of its line: /s takes the outer quotes away."""
    start = f'"{CMD}" /d /e:on /v:off /s /c "'
    assert line.startswith(start) and line.endswith('"')
    return line[len(start) : -1]


def holds(given_words: list[str]) -> None:
    line = programs.batch_line(SCRIPT, [SCRIPT, *given_words], CMD)
    read = parsers.with_variables(inside(line), VARIABLES)
    assert parsers.operators(read) == ""
    assert parsers.argv(read) == given_words  # by %*, to a program that the batch file starts
    script, *parameters = parsers.batch_parameters(read)
    assert (script, len(parameters)) == (f'"{SCRIPT}"', len(given_words))
    for parameter, word in zip(parameters, given_words, strict=True):
        bare = parameter[1:-1] if parameter.startswith('"') else parameter
        for use in (f"echo {parameter}", f'"{bare}"', f'set "X={bare}"', f"if {parameter}==x echo"):
            assert parsers.operators(use) == ""
        if not word.endswith("\\") and '"' not in word:
            assert bare == word


@given(printable)
def test_a_batch_file_gets_its_words_as_text_and_cmd_acts_on_none_of_it(given_words: list[str]) -> None:
    holds([word for word in given_words if not programs._UNPASSABLE.search(word)])


@pytest.mark.parametrize("word", NASTY)
def test_a_word_that_cmd_would_act_on_is_text(word: str) -> None:
    holds([word])


def test_the_model_of_cmd_sees_what_unguarded_words_would_do() -> None:
    line = f'"{SCRIPT}" a&calc %PATH%'
    assert parsers.operators(line.replace(SCRIPT, "x")) == "&"
    assert "& calc" in parsers.with_variables(line, VARIABLES)
    assert parsers.operators('x "a" "b\\" & calc "') == "&"


@pytest.mark.parametrize("word", ["a\nb", "a\rb", "a\0b", "\x1a", "\x7f"])
def test_what_no_batch_file_can_be_given_is_refused(word: str) -> None:
    with pytest.raises(UnsafeArgument) as refused:
        programs.batch_line(SCRIPT, [SCRIPT, "fine", word], CMD)
    assert refused.value.details["argument"] == word


def test_no_program_can_be_given_a_nul() -> None:
    with pytest.raises(UnsafeArgument):
        programs.program_line(["x", "a\0b"])


def test_lines_are_as_long_as_their_reader_allows() -> None:
    assert len(programs.program_line(["x", "a" * (programs.LONGEST_LINE - 2)])) == programs.LONGEST_LINE
    with pytest.raises(ArgumentsTooLong) as refused:
        programs.program_line(["x", "\U0001f600" * (programs.LONGEST_LINE // 2)])  # two units each
    assert refused.value.details == {"length": 32_768, "longest": 32_766}
    with pytest.raises(ArgumentsTooLong):
        programs.batch_line(SCRIPT, [SCRIPT, "a" * programs.LONGEST_BATCH_LINE], CMD)


@pytest.mark.parametrize(
    ("program", "batch"),
    [("a.bat", True), ("A.CMD", True), ("a.cmd. .", True), ("a.exe", False), ("a.cmd.exe", False), ("cmd", False)],
)
def test_batch_files_are_known_by_any_spelling_of_their_name(program: str, batch: bool) -> None:
    assert programs.is_batch(program) == batch


def find(name: str, *files: str, path: str = r"C:\one;C:\two", extensions: str = ".COM;.EXE;.BAT;.CMD;.JS") -> str:
    there = {file.lower() for file in files}
    environment = {"Path": path, "PATHEXT": extensions}
    return programs.find_program(name, environment, r"C:\here", lambda file: file.lower() in there)


def test_the_first_directory_wins_and_in_it_the_first_extension() -> None:
    assert find("tool", r"C:\two\tool.com", r"C:\one\tool.cmd", r"C:\one\tool.exe") == r"C:\one\tool.exe"
    assert find("tool", r"C:\one\tool.cmd", r"C:\one\tool.exe", extensions=".CMD;.EXE") == r"C:\one\tool.cmd"


def test_a_name_with_an_extension_is_taken_as_it_is_and_with_one_more() -> None:
    assert find("tool.CMD", r"C:\one\tool.exe", r"C:\one\tool.cmd") == r"C:\one\tool.CMD"
    assert find("python3.11", r"C:\one\python3.11", r"C:\two\python3.11.exe") == r"C:\two\python3.11.exe"


def test_a_shell_script_beside_a_batch_file_is_passed_over() -> None:
    assert find("npx", r"C:\one\npx", r"C:\one\npx.ps1", r"C:\one\npx.cmd") == r"C:\one\npx.cmd"


def test_the_current_directory_is_not_searched_and_the_error_says_so() -> None:
    with pytest.raises(ProgramNotFound) as missing:
        find("tool", r"C:\here\tool.exe", path=r".;;sub;\rooted;C:\one")
    assert missing.value.details["searched"] == [r"C:\one"]
    assert missing.value.hint is not None and r".\tool" in missing.value.hint


def test_a_path_is_seen_from_the_working_directory() -> None:
    assert find(r".\tool", r"C:\here\tool.exe") == r"C:\here\tool.exe"
    assert find("sub/tool.exe", r"C:\here\sub\tool.exe") == r"C:\here\sub\tool.exe"
    assert find(r"D:\x\tool", r"D:\x\tool.bat") == r"D:\x\tool.bat"


@pytest.mark.parametrize(
    ("file", "name", "interpreter"),
    [
        (r"C:\two\build.ps1", "build", "powershell"),
        (r"C:\two\build.ps1", "build.ps1", "powershell"),
        (r"C:\here\run.py", r".\run.py", "py "),
        (r"C:\one\start.js", "start", "node"),
    ],
)
def test_a_script_is_told_as_one_with_the_program_that_runs_it(file: str, name: str, interpreter: str) -> None:
    with pytest.raises(NotExecutable) as refused:
        find(name, file)
    assert refused.value.hint is not None and f"{interpreter}" in refused.value.hint and file in refused.value.hint


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_a_name_that_no_program_can_have_is_not_found(name: str) -> None:
    with pytest.raises(ProgramNotFound):
        find(name)


def test_what_is_missing_lists_the_path_that_was_searched() -> None:
    with pytest.raises(ProgramNotFound) as missing:
        find("nope", path=r'"C:\a;b";C:/two;C:\two;C:\one')
    assert missing.value.details["searched"] == [r"C:\a;b", r"C:\two", r"C:\one"]
    with pytest.raises(ProgramNotFound, match="PATH names no directory"):
        find("nope", path="")


@pytest.mark.parametrize("setting", ["", ".JS;.VBS"])
def test_without_a_usable_pathext_what_windows_can_start_is_found(setting: str) -> None:
    assert find("tool", r"C:\one\tool.bat", extensions=setting) == r"C:\one\tool.bat"
