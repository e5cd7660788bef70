"""PowerShell 5.1 and 7: one native argument completer over tables of words."""

from __future__ import annotations

from collections.abc import Iterator

from hearth.cli.completion.spec import CommandSpec, OptionSpec, Value, global_specs, tree, walk

TEMPLATE = """\
# Completion of hearth in PowerShell; `hearth completion show powershell` makes it anew.

Register-ArgumentCompleter -Native -CommandName @('hearth', 'hearth.exe') -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # What may follow the words: commands, and what the arguments take.
    $commands = @{
@COMMANDS@    }
    $arguments = @{
@ARGUMENTS@    }
    # Options by the words before them; the value is what the option takes, '' for a switch.
    $options = @{
@OPTIONS@    }
    $globals = [ordered]@{
@GLOBALS@    }

    $path = ''
    $behind = 0
    $taker = $null
    foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.EndOffset -ge $cursorPosition -and $wordToComplete -ne '') { break }
        $word = $element.Extent.Text
        if ($null -ne $taker) { $taker = $null; continue }
        if ($word.StartsWith('-')) {
            $takes = $globals[$word]
            if ($options[$path] -and $options[$path].Contains($word)) { $takes = $options[$path][$word] }
            if ($takes) { $taker = $takes }
            continue
        }
        $word = $word.Replace('_', '-')
        if ($commands[$path] -contains $word) { $path = "$path $word".Trim() } else { $behind++ }
    }

    $takes = $null
    if ($null -ne $taker) {
        $takes = $taker
    } elseif ($wordToComplete.StartsWith('-')) {
        $found = @($globals.Keys)
        if ($options[$path]) { $found = @($options[$path].Keys) + $found }
    } elseif ($commands[$path]) {
        $found = $commands[$path]
    } elseif ($arguments[$path]) {
        $last = @($arguments[$path]).Count - 1
        $takes = @($arguments[$path])[[Math]::Min($behind, $last)]
        if ($behind -gt $last -and -not $takes.EndsWith('+')) { $takes = 'any' }
        $takes = $takes.TrimEnd('+')
    }
    if ($takes) {
        $kind, $rest = $takes.Split(':', 2)
        # For paths nothing is answered, so that PowerShell completes them itself.
        $found = switch ($kind) {
            'words' { $rest.Split(',') }
            'id' { & hearth __complete $rest $wordToComplete 2>$null }
        }
    }
    $found | Where-Object { $_ -and $_.StartsWith($wordToComplete) } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
"""


def script() -> str:
    """The script, ASCII."""
    commands = list(walk(tree()))
    return (
        TEMPLATE.replace("@COMMANDS@", "".join(_children(commands)))
        .replace("@ARGUMENTS@", "".join(_arguments(commands)))
        .replace("@OPTIONS@", "".join(_options(commands)))
        .replace("@GLOBALS@", "".join(_pairs(global_specs(), indent=8)))
    )


def _children(commands: list[CommandSpec]) -> Iterator[str]:
    for command in commands:
        if command.children:
            yield _entry(command, [child.words[-1] for child in command.children])


def _arguments(commands: list[CommandSpec]) -> Iterator[str]:
    for command in commands:
        if command.arguments:
            yield _entry(command, [_taken(value) + ("+" if value.several else "") for value in command.arguments])


def _entry(command: CommandSpec, words: list[str]) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"        '{' '.join(command.words)}' = @({listed})\n"


def _options(commands: list[CommandSpec]) -> Iterator[str]:
    for command in commands:
        if command.options:
            pairs = "".join(_pairs(command.options, indent=12))
            yield f"        '{' '.join(command.words)}' = [ordered]@{{\n{pairs}        }}\n"


def _pairs(options: tuple[OptionSpec, ...], *, indent: int) -> Iterator[str]:
    seen = set()
    for option in options:
        taken = _taken(option.value) if option.value is not None else ""
        for name in option.names:
            # The keys of PowerShell's tables have no case, and -c and -C would be an error: the first one stays.
            if name.lower() not in seen:
                seen.add(name.lower())
                yield f"{' ' * indent}'{name}' = '{taken}'\n"


def _taken(value: Value) -> str:
    return f"{value.kind}:{','.join(value.words)}" if value.words else value.kind
