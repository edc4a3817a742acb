#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Three jobs run at the same time on the same hosts, two of them started from different hosts, without interference;
# also if all take their ports from one range.
. "$(dirname "$0")/common.sh" "$1"
hosts_up 2
read -r first second <<<"${hosts[*]}"
export TUTTI_PORT_RANGE=41000-41011
job() { job_with "" -hosts "$1" -n 4 -timeout 600 "$build/tests/ranks_cluster_$2"; }
job "$first:2,$second:2" subsets & pids=($!)
job "$second:2,$first:2" wildcards & pids+=($!)
job "$second:3,$first:1" roots & pids+=($!)
for pid in "${pids[@]}"; do wait "$pid" || wrong "one of three simultaneous jobs ended with $?"; done
expect_nothing_left
finish
