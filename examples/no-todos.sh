#!/bin/sh
# A gate for CI: list what is still to do, and fail if there is anything.
#     sh no-todos.sh [FOLDER]
set -eu
found=$(hearth fs search 'TODO' "${1:-.}")
if [ -n "$found" ]; then
    printf 'still to do:\n%s\n' "$found"
    exit 1
fi
echo 'nothing left to do'
