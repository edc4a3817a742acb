#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Values that are too large are refused immediately, with their bound; mpiexec can be ended during the start.
. "$(dirname "$0")/../common.sh" "$1"

run -n 5000 "$rank"; expect_code 1; [ "$(wc -l < "$folder/err")" = 1 ] || wrong "$what printed $(wc -l < "$folder/err") lines"
expect_err "5000 ranks on one node exceed the maximum of 3072"

for machine in socket:10000 "socket:2 numa:100 core:100" /dev/zero; do
    reason="more than 4096 processing units"; [ "$machine" = /dev/zero ] && reason="it is a device or a pipe"
    TUTTI_TOPOLOGY=$machine run -n 2 "$rank"; expect_code 2; expect_err "$machine"; expect_err "$reason"
    TUTTI_TOPOLOGY=$machine run -n 2 --show-hierarchy; expect_code 2; expect_err "$reason"
    TUTTI_TOPOLOGY=$machine "$build/bin/tutti-tune" --dry-run > "$folder/out" 2> "$folder/err"
    [ $? = 2 ] && grep -q "$reason" "$folder/err" || wrong "tutti-tune on $machine: $(cat "$folder/err")"
done

# SIGTERM while ranks are being started: started ranks end, the others are not started, no process is left
"$mpiexec" -n 2000 sleep "$nap" > "$folder/out" 2> "$folder/err" & pid=$!
wait_until sleepers > /dev/null
kill "$pid"; ended "$pid" "mpiexec that got SIGTERM while it started" 143
expect_nothing_left
finish
