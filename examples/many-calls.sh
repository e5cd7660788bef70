#!/bin/sh
# Many calls in one process: a request a line in, an answer a line out. Prints the id of each call that failed.
#     sh many-calls.sh < many-calls.ndjson
set -eu
status=0
answers=$(hearth call --batch --ordered) || status=$?
printf '%s\n' "$answers" | sed -n '/"exit_status": 0/!s/^{"id": "\([^"]*\)".*/failed: \1/p'
echo "$(printf '%s\n' "$answers" | wc -l | tr -d ' ') answers"
exit "$status"
