"""zsh 5: a function a command, on zsh's own `_arguments`."""

from __future__ import annotations

from collections.abc import Iterator

from hearth.cli.completion.spec import CommandSpec, OptionSpec, Value, global_specs, tree, walk

HEAD = """\
#compdef hearth
# Completion of hearth in zsh; `hearth completion show zsh` makes it anew.

typeset -ga _hearth_globals
_hearth_globals=(
@GLOBALS@)

(( $+functions[_hearth_ids] )) || _hearth_ids() {
    local -a ids
    # The kind comes last: `_arguments` puts options of compadd before it.
    ids=(${(f)"$(hearth __complete "${@[-1]}" "$PREFIX" 2>/dev/null)"})
    compadd "${@[1,-2]}" -a ids
}
"""

GROUP = """\

@NAME@() {
    local curcontext="$curcontext" state line
    local -a commands
    _arguments -C -s @OPTIONS@ '1: :->command' '*:: :->words' && return
    case $state in
    command)
        commands=(
@COMMANDS@        )
        _describe command commands
        ;;
    words)
        case ${line[1]//_/-} in
@CASES@        esac
        ;;
    esac
}
"""


def script() -> str:
    """The script, ASCII."""
    shared = "".join(f"    {spec}\n" for option in global_specs() for spec in _specs(option))
    root = tree()
    functions = "".join(_group(each) if each.children else _command(each) for each in walk(root))
    return HEAD.replace("@GLOBALS@", shared) + functions + '\n_hearth "$@"\n'


def _name(command: CommandSpec) -> str:
    return "_".join(("_hearth", *(word.replace("-", "_") for word in command.words)))


def _group(command: CommandSpec) -> str:
    options = [spec for option in command.options for spec in _specs(option)]
    commands = "".join(f"            {_quoted(f'{each.words[-1]}:{each.help}')}\n" for each in command.children)
    cases = "".join(f"        {each.words[-1]}) {_name(each)} ;;\n" for each in command.children)
    return (
        GROUP.replace("@NAME@", _name(command))
        .replace("@OPTIONS@", " ".join(["$_hearth_globals", *options]))
        .replace("@COMMANDS@", commands)
        .replace("@CASES@", cases)
    )


def _command(command: CommandSpec) -> str:
    specs = [spec for option in command.options for spec in _specs(option)]
    specs += [_argument(number, value) for number, value in enumerate(command.arguments, 1)]
    lines = "".join(f" \\\n        {spec}" for spec in specs)
    return f"\n{_name(command)}() {{\n    _arguments -s $_hearth_globals{lines}\n}}\n"


def _specs(option: OptionSpec) -> Iterator[str]:
    """One spec a spelling: the other spellings of a switch may still follow, since the last one counts."""
    help_text = option.help.replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    taken = f": :{_action(option.value)}" if option.value is not None else ""
    for name in option.names:
        yield _quoted(f"*{name}[{help_text}]{taken}")


def _argument(number: int, value: Value) -> str:
    return _quoted(f"{'*' if value.several else number}: :{_action(value)}")


def _action(value: Value) -> str:
    match value.kind:
        case "path":
            return "_files"
        case "directory":
            return "_files -/"
        case "words":
            return f"({' '.join(value.words)})"
        case "id":
            return f"_hearth_ids {value.words[0]}"
    return "( )"


def _quoted(text: str) -> str:
    escaped = text.replace("'", "'\\''")
    return f"'{escaped}'"
