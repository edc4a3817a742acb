#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Hosts, launchers and ranks die during a job: the whole job ends with a message that names the lost part, and nothing
# is left on any host. The program never ends by itself.
. "$(dirname "$0")/common.sh" "$1"
hosts_up 3
skip_if_pretended
all=h1:2,h2:2,h3:2
job=("$build/tests/cluster_steady" "$scratch/never")

# begin WORDS: starts a job in the background, sets $pid, and returns when all ranks have communicated.
begin() {
    : >"$scratch/out"
    job_with "" -hosts $all -n 6 "$@" "${job[@]}" >"$scratch/out" 2>"$scratch/err" </dev/null &
    pid=$!
    until grep -q running "$scratch/out"; do
        kill -0 $pid 2>/dev/null || { wrong "no job: $(cat "$scratch/err")"; break; }
        sleep 0.02
    done
}
# ended WHAT: checks that the job ends with a failure
ended() {
    what=$1
    wait $pid
    code=$? err=$(cat "$scratch/err")
    expect_failure; expect_nothing_left
}
# pids_of NAME HOST
pids_of() { for p in $(processes_on "$2"); do grep -qsx "$1" "/proc/$p/comm" && echo "$p"; done; }
ranks_on() { pids_of cluster_steady "$1"; }
no_ranks_on() {
    local k
    for ((k = 0; k < 2400; k++)); do
        [ -n "$(ranks_on "$1")" ] || return 0
        sleep 0.05
    done
    wrong "$what: ranks are left on $1"
}

for host in h1 h2 h3; do
    begin
    victim=$(ranks_on $host | head -1)
    kill -KILL "$victim"
    ended "a rank on $host killed"
    expect_err "was killed by signal 9"; expect_err "process $victim on $host"
    [ "$(grep -c "killed by\|connection" <<<"$err")" = 1 ] || wrong "$what was reported more than once: $err"
done

begin
kill -KILL $(pids_of tutti-daemon h2)
ended "the daemon on h2 killed"
expect_err h2

begin
kill -KILL $(pids_of mpiexec h1)
ended "mpiexec killed"

begin
end_processes_on h3
ended "h3 without power"
expect_err h3

for who in receiver sender; do
    job=("$build/tests/cluster_dies_in_message" $who)
    for host in h1 h3; do on_host $host tc qdisc add dev eth0 root tbf rate 100mbit burst 128kb latency 50ms; done
    run -hosts $all -n 6 "${job[@]}"
    expect_code 137; expect_err "was killed by signal 9"; expect_nothing_left
    [ "$who" = sender ] && expect_err "rank 0 was killed" || expect_err "rank 5 was killed"
    [[ $err != *"in one piece"* ]] || wrong "$err"
    for host in h1 h3; do on_host $host tc qdisc del dev eth0 root; done
done

# The data of the agent is now sent over the same cables as that of ranks.
serve_carriers
job=("$build/tests/cluster_steady" "$scratch/never")
expect_nothing_left() { no_ranks_on h1; }
begin --silence 2
cut_link h2
ended "the cable of h2 cut"
expect_err h2
no_ranks_on h3
# h2 no longer receives data, and ends its ranks.
no_ranks_on h2
mend_link h2
finish
