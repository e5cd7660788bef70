"""bash 3.2 and newer (macOS still has it): no associative arrays, and no bash-completion package needed."""

from __future__ import annotations

from collections.abc import Iterator

from hearth.cli.completion.spec import CommandSpec, OptionSpec, Value, global_specs, tree, walk

TEMPLATE = """\
# Completion of hearth in bash; `hearth completion show bash` makes it anew.

# What may follow the words $1.
_hearth_spec() {
    commands='' options='' valued='' arguments=''
    case $1 in
@SPECS@
    esac
}

# What the option $2 behind the words $1 takes.
_hearth_value() {
    value=any
    case "$1 $2" in
@VALUES@
    esac
}

_hearth_reply() {
    local kind=${1%%:*} rest=${1#*:}
    case $kind in
    path)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
        ;;
    directory)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$cur")
        ;;
    words) COMPREPLY+=($(compgen -W "${rest//,/ }" -- "$cur")) ;;
    id) COMPREPLY+=($(hearth __complete "$rest" "$cur" 2>/dev/null)) ;;
    esac
}

_hearth() {
    local cur=${COMP_WORDS[COMP_CWORD]} path='' word='' option='' skip='' ended='' i
    local commands options valued arguments value
    local -i count=0
    COMPREPLY=()
    _hearth_spec "$path"
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == = ]]; then continue; fi
        if [[ $skip ]]; then skip='' option=''; continue; fi
        if [[ ! $ended && $word == -- ]]; then ended=1; continue; fi
        if [[ ! $ended && $word == -* ]]; then
            if [[ " $valued @VALUED@ " == *" $word "* ]]; then skip=1 option=$word; fi
            continue
        fi
        word=${word//_/-}
        if [[ " $commands " == *" $word "* ]]; then
            path=${path:+$path }$word
            _hearth_spec "$path"
        else
            count+=1
        fi
    done
    if [[ $cur == = ]]; then cur=''; fi
    if [[ $skip ]]; then
        _hearth_value "$path" "$option"
        _hearth_reply "$value"
    elif [[ ! $ended && $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options $valued @GLOBALS@" -- "$cur"))
    elif [[ $commands ]]; then
        COMPREPLY=($(compgen -W "$commands" -- "$cur"))
    else
        set -- $arguments
        while ((count > 0 && $# > 1)); do shift; count+=-1; done
        value=${1:-any}
        if [[ $value == *+ ]]; then value=${value%+}; elif ((count > 0)); then value=any; fi
        _hearth_reply "$value"
    fi
}

complete -F _hearth hearth
"""


def script() -> str:
    """The script, ASCII."""
    commands = list(walk(tree()))
    shared = global_specs()
    return (
        TEMPLATE.replace("@SPECS@", "\n".join(_spec(command) for command in commands))
        .replace("@VALUES@", "\n".join([*_values(commands), *_global_values(shared)]))
        .replace("@VALUED@", " ".join(_names(shared, valued=True)))
        .replace("@GLOBALS@", " ".join([*_names(shared, valued=False), *_names(shared, valued=True)]))
    )


def _spec(command: CommandSpec) -> str:
    facts = {
        "commands": " ".join(child.words[-1] for child in command.children),
        "options": " ".join(_names(command.options, valued=False)),
        "valued": " ".join(_names(command.options, valued=True)),
        "arguments": " ".join(_value(value) + ("+" if value.several else "") for value in command.arguments),
    }
    sets = "".join(f"        {name}='{text}'\n" for name, text in facts.items() if text)
    return f"    '{' '.join(command.words)}')\n{sets}        ;;"


def _names(options: tuple[OptionSpec, ...], *, valued: bool) -> list[str]:
    return [name for option in options if (option.value is not None) == valued for name in option.names]


def _value(value: Value) -> str:
    return ":".join((value.kind, ",".join(value.words))) if value.words else value.kind


def _values(commands: list[CommandSpec]) -> Iterator[str]:
    for command in commands:
        for option in command.options:
            if option.value is not None and option.value.kind != "any":
                cases = " | ".join(f"'{' '.join(command.words)} {name}'" for name in option.names)
                yield f"    {cases}) value='{_value(option.value)}' ;;"


def _global_values(options: tuple[OptionSpec, ...]) -> Iterator[str]:
    for option in options:
        if option.value is not None and option.value.kind != "any":
            cases = " | ".join(f"*' {name}'" for name in option.names)
            yield f"    {cases}) value='{_value(option.value)}' ;;"
