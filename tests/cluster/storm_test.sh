#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A million invalid frames are sent to the ports of a running job, from another host and from its own: no connection is
# accepted, ranks use few connections and little memory for them, and the job continues with correct results.
. "$(dirname "$0")/common.sh" "$1"
hosts_up 3
read -r first second third <<<"${hosts[*]}"
to=(10.77.0.1 10.77.0.2 fd77::1 fd77::2)
[ -z "$pretended" ] || to=(127.0.0.1 ::1)
most_growth=$((32 << 10)) most_sockets=200   # KiB; sockets of foreign connections and of the job

settings=TUTTI_PORT_RANGE=42000-42003
job_with $settings -hosts "$first:2,$second:2" -n 4 "$build/tests/cluster_steady" "$scratch/enough" \
    >"$scratch/out" 2>"$scratch/err" </dev/null &
job=$!
until grep -q running "$scratch/out"; do
    kill -0 $job 2>/dev/null || { wrong "no job: $(cat "$scratch/err")"; finish; }
    sleep 0.05
done
ranks=()
for environment in /proc/[0-9]*/environ; do
    pid=${environment//[!0-9]/}
    grep -qza "^TUTTI_SEGMENT_FD=" "$environment" 2>/dev/null && grep -qa "$scratch/enough" "/proc/$pid/cmdline" &&
        grep -qa cluster_steady "/proc/$pid/comm" && ranks+=("$pid")
done
[ "${#ranks[@]}" = 4 ] || wrong "ranks ${ranks[*]} instead of four"
memory_of() { awk '/^VmRSS/ {print $2}' "/proc/$1/status"; }
for pid in "${ranks[@]}"; do before[pid]=$(memory_of "$pid"); done

on_host "$third" "$build/tests/cluster_storm" 600000 1 42000 42003 "${to[@]}" >"$scratch/storm3" & storms=($!)
on_host "$first" "$build/tests/cluster_storm" 400000 2 42000 42003 "${to[@]}" >"$scratch/storm1" & storms+=($!)
worst=0
while kill -0 "${storms[0]}" 2>/dev/null || kill -0 "${storms[1]}" 2>/dev/null; do
    for pid in "${ranks[@]}"; do
        sockets=$(find "/proc/$pid/fd" -lname 'socket:*' 2>/dev/null | wc -l)
        [ "$sockets" -le "$worst" ] || worst=$sockets
    done
    sleep 0.2
done
for storm in "${storms[@]}"; do wait "$storm" || wrong "a foreign connection was accepted"; done
cat "$scratch"/storm?
awk '{sum += $1} END {exit !(sum >= 1000000)}' "$scratch"/storm? || wrong "fewer frames than expected were sent"
[ "$worst" -le $most_sockets ] || wrong "a rank had $worst sockets at the same time"
for pid in "${ranks[@]}"; do
    grown=$(($(memory_of "$pid") - before[pid]))
    [ "$grown" -le $most_growth ] || wrong "a rank has grown by $grown KiB"
    echo "process $pid: $grown KiB more, at most $worst sockets at once"
done

touch "$scratch/enough"
wait $job || wrong "the job ended with $?: $(cat "$scratch/err")"
grep -q "rounds, all right" "$scratch/out" || wrong "the job printed: $(cat "$scratch/out")"
cat "$scratch/out"
expect_nothing_left
finish
