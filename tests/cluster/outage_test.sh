#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A cable that is cut for some seconds does not end a job, neither while ranks and launchers communicate over it, nor if
# ranks open their first connection meanwhile.
. "$(dirname "$0")/common.sh" "$1"
hosts_up 2
skip_if_pretended
serve_carriers

# Longer than the launchers' former limit (1.5 s) and than the limit of a connection attempt (5 s).
out_for_some_seconds() { cut_link h2; "$@"; sleep 7; mend_link h2; }

# outage SCRIPT WHEN_OUT...: ranks run the script, which prints "here"; the cable is cut, WHEN_OUT runs, it is restored
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
