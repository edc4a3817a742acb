#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A cable that is out for some seconds ends no job: neither where ranks and launchers talk over it, nor where ranks call
# each other for the first time while it is out.
. "$(dirname "$0")/common.sh" "$1"
hosts_up 2
skip_if_pretended
serve_carriers

# The longest that is kept by neither the launchers' old limit (1.5 s) nor that of a first call (5 s).
out_for_some_seconds() { cut_link h2; "$@"; sleep 7; mend_link h2; }

# outage SCRIPT WHEN_OUT...: ranks run the script, which says "here"; the cable goes out, WHEN_OUT is done, and it is mended
outage() {
    local script=$1 pid
    shift
    rm -f "$scratch/go" "$scratch/over"
    job_with "" --silence 60 -hosts h1:2,h2:2 -n 4 sh -c "$script" >"$scratch/out" 2>"$scratch/err" </dev/null &
    pid=$!
    until [ "$(grep -c -e here -e running "$scratch/out")" -ge 1 ]; do
        kill -0 $pid 2>/dev/null || { wrong "no job: $(cat "$scratch/err")"; return; }
        sleep 0.02
    done
    out_for_some_seconds "$@"
    touch "$scratch/over"
    wait $pid
    code=$? what="an outage ($script)" out=$(cat "$scratch/out") err=$(cat "$scratch/err")
    expect_code 0
    [[ $out == *"all right"* ]] || wrong "$what: $out"
}

steady="$build/tests/cluster_steady $scratch/over"
outage "exec $steady" true
outage "[ \$PMI_RANK != 0 ] || echo here; until [ -e $scratch/go ]; do sleep 0.05; done; exec $steady" touch "$scratch/go"
finish
