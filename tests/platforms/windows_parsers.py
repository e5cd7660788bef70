"""How Windows' own readers take a command line apart: a model of them, to hold what hearth writes against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

DELIMITERS = " \t,;="  # between the arguments of a batch file


def argv(line: str) -> list[str]:
    """The words after the first that a program gets: the rules of the C runtime since 2008."""
    at = line.index('"', 1) + 1 if line.startswith('"') else len(line.split(" ", 1)[0])
    return list(_words(line[at:]))


def _words(text: str) -> Iterator[str]:
    at = 0
    while True:
        while text[at : at + 1] in (" ", "\t"):
            at += 1
        if at >= len(text):
            return
        word, at = _word(text, at)
        yield word


def _word(text: str, at: int) -> tuple[str, int]:
    word, quoted = "", False
    while at < len(text) and (quoted or text[at] not in " \t"):
        slashes = len(text[at:]) - len(text[at:].lstrip("\\"))
        at += slashes
        if text[at : at + 1] != '"':
            word += "\\" * slashes
            if slashes == 0:
                word, at = word + text[at], at + 1
            continue
        word, at = word + "\\" * (slashes // 2), at + 1
        if slashes % 2:
            word += '"'
        elif quoted and text[at : at + 1] == '"':
            word, at = word + '"', at + 1
        else:
            quoted = not quoted
    return word, at


def with_variables(text: str, variables: Mapping[str, str]) -> str:
    """What cmd.exe makes of `%` in a line that it is given: names that it does not know stay as they are."""
    done, at = "", 0
    while (start := text.find("%", at)) >= 0:
        done += text[at:start]
        end = text.find("%", start + 1)
        name, colon, change = text[start + 1 : end].partition(":") if end > 0 else ("", "", "")
        if name.upper() in variables:
            assert change in ("", "~,"), "a substring that this model does not know"
            done, at = done + ("" if colon else variables[name.upper()]), end + 1
        else:
            done, at = done + "%", start + 1
    return done + text[at:]


def operators(text: str) -> str:
    """The characters outside quotes that cmd.exe would act on."""
    outside = "".join(text.split('"')[::2])
    return "".join(character for character in outside if character in "&|<>^()\r\n")


def batch_parameters(text: str) -> list[str]:
    """The texts of %0, %1, ...: cut at delimiters that stand outside quotes, the quotes kept."""
    found, current, quoted = [], "", False
    for character in text:
        quoted ^= character == '"'
        if character in DELIMITERS and not quoted:
            found.append(current)
            current = ""
        else:
            current += character
    return [part for part in (*found, current) if part]
