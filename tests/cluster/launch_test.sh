#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Failures while a job starts on several hosts: the message names the host, and nothing is left on any host. Programs
# and agents that must be ended would run forever.
. "$(dirname "$0")/common.sh" "$1"
hosts_up 3
read -r first second third <<<"${hosts[*]}"
program=("$build/tests/launcher_rank" init finalise)
pair=$first:2,$second:2
# mpiexec starts no agent for its own host.
asked=$second
[ -z "$pretended" ] || asked=$first

run -hosts "$pair" -n 4 "${program[@]}"; expect_code 0; expect_err ""
run -hosts "$second:1,$third:2" -n 3 "${program[@]}"; expect_code 0
[ -n "$pretended" ] || { run -hosts "$pair" -n 4 hostname; expect_code 0; expect_lines $'h1\nh1\nh2\nh2'; }

# Ranks of simulated hosts on one machine are in one session, because a yield releases the core only within a session.
run -hosts "$first:1,$second:1" -n 2 sh -c 'ps -o sid= -p $$'; expect_code 0
[ "$(wc -l <<<"$out")" = 2 ] && [ "$(sort -u <<<"$out" | wc -l)" = 1 ] || wrong "the sessions of two ranks are $out"

# an unknown host, as the first, the last, or the only one
for list in "$pair,nowhere:1" "nowhere:1,$pair" nowhere; do
    run -hosts "$list" -n 5 "${program[@]}"; expect_failure; expect_err "node nowhere could not be reached"
done

# an agent that hangs, ends immediately, prints garbage, or is not a program
own_agent() { printf '#!/bin/sh\n%s\n' "$1" >"$scratch/own"; chmod +x "$scratch/own"; }
with_own_agent() { agent=$scratch/own run "$@"; }
own_agent "exec sleep infinity"
with_own_agent --start-timeout 1 -hosts "$pair" -n 4 "${program[@]}"; expect_failure
expect_err "node $asked has not answered within 1 s"
own_agent 'echo "permission denied" >&2; exit 255'
with_own_agent -hosts "$pair" -n 4 "${program[@]}"; expect_failure; expect_err "$asked"; expect_err "permission denied"
own_agent 'cat /dev/urandom'
with_own_agent --start-timeout 2 -hosts "$pair" -n 4 "${program[@]}"; expect_failure; expect_err "$asked"
agent=/no/such/agent run -hosts "$pair" -n 4 "${program[@]}"; expect_failure; expect_err /no/such/agent
# an agent that prints a login message
own_agent "echo 'Welcome to this host!'; exec $agent \"\$@\""
with_own_agent -hosts "$pair" -n 4 "${program[@]}"; expect_code 0

# fewer ports than ranks on a host, and as many
settings=TUTTI_PORT_RANGE=40000-40001 run -hosts "$first:2,$second:3" -n 5 "${program[@]}"
expect_failure; expect_err TUTTI_PORT_RANGE
[ -n "$pretended" ] || expect_err "$second"
settings=TUTTI_PORT_RANGE=40000-40007 run -hosts "$pair" -n 4 "${program[@]}"; expect_code 0

# a program that exists on some hosts only
printf '#!/bin/sh\n[ "$(hostname)" = h1 ] || exit 3\nexec sleep infinity\n' >"$scratch/choosy"; chmod +x "$scratch/choosy"
[ -n "$pretended" ] || { run -hosts "$pair" -n 4 "$scratch/choosy"; expect_code 3; expect_err "on h2"; }
run -hosts "$pair" -n 4 /no/such/program; expect_code 127; expect_err /no/such/program
expect_nothing_left
finish
