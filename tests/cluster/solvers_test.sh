#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The applications have bitwise equal results on two hosts with four ranks each and on one host.
. "$(dirname "$0")/common.sh" "$1"
hosts_up 2
read -r first second <<<"${hosts[*]}"

# same LINES PROGRAM...: checks that these lines of its output are equal, and that it passes its own tests.
same() {
    local lines=$1 one two; shift
    run -hosts "$first:8" -n 8 "$build/bin/$@"; expect_code 0; one=$(grep -E "$lines" <<<"$out")
    for list in "$first:4,$second:4" "$second:3,$first:5"; do
        run -hosts "$list" -n 8 "$build/bin/$@"; expect_code 0; two=$(grep -E "$lines" <<<"$out")
        [ -n "$one" ] && [ "$one" = "$two" ] || wrong "$what: '$two' instead of '$one'"
        [[ $out == *PASSED* ]] || wrong "$what: $out"
    done
}
same '^(iterations|checksum) ' tutti-cg --dots blocking --unknowns 15 --solves 1
same '^(iterations|checksum) ' tutti-cg --dots pipelined --unknowns 15 --solves 1
same checksum tutti-stencil --quiet --verify --steps 4 --levels 2 --cells 4
expect_nothing_left
finish
