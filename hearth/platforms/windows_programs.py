"""Finding programs on Windows and writing the line they are started with. Text only, so every system can run it.

Windows hands a program one line, which it takes apart again by itself. Programs follow the rules of
https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments; batch files are read by cmd.exe, which
first looks for `%`, then for quotes and operators, and once more for both in each line of the file that names `%1`.
"""

from __future__ import annotations

import ntpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from hearth.errors import ArgumentsTooLong, NotExecutable, ProgramNotFound, UnsafeArgument
from hearth.platforms.windows_paths import absolute, plain

LONGEST_LINE = 32_766  # CreateProcessW takes 32,767 with the NUL
LONGEST_BATCH_LINE = 8_191  # of cmd.exe
USUAL_EXTENSIONS = ".COM;.EXE;.BAT;.CMD"
_BATCH = (".bat", ".cmd")
_STARTABLE = (".com", ".exe", *_BATCH)  # the rest of PATHEXT are documents, which the shell opens with a program
_INTERPRETERS = {
    ".ps1": "powershell -NoProfile -ExecutionPolicy Bypass -File",
    ".py": "py",
    ".pyw": "pyw",
    ".js": "node",
    ".mjs": "node",
    ".vbs": "cscript //nologo",
    ".wsf": "cscript //nologo",
    ".sh": "bash",
    ".rb": "ruby",
    ".pl": "perl",
    ".jar": "java -jar",
    ".msi": "msiexec /i",
    ".lnk": "explorer",
}
# Programs of MSYS and MinGW replace words with wildcards by file names, unless they are quoted.
_QUOTED = re.compile(r'[\s"*?]|^$')
_SAFE_IN_BATCH = re.compile(r"[\w#$*+\-./:?@\\]+")
_UNPASSABLE = re.compile("[\x00-\x08\x0a-\x1f\x7f]")
# A %, and then no characters of a variable that cmd.exe always has, so that no name follows the %.
_PERCENT = "%%cd:~,%"


def is_batch(program: str) -> bool:
    """Whether cmd.exe has to read the file: Windows takes it so with dots or spaces at the end of the name, too."""
    return program.rstrip(". ").lower().endswith(_BATCH)


def program_line(words: Sequence[str]) -> str:
    """The line from which a program gets exactly `words`. Raises `UnsafeArgument`, `ArgumentsTooLong`."""
    _refuse_nul(words)
    if '"' in words[0]:  # its rules know no way to write one
        raise UnsafeArgument("the name of a program holds no quotation mark on Windows", argument=words[0])
    quote = _quoted_for_cmd if _is_cmd(words[0]) else _quoted
    first = f'"{words[0]}"' if re.search(r"[\s]|^$", words[0]) else words[0]
    return _within(" ".join([first, *map(quote, words[1:])]), LONGEST_LINE)


def _is_cmd(program: str) -> bool:
    return ntpath.basename(program).lower() in ("cmd", "cmd.exe")


def _quoted_for_cmd(word: str) -> str:
    return _quoted(word) if re.search(r'[\s"]|^$', word) else word


def _quoted(word: str) -> str:
    if not _QUOTED.search(word):
        return word
    # Backslashes count double before a quotation mark, and only there.
    return '"' + re.sub(r'(\\*)"', r'\1\1\\"', re.sub(r"(\\+)$", r"\1\1", word)) + '"'


def batch_line(script: str, words: Sequence[str], interpreter: str) -> str:
    """The line by which cmd.exe runs a batch file that gets `words[1:]` as text, without reading any of it as its
    own language. Quotation marks arrive doubled, which is how both cmd.exe and the programs that a batch file hands
    them on to write one within quotes. Raises `UnsafeArgument`, `ArgumentsTooLong`."""
    parts = [_quoted_for_batch(word) for word in words[1:]]
    script = f'"{_escaped(script)}"'
    # Extensions on, which the % needs; delayed expansion off, or ! would be read; no AutoRun; /s: the outer quotes go.
    line = f'"{interpreter}" /d /e:on /v:off /s /c "{" ".join([script, *parts])}"'
    return _within(line, LONGEST_BATCH_LINE)


