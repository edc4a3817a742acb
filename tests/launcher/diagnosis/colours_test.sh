#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Reports have colours only on terminals, and not with NO_COLOR or TERM=dumb.
. "$(dirname "$0")/../common.sh" "$1"
on_terminal=$build/tests/launcher_on_terminal
unset NO_COLOR
export TERM=xterm
colours() { # ENVIRONMENT...: whether a report of ranks that leave is coloured on a terminal
    timeout "$limit_s" "$on_terminal" env "$@" "$mpiexec" -n 2 "$rank" init exit 3 < /dev/null > "$folder/screen"
    grep -q "T09" "$folder/screen" || wrong "no report: $(< "$folder/screen")"
    grep -q $'\033\\[' "$folder/screen"
}
colours A=b || wrong "no colours on a terminal: $(< "$folder/screen")"
colours NO_COLOR= || wrong "an empty NO_COLOR switched the colours off"
colours NO_COLOR=1 && wrong "colours in spite of NO_COLOR: $(< "$folder/screen")"
colours TERM=dumb && wrong "colours in spite of TERM=dumb: $(< "$folder/screen")"
run -n 2 "$rank" init exit 3; expect_code 3; expect_err T09
[[ "$err" != *$'\033'* ]] || wrong "colours in a file: $err"
finish
