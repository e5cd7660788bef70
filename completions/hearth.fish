# Completion of hearth in fish; `hearth completion show fish` makes it anew.

# The words typed so far, without options and what they take.
function __hearth_words
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip -eq 1
            set skip 0
        else if contains -- $word --data-dir --config --root --run --conversation -d --depth -g --glob --globs --kind --kinds -n --limit --cursor --timeout-ms --timeout --in --path --min-bytes --min --max-bytes --max --modified-after --modified-before --max-entries --offset --lines --head --tail --encoding --where -C --context -t --type --types -m --max-count --max-output-bytes --max-output --max-file-bytes --max-file --count --data --from --from-file --line-ends --expected-sha256 --group --old --new --replacements --insert --replace --delete --diff --fuzz --since --until --caller --add --remove --param --jobs --shell
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
complete -c hearth -l json -d 'Answer with one JSON document.'
complete -c hearth -l ndjson -d 'Answer with one JSON line an item.'
complete -c hearth -s q -l quiet -d 'Print no result.'
complete -c hearth -l verbose -d 'Log to standard error.'
complete -c hearth -l data-dir -x -a '(__fish_complete_directories)' -d 'Where the database and the backups lie.'
complete -c hearth -l config -r -F -d 'Read settings from this file only.'
complete -c hearth -l root -x -a '(__fish_complete_directories)' -d 'Act below this directory (repeatable).'
complete -c hearth -l run -x -d 'The run that changes belong to.'
complete -c hearth -l conversation -x -d 'The conversation that this call belongs to.'
complete -c hearth -l no-color -d 'Print without colour.'
complete -c hearth -s h -l help -d 'Show this message and exit.'
complete -c hearth -n '__hearth_at 0' -a fs -d 'Files and directories, inside the roots.'
complete -c hearth -n '__hearth_at 0' -a doctor -d 'Say what is right and wrong here, and what to do about it.'
complete -c hearth -n '__hearth_at 0' -a config -d 'Settings: show, change, check, trust.'
complete -c hearth -n '__hearth_at 0' -a db -d 'The database: where it is, what is in it, backups.'
complete -c hearth -n '__hearth_at 0' -a gc -d 'Remove events, receipts and backups that are no longer kept.'
complete -c hearth -n '__hearth_at 0' -a call -d 'Call an operation with JSON, or many in a batch.'
complete -c hearth -n '__hearth_at 0' -a operations -d 'List every operation: what it does and where it can be reached.'
complete -c hearth -n '__hearth_at 0' -a schema -d 'Show the JSON Schemas of an operation\'s input and result.'
complete -c hearth -n '__hearth_at 0' -a demo -d 'Take a tour: real operations in a temporary folder.'
complete -c hearth -n '__hearth_at 0' -a completion -d 'Completion of words at the shell.'
complete -c hearth -n '__hearth_at any' -l version -d 'Say which hearth this is.'
complete -c hearth -n '__hearth_at 0 fs' -a list -d 'List what a directory holds.'
complete -c hearth -n '__hearth_at 0 fs' -a find -d 'Find names in a tree.'
complete -c hearth -n '__hearth_at 0 fs' -a read -d 'Read files, or parts of them.'
complete -c hearth -n '__hearth_at 0 fs' -a search -d 'Search files for a text or an expression.'
complete -c hearth -n '__hearth_at 0 fs' -a stat -d 'Say what stands under a path.'
complete -c hearth -n '__hearth_at 0 fs' -a watch -d 'Watch a tree and tell what changes.'
complete -c hearth -n '__hearth_at 0 fs' -a hash -d 'Hash many files with SHA-256.'
complete -c hearth -n '__hearth_at 0 fs' -a write -d 'Write a file, whole or at its end.'
complete -c hearth -n '__hearth_at 0 fs' -a patch -d 'Change parts of text files: words, lines, or what a unified diff says.'
complete -c hearth -n '__hearth_at 0 fs' -a mkdir -d 'Make a directory.'
complete -c hearth -n '__hearth_at 0 fs' -a move -d 'Move or rename a file, link or directory.'
complete -c hearth -n '__hearth_at 0 fs' -a copy -d 'Copy a file, link or directory.'
complete -c hearth -n '__hearth_at 0 fs' -a delete -d 'Delete a file, link or directory.'
complete -c hearth -n '__hearth_at 0 fs' -a chmod -d 'Change permission bits.'
complete -c hearth -n '__hearth_at 0 fs' -a undo -d 'Take changes back.'
complete -c hearth -n '__hearth_at 0 fs' -a redo -d 'Make undone changes again.'
complete -c hearth -n '__hearth_at 0 fs' -a history -d 'List changes, the newest first.'
complete -c hearth -n '__hearth_at any fs list' -s d -l depth -x -d 'Levels to show; 1 is the directory alone.'
complete -c hearth -n '__hearth_at any fs list' -s g -l glob -l globs -x -d 'Show what matches: `*` stays in a level, `**` crosses, `!` takes out; without a slash any name.'
complete -c hearth -n '__hearth_at any fs list' -l kind -l kinds -x -a 'file directory link fifo socket device' -d 'Show these kinds only.'
complete -c hearth -n '__hearth_at any fs list' -l hidden -l no-hidden -d 'Show names that start with a dot.'
complete -c hearth -n '__hearth_at any fs list' -l ignored -l no-ignored -d 'Show what .gitignore files leave out.'
complete -c hearth -n '__hearth_at any fs list' -s n -l limit -x -d 'Most entries in one answer.'
complete -c hearth -n '__hearth_at any fs list' -l cursor -x -d 'Go on where the answer with this next_cursor ended.'
complete -c hearth -n '__hearth_at any fs list' -l totals -l no-totals -d 'Count and add up everything below the depth, not only this page.'
complete -c hearth -n '__hearth_at any fs list' -l timeout-ms -x -d 'Stop after this time with what was found.'
complete -c hearth -n '__hearth_at any fs list' -l timeout -x -d 'Stop after this time with what was found.'
complete -c hearth -n '__hearth_at 0 fs list' -r -F
complete -c hearth -n '__hearth_at any fs find' -l in -l path -r -F -d 'Where to look.'
complete -c hearth -n '__hearth_at any fs find' -l regex -x -d 'An expression (RE2) that is found in the name.'
complete -c hearth -n '__hearth_at any fs find' -l kind -l kinds -x -a 'file directory link fifo socket device' -d 'Find these kinds only.'
complete -c hearth -n '__hearth_at any fs find' -l min-bytes -x -d 'Files of at least this size.'
complete -c hearth -n '__hearth_at any fs find' -l min -x -d 'Files of at least this size.'
complete -c hearth -n '__hearth_at any fs find' -l max-bytes -x -d 'Files of at most this size.'
complete -c hearth -n '__hearth_at any fs find' -l max -x -d 'Files of at most this size.'
complete -c hearth -n '__hearth_at any fs find' -l modified-after -x -d 'Changed at or after this time, ISO 8601 with Z.'
complete -c hearth -n '__hearth_at any fs find' -l modified-before -x -d 'Changed before this time, ISO 8601 with Z.'
complete -c hearth -n '__hearth_at any fs find' -s d -l depth -x -d 'Levels to go down.'
complete -c hearth -n '__hearth_at any fs find' -l hidden -l no-hidden -d 'Go through names that start with a dot.'
complete -c hearth -n '__hearth_at any fs find' -l ignored -l no-ignored -d 'Go through what .gitignore files leave out.'
complete -c hearth -n '__hearth_at any fs find' -s n -l limit -x -d 'Most names in one answer.'
complete -c hearth -n '__hearth_at any fs find' -l max-entries -x -d 'Stop after looking at so many names.'
complete -c hearth -n '__hearth_at any fs find' -l timeout-ms -x -d 'Stop after this time with what was found.'
complete -c hearth -n '__hearth_at any fs find' -l timeout -x -d 'Stop after this time with what was found.'
complete -c hearth -n '__hearth_at any fs read' -l offset -x -d 'Begin at this byte; moved back to where its character begins.'
complete -c hearth -n '__hearth_at any fs read' -l limit -x -d 'Bytes to give at most; never half a character.'
complete -c hearth -n '__hearth_at any fs read' -l lines -x -d 'Lines FIRST:LAST, from 1, both included.'
complete -c hearth -n '__hearth_at any fs read' -l head -x -d 'The first lines.'
complete -c hearth -n '__hearth_at any fs read' -l tail -x -d 'The last lines.'
complete -c hearth -n '__hearth_at any fs read' -s N -l number -l no-number -d 'Put its number before each line.'
complete -c hearth -n '__hearth_at any fs read' -l encoding -x -d 'What the text is stored as; else it is found out. base64 gives the bytes.'
complete -c hearth -n '__hearth_at any fs read' -l replace-invalid -l no-replace-invalid -d 'Show U+FFFD for bytes that are no text, instead of refusing them.'
complete -c hearth -n '__hearth_at any fs read' -l sha256 -l no-sha256 -d 'Hash the whole file, however large.'
complete -c hearth -n '__hearth_at 0+ fs read' -r -F
complete -c hearth -n '__hearth_at any fs search' -l in -l where -x -a 'content name' -d 'Look into files, or at their names.'
complete -c hearth -n '__hearth_at any fs search' -s E -l regex -l no-regex -d 'The query is an expression (RE2).'
complete -c hearth -n '__hearth_at any fs search' -s i -l ignore-case -l no-ignore-case -d 'Take upper and lower case for the same.'
complete -c hearth -n '__hearth_at any fs search' -s w -l word -l no-word -d 'Find whole words only.'
complete -c hearth -n '__hearth_at any fs search' -s C -l context -x -d 'Lines to show before and after.'
complete -c hearth -n '__hearth_at any fs search' -s g -l glob -l globs -x -d 'Which files: `*` stays in a level, `**` crosses, `!` takes out; without a slash at any depth.'
complete -c hearth -n '__hearth_at any fs search' -s t -l type -l types -x -d 'Kinds of files, such as py, js, md.'
complete -c hearth -n '__hearth_at any fs search' -l hidden -l no-hidden -d 'Look into names that start with a dot.'
complete -c hearth -n '__hearth_at any fs search' -l ignored -l no-ignored -d 'Look into what .gitignore files leave out.'
complete -c hearth -n '__hearth_at any fs search' -l binary -l no-binary -d 'Look into files that are no text.'
complete -c hearth -n '__hearth_at any fs search' -s m -l max-count -x -d 'Most lines of one file.'
complete -c hearth -n '__hearth_at any fs search' -s n -l limit -x -d 'Most lines in one answer.'
complete -c hearth -n '__hearth_at any fs search' -l max-output-bytes -x -d 'Most bytes of text; else the setting of that name.'
complete -c hearth -n '__hearth_at any fs search' -l max-output -x -d 'Most bytes of text; else the setting of that name.'
complete -c hearth -n '__hearth_at any fs search' -l max-file-bytes -x -d 'Leave out larger files.'
complete -c hearth -n '__hearth_at any fs search' -l max-file -x -d 'Leave out larger files.'
complete -c hearth -n '__hearth_at any fs search' -l max-entries -x -d 'Look at so many names at most.'
complete -c hearth -n '__hearth_at any fs search' -l timeout-ms -x -d 'Stop after this time with what was found.'
complete -c hearth -n '__hearth_at any fs search' -l timeout -x -d 'Stop after this time with what was found.'
complete -c hearth -n '__hearth_at 1 fs search' -r -F
complete -c hearth -n '__hearth_at any fs stat' -l follow -l no-follow -d 'Follow a link at the end of the path.'
complete -c hearth -n '__hearth_at any fs stat' -l sha256 -l no-sha256 -d 'Hash the whole content too.'
complete -c hearth -n '__hearth_at 0 fs stat' -r -F
complete -c hearth -n '__hearth_at any fs watch' -s g -l glob -l globs -x -d 'Which paths: `*` stays in a level, `**` crosses, `!` takes out; without a slash at any depth.'
complete -c hearth -n '__hearth_at any fs watch' -l hidden -l no-hidden -d 'Watch names that start with a dot, too.'
complete -c hearth -n '__hearth_at any fs watch' -l ignored -l no-ignored -d 'Watch what .gitignore files leave out, too.'
complete -c hearth -n '__hearth_at any fs watch' -s n -l count -x -d 'End after so many changes; 1,000 in one answer.'
complete -c hearth -n '__hearth_at any fs watch' -l timeout-ms -x -d 'End after this time; 30 s in one answer, never at the shell.'
complete -c hearth -n '__hearth_at any fs watch' -l timeout -x -d 'End after this time; 30 s in one answer, never at the shell.'
complete -c hearth -n '__hearth_at 0 fs watch' -r -F
complete -c hearth -n '__hearth_at any fs hash' -s r -l recursive -l no-recursive -d 'Hash every file below a directory.'
complete -c hearth -n '__hearth_at any fs hash' -s g -l glob -l globs -x -d 'Which files of a directory: `*` stays in a level, `**` crosses, `!` takes out.'
complete -c hearth -n '__hearth_at any fs hash' -l hidden -l no-hidden -d 'Hash names that start with a dot, too.'
complete -c hearth -n '__hearth_at any fs hash' -l ignored -l no-ignored -d 'Hash what .gitignore files leave out, too.'
complete -c hearth -n '__hearth_at any fs hash' -s n -l limit -x -d 'Most files in one answer.'
complete -c hearth -n '__hearth_at any fs hash' -l timeout-ms -x -d 'Stop after this time with what is done.'
complete -c hearth -n '__hearth_at any fs hash' -l timeout -x -d 'Stop after this time with what is done.'
complete -c hearth -n '__hearth_at 0+ fs hash' -r -F
complete -c hearth -n '__hearth_at any fs write' -l data -x -d 'The content; without it and --from, standard input.'
complete -c hearth -n '__hearth_at any fs write' -l from -l from-file -r -F -d 'A file that holds the content.'
complete -c hearth -n '__hearth_at any fs write' -l encoding -x -d 'What the text is stored as (utf-8, utf-16-le, ...), or base64 for bytes.'
complete -c hearth -n '__hearth_at any fs write' -l bom -l no-bom -d 'Begin with a byte order mark.'
complete -c hearth -n '__hearth_at any fs write' -l line-ends -x -a 'lf crlf' -d 'End every line this way; by default lines stay as given.'
complete -c hearth -n '__hearth_at any fs write' -l append -l no-append -d 'Add to the end of the file, in place.'
complete -c hearth -n '__hearth_at any fs write' -l create-only -l no-create-only -d 'Refuse a file that exists.'
complete -c hearth -n '__hearth_at any fs write' -l expected-sha256 -x -d 'Refuse another content than this; "absent": refuse a file that exists.'
complete -c hearth -n '__hearth_at any fs write' -l parents -l no-parents -d 'Make missing directories.'
complete -c hearth -n '__hearth_at any fs write' -l permanent -l no-permanent -d 'Write even where the old content is too large to be kept for undo.'
complete -c hearth -n '__hearth_at any fs write' -l group -x -d 'The change set that this belongs to, for undo.'
complete -c hearth -n '__hearth_at any fs write' -l dry-run -l no-dry-run -d 'Only say what would happen.'
complete -c hearth -n '__hearth_at 0 fs write' -r -F
complete -c hearth -n '__hearth_at any fs patch' -l old -x -d 'The words to replace; several --old and --new go in pairs.'
complete -c hearth -n '__hearth_at any fs patch' -l new -x -d 'What comes instead of old; with --regex, \\1 is a group.'
complete -c hearth -n '__hearth_at any fs patch' -l count -x -d 'How often each old must match; 0: at least once, and all are replaced.'
complete -c hearth -n '__hearth_at any fs patch' -l regex -l no-regex -d 'Take old as an RE2 pattern; ^ and $ match at lines.'
complete -c hearth -n '__hearth_at any fs patch' -l ignore-whitespace -l no-ignore-whitespace -d 'Let any run of blanks match any other.'
complete -c hearth -n '__hearth_at any fs patch' -l line-ends -x -a 'file given' -d 'By file, new lines end as the file\'s do and old matches any; by given, all is taken exactly.'
complete -c hearth -n '__hearth_at any fs patch' -l replacements -x -d 'Replacements in order, each in what the ones before left.'
complete -c hearth -n '__hearth_at any fs patch' -l insert -x -d 'Add lines behind a line (0: at the start); numbers are those of the file before any change.'
complete -c hearth -n '__hearth_at any fs patch' -l replace -x -d 'Replace lines, such as 3:5:text.'
complete -c hearth -n '__hearth_at any fs patch' -l delete -x -d 'Delete lines, such as 3:5.'
complete -c hearth -n '__hearth_at any fs patch' -l diff -x -d 'A unified diff, which may make, change, rename and remove several files.'
complete -c hearth -n '__hearth_at any fs patch' -l fuzz -x -d 'Lines of context at each end of a hunk that may differ.'
complete -c hearth -n '__hearth_at any fs patch' -l encoding -x -d 'What the file is stored as; by default its bytes tell.'
complete -c hearth -n '__hearth_at any fs patch' -l expected-sha256 -x -d 'Refuse a file with another content than this.'
complete -c hearth -n '__hearth_at any fs patch' -l permanent -l no-permanent -d 'Change even a file that is too large to be kept for undo.'
complete -c hearth -n '__hearth_at any fs patch' -l group -x -d 'The change set that this belongs to, for undo.'
complete -c hearth -n '__hearth_at any fs patch' -l dry-run -l no-dry-run -d 'Change nothing; the diff tells what would happen.'
complete -c hearth -n '__hearth_at 0 fs patch' -r -F
complete -c hearth -n '__hearth_at any fs mkdir' -s p -l parents -l no-parents -d 'Make missing directories on the way; one that exists is fine.'
complete -c hearth -n '__hearth_at any fs mkdir' -l group -x -d 'The change set that this belongs to, for undo.'
complete -c hearth -n '__hearth_at any fs mkdir' -l dry-run -l no-dry-run -d 'Only say what would happen.'
complete -c hearth -n '__hearth_at 0 fs mkdir' -r -F
complete -c hearth -n '__hearth_at any fs move' -l overwrite -l no-overwrite -d 'Replace a file that stands there; undo brings it back.'
complete -c hearth -n '__hearth_at any fs move' -l parents -l no-parents -d 'Make missing directories.'
complete -c hearth -n '__hearth_at any fs move' -l group -x -d 'The change set that this belongs to, for undo.'
complete -c hearth -n '__hearth_at any fs move' -l dry-run -l no-dry-run -d 'Only say what would happen.'
complete -c hearth -n '__hearth_at 0 fs move' -r -F
complete -c hearth -n '__hearth_at 1 fs move' -r -F
complete -c hearth -n '__hearth_at any fs copy' -s r -l recursive -l no-recursive -d 'Copy a directory with everything below it.'
complete -c hearth -n '__hearth_at any fs copy' -l follow -l no-follow -d 'Copy what a link at the end of the path leads to, not the link.'
complete -c hearth -n '__hearth_at any fs copy' -l overwrite -l no-overwrite -d 'Replace the content of a file that stands there; undo brings it back.'
complete -c hearth -n '__hearth_at any fs copy' -l parents -l no-parents -d 'Make missing directories.'
complete -c hearth -n '__hearth_at any fs copy' -l group -x -d 'The change set that this belongs to, for undo.'
complete -c hearth -n '__hearth_at any fs copy' -l dry-run -l no-dry-run -d 'Only say what would happen.'
complete -c hearth -n '__hearth_at 0 fs copy' -r -F
complete -c hearth -n '__hearth_at 1 fs copy' -r -F
complete -c hearth -n '__hearth_at any fs delete' -s r -l recursive -l no-recursive -d 'Delete a directory with everything below it.'
complete -c hearth -n '__hearth_at any fs delete' -l permanent -l no-permanent -d 'Keep nothing for undo.'
complete -c hearth -n '__hearth_at any fs delete' -l expected-sha256 -x -d 'Refuse another content than this; "absent": refuse a file that exists.'
complete -c hearth -n '__hearth_at any fs delete' -l group -x -d 'The change set that this belongs to, for undo.'
complete -c hearth -n '__hearth_at any fs delete' -l dry-run -l no-dry-run -d 'Only say what would happen.'
complete -c hearth -n '__hearth_at 0 fs delete' -r -F
complete -c hearth -n '__hearth_at any fs chmod' -l group -x -d 'The change set that this belongs to, for undo.'
complete -c hearth -n '__hearth_at any fs chmod' -l dry-run -l no-dry-run -d 'Only say what would happen.'
complete -c hearth -n '__hearth_at 1 fs chmod' -r -F
complete -c hearth -n '__hearth_at any fs undo' -l last -l no-last -d 'The newest change that is not undone.'
complete -c hearth -n '__hearth_at any fs undo' -l group -x -d 'All changes of this change set or run.'
complete -c hearth -n '__hearth_at any fs undo' -l dry-run -l no-dry-run -d 'Only say what would happen.'
complete -c hearth -n '__hearth_at 0 fs undo' -x -a '(hearth __complete receipt (commandline -ct) 2>/dev/null)'
complete -c hearth -n '__hearth_at any fs redo' -l last -l no-last -d 'The newest undo.'
complete -c hearth -n '__hearth_at any fs redo' -l group -x -d 'All undone changes of this change set or run.'
complete -c hearth -n '__hearth_at any fs redo' -l dry-run -l no-dry-run -d 'Only say what would happen.'
complete -c hearth -n '__hearth_at 0 fs redo' -x -a '(hearth __complete receipt (commandline -ct) 2>/dev/null)'
complete -c hearth -n '__hearth_at any fs history' -l since -x -d 'Not older than this time: ISO 8601 with Z or an offset.'
complete -c hearth -n '__hearth_at any fs history' -l until -x -d 'Not newer than this time.'
complete -c hearth -n '__hearth_at any fs history' -l caller -x -a 'shell batch mcp recipe' -d 'Only calls that came this way.'
complete -c hearth -n '__hearth_at any fs history' -l group -x -d 'Only this change set or run.'
complete -c hearth -n '__hearth_at any fs history' -s n -l limit -x -d 'Most receipts in an answer.'
complete -c hearth -n '__hearth_at any fs history' -l cursor -x -d 'Go on after an earlier answer\'s `next_cursor`.'
complete -c hearth -n '__hearth_at 0 fs history' -r -F
complete -c hearth -n '__hearth_at 0 config' -a show -d 'Show every setting.'
complete -c hearth -n '__hearth_at 0 config' -a get -d 'Print one setting\'s value.'
complete -c hearth -n '__hearth_at 0 config' -a set -d 'Set a setting in the nearest project\'s file, else the user\'s.'
complete -c hearth -n '__hearth_at 0 config' -a unset -d 'Take a setting out of a file.'
complete -c hearth -n '__hearth_at 0 config' -a roots -d 'List, add or remove the directories below which hearth may act.'
complete -c hearth -n '__hearth_at 0 config' -a path -d 'Show which files settings come from.'
complete -c hearth -n '__hearth_at 0 config' -a check -d 'Say what is wrong with the settings.'
complete -c hearth -n '__hearth_at 0 config' -a trust -d 'Let a project\'s hearth.toml, as it is now, do more than narrow.'
complete -c hearth -n '__hearth_at 0 config' -a import -d 'Take over the settings of hearth v0.'
complete -c hearth -n '__hearth_at any config show' -l origin -l no-origin -d 'Say where each value stands.'
complete -c hearth -n '__hearth_at any config set' -l user -l no-user -d 'Write the user\'s file, not the nearest project\'s.'
complete -c hearth -n '__hearth_at any config set' -l project -l no-project -d 'Write the project\'s file; it is made here where there is none.'
complete -c hearth -n '__hearth_at any config unset' -l user -l no-user -d 'Change the user\'s file, not the nearest project\'s.'
complete -c hearth -n '__hearth_at any config unset' -l project -l no-project -d 'Change the project\'s file.'
complete -c hearth -n '__hearth_at any config roots' -l add -x -d 'Directories to add.'
complete -c hearth -n '__hearth_at any config roots' -l remove -x -d 'Roots to take away; the directories stay.'
complete -c hearth -n '__hearth_at any config roots' -l read-only -l no-read-only -d 'What is added may only be read.'
complete -c hearth -n '__hearth_at any config roots' -l user -l no-user -d 'Change the user\'s file, not the nearest project\'s.'
complete -c hearth -n '__hearth_at any config roots' -l project -l no-project -d 'Change the project\'s file; it is made here where there is none.'
complete -c hearth -n '__hearth_at any config trust' -l revoke -l no-revoke -d 'Take the trust back.'
complete -c hearth -n '__hearth_at 0 config trust' -r -F
complete -c hearth -n '__hearth_at any config import' -l user -l no-user -d 'Write the user\'s file, not the nearest project\'s.'
complete -c hearth -n '__hearth_at any config import' -l project -l no-project -d 'Write the project\'s file; it is made here where there is none.'
complete -c hearth -n '__hearth_at 0 config import' -r -F
complete -c hearth -n '__hearth_at 0 db' -a path -d 'Say where the database is.'
complete -c hearth -n '__hearth_at 0 db' -a tables -d 'List the tables with their rows and bytes.'
complete -c hearth -n '__hearth_at 0 db' -a schema -d 'Print the statements that make the tables.'
complete -c hearth -n '__hearth_at 0 db' -a query -d 'Run a SELECT; nothing else gets through.'
complete -c hearth -n '__hearth_at 0 db' -a backup -d 'Copy the database into a new file while others use it.'
complete -c hearth -n '__hearth_at 0 db' -a vacuum -d 'Give free pages back to the disk.'
complete -c hearth -n '__hearth_at 0 db' -a check -d 'Say whether the database is whole.'
complete -c hearth -n '__hearth_at any db query' -l param -x -d 'A parameter\'s value, as text.'
complete -c hearth -n '__hearth_at any db query' -l limit -x -d 'Most rows.'
complete -c hearth -n '__hearth_at any db query' -l timeout-ms -x -d 'How long the query may run.'
complete -c hearth -n '__hearth_at any db query' -l timeout -x -d 'How long the query may run.'
complete -c hearth -n '__hearth_at 0 db backup' -r -F
complete -c hearth -n '__hearth_at any db check' -l full -l no-full -d 'Compare every index with its table, too; slow on a large database.'
complete -c hearth -n '__hearth_at any gc' -l dry-run -l no-dry-run -d 'Only tell what would go.'
complete -c hearth -n '__hearth_at any call' -l batch -l no-batch -d 'Read one request a line from standard input, write one answer a line.'
complete -c hearth -n '__hearth_at any call' -l jobs -x -d 'How many calls of a batch run at once.'
complete -c hearth -n '__hearth_at any call' -l ordered -l no-ordered -d 'Answer a batch in the order of its requests.'
complete -c hearth -n '__hearth_at 0 call' -x -a 'fs.list fs.find fs.read fs.search fs.stat fs.watch fs.hash fs.write fs.patch fs.mkdir fs.move fs.copy fs.delete fs.chmod fs.undo fs.redo fs.history self.doctor self.config_show self.config_get self.config_set self.config_unset self.config_roots self.config_path self.config_check self.config_trust self.config_import self.db_path self.db_tables self.db_schema self.db_query self.db_backup self.db_vacuum self.db_check self.gc'
complete -c hearth -n '__hearth_at 0 operations' -x -a 'fs self'
complete -c hearth -n '__hearth_at 0 schema' -x -a 'fs.list fs.find fs.read fs.search fs.stat fs.watch fs.hash fs.write fs.patch fs.mkdir fs.move fs.copy fs.delete fs.chmod fs.undo fs.redo fs.history self.doctor self.config_show self.config_get self.config_set self.config_unset self.config_roots self.config_path self.config_check self.config_trust self.config_import self.db_path self.db_tables self.db_schema self.db_query self.db_backup self.db_vacuum self.db_check self.gc'
complete -c hearth -n '__hearth_at any demo' -l keep -l no-keep -d 'Leave the folder, to go on in it.'
complete -c hearth -n '__hearth_at 0 completion' -a show -d 'Print the completion script of a shell.'
complete -c hearth -n '__hearth_at 0 completion' -a install -d 'Write the completion script where the shell looks for it.'
complete -c hearth -n '__hearth_at 0 completion show' -x -a 'bash zsh fish powershell'
complete -c hearth -n '__hearth_at any completion install' -l shell -x -a 'bash zsh fish powershell' -d 'The shell; without it the one that SHELL names, PowerShell on Windows.'