def _quoted_for_batch(word: str) -> str:
    if _SAFE_IN_BATCH.fullmatch(word) and not word.endswith("\\"):
        return word
    return '"' + re.sub(r'(\\+)(?="|$)', r"\1\1", _escaped(word)).replace('"', '""') + '"'


def _escaped(word: str) -> str:
    if found := _UNPASSABLE.search(word):
        raise UnsafeArgument(
            f"a batch file cannot be given {found[0]!r}",
            argument=word,
            hint="pass it by a file or standard input, or start the program behind the batch file",
        )
    return word.replace("%", _PERCENT)


def _refuse_nul(words: Sequence[str]) -> None:
    for word in words:
        if "\0" in word:
            raise UnsafeArgument("an argument cannot hold a NUL character", argument=word)


def _within(line: str, longest: int) -> str:
    length = len(line.encode("utf-16-le", "surrogatepass")) // 2
    if length > longest:
        raise ArgumentsTooLong(
            f"the command line has {length:,} characters and may have {longest:,}", length=length, longest=longest
        )
    return line


def find_program(name: str, environment: Mapping[str, str], directory: str, is_file: Callable[[str], bool]) -> str:
    """The absolute path of the program that a command names: with a separator in it seen from `directory`, else as
    PATH and PATHEXT of `environment` tell, in their order. The current directory is not searched. Raises
    `ProgramNotFound`, which lists what was searched, and `NotExecutable` for a script or document that is there."""
    if not name or "\0" in name:
        raise ProgramNotFound("a program's name cannot be empty or hold a NUL character")
    variables = {key.upper(): value for key, value in environment.items()}
    endings = extensions(variables.get("PATHEXT", ""))
    if re.search(r"[\\/:]", name):
        path = absolute(name, directory)
        folders, name = [ntpath.dirname(path)], ntpath.basename(path)
    else:
        folders = path_folders(variables.get("PATH", ""))
    for folder in folders:
        for candidate in _candidates(name, endings):
            if is_file(ntpath.join(folder, candidate)):
                return ntpath.join(folder, candidate)
    raise _missing(name, folders, directory, is_file)


def extensions(setting: str) -> list[str]:
    """What PATHEXT names of what Windows can start, in its order and in small letters."""
    found = [part.strip().lower() for part in (setting or USUAL_EXTENSIONS).split(";")]
    return [part for part in dict.fromkeys(found) if part in _STARTABLE] or list(_STARTABLE)


def path_folders(setting: str) -> list[str]:
    """The absolute directories of PATH; one with a semicolon in its name stands in quotes."""
    found = (part.replace('"', "").strip() for part in re.findall(r'(?:"[^"]*"?|[^;"])+', setting))
    return list(
        dict.fromkeys(plain(part) for part in found if ntpath.isabs(plain(part)) and ntpath.splitdrive(part)[0])
    )


def _candidates(name: str, endings: Sequence[str]) -> Iterator[str]:
    if name.lower().endswith(_STARTABLE):
        yield name
    for ending in endings:
        yield name + ending


def _missing(
    name: str, folders: Sequence[str], directory: str, is_file: Callable[[str], bool]
) -> ProgramNotFound | NotExecutable:
    for folder in folders:
        for ending in ("", *_INTERPRETERS):
            path = ntpath.join(folder, name + ending)
            if is_file(path):
                return not_startable(path)
    here = any(is_file(ntpath.join(directory, candidate)) for candidate in _candidates(name, _STARTABLE))
    return ProgramNotFound(
        f"there is no program {name!r}; searched {'; '.join(folders) or 'nothing, since PATH names no directory'}",
        hint=f"the current directory is not searched; write .\\{name}" if here else None,
        program=name,
        searched=list(folders),
    )


def not_startable(path: str) -> NotExecutable:
    """Why Windows cannot start a file, and what can."""
    interpreter = _INTERPRETERS.get(ntpath.splitext(path)[1].lower())
    hint = f"a program has to run it: {interpreter} {path}" if interpreter else None
    return NotExecutable(f"{path} is no program that Windows can start", hint=hint, program=path)
