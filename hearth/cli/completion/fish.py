"""fish 3 and newer: one `complete` line a word, each under the condition of the words before it."""

from __future__ import annotations

from collections.abc import Iterator

from hearth.cli.completion.spec import CommandSpec, OptionSpec, Value, global_specs, tree, walk

HEAD = """\
# Completion of hearth in fish; `hearth completion show fish` makes it anew.

# The words typed so far, without options and what they take.
function __hearth_words
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip -eq 1
            set skip 0
        else if contains -- $word @VALUED@
            set skip 1
        else if not string match -q -- '-*' $word
            string replace -a _ - -- $word
        end
    end
end

# Whether these commands were typed ($argv[2..]), with so many words behind them ($argv[1]: any, 0, 1, 1+ ...).
function __hearth_at
    set -l typed (__hearth_words)
    set -l wanted $argv[2..]
    set -l depth (count $wanted)
    set -l behind (math (count $typed) - $depth)
    test $behind -ge 0; or return 1
    if test $depth -gt 0
        test "$typed[1..$depth]" = "$wanted"; or return 1
    end
    switch $argv[1]
        case any
            return 0
        case '*+'
            test $behind -ge (string trim -c + -- $argv[1])
        case '*'
            test $behind -eq $argv[1]
    end
end

complete -c hearth -f
"""


def script() -> str:
    """The script, ASCII."""
    commands, shared = list(walk(tree())), global_specs()
    head = HEAD.replace("@VALUED@", " ".join(_valued([*shared, *(o for c in commands for o in c.options)])))
    lines = [_option("", option) for option in shared]
    for command in commands:
        lines.extend(_command(command))
    return head + "".join(f"{line}\n" for line in lines)


def _valued(options: list[OptionSpec]) -> list[str]:
    """The options that take a value wherever they stand."""
    switches = {name for option in options if option.value is None for name in option.names}
    names = (name for option in options if option.value is not None for name in option.names)
    return [name for name in dict.fromkeys(names) if name not in switches]


def _command(command: CommandSpec) -> Iterator[str]:
    at = " ".join(command.words)
    for child in command.children:
        yield f"complete -c hearth -n '{_at('0', at)}' -a {child.words[-1]} -d {_quoted(child.help)}"
    for option in command.options:
        yield _option(f" -n '{_at('any', at)}'", option)
    for number, value in enumerate(command.arguments):
        taken = _taken(value)
        if taken:
            yield f"complete -c hearth -n '{_at(f'{number}+' if value.several else str(number), at)}'{taken}"


def _at(behind: str, words: str) -> str:
    return f"__hearth_at {behind} {words}".rstrip()


def _option(condition: str, option: OptionSpec) -> str:
    names = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names)
    value = "" if option.value is None else _taken(option.value) or " -x"
    return f"complete -c hearth{condition}{names}{value} -d {_quoted(option.help)}"


def _taken(value: Value) -> str:
    match value.kind:
        case "path":
            return " -r -F"
        case "directory":
            return " -x -a '(__fish_complete_directories)'"
        case "words":
            return f" -x -a '{' '.join(value.words)}'"
        case "id":
            return f" -x -a '(hearth __complete {value.words[0]} (commandline -ct) 2>/dev/null)'"
    return ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
