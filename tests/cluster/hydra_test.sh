#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs started by MPICH's mpiexec (Hydra) join its job by PMI, on one host and on several, over an inherited socket
# and over a port, as under our mpiexec: with arenas and reports. If PMI cannot be used, no rank runs alone.
. "$(dirname "$0")/common.sh" "$1"
member=$build/tests/cluster_member
hydra=$(command -v mpiexec.hydra) || { echo "skipped: package mpich is not installed"; exit 77; }
hosts_up 2
# shellcheck source=tests/cluster/arenas.sh
. "$(dirname "$0")/arenas.sh"

# theirs ARGUMENTS OF HYDRA: sets $code, $out (sorted lines) and $err
theirs() {
    on_host "${hosts[0]}" timeout 600 "$hydra" -launcher ssh -launcher-exec "$agent" "$@" \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    out=$(sort "$scratch/out") err=$(cat "$scratch/err")
    what="mpiexec.hydra $*"
}
expect_silence() { [ -z "$err" ] || wrong "$what printed '$err' instead of nothing"; }
members() { local sum=$1 r=0 n; shift; for n in "$@"; do echo "rank $r of $#, $n on its node, sum $sum"; r=$((r + 1)); done; }

for way in "" -pmi-port; do
    theirs $way -n 1 "$member"; expect_code 0; expect_silence; expect_out "$(members 0 1)"
    theirs $way -n 4 "$member"; expect_code 0; expect_silence; expect_out "$(members 6 4 4 4 4)"
    theirs $way -n 1 "$member" : -n 2 "$member"; expect_code 0; expect_silence; expect_out "$(members 3 3 3 3)"
    theirs $way -n 3 "$build/tests/ranks_p2p_modes"; expect_code 0; expect_silence
    theirs $way -n 3 "$build/tests/ranks_coll_movements"; expect_code 0; expect_silence
    theirs $way -n 3 "$member" 2 abort; expect_code 17; expect_err "the program called MPI_Abort with code 17"
    theirs $way -n 2 "$member" 1 late; expect_code 15; expect_err "MPI_Barrier was called after MPI_Finalize"
done
theirs -n 1 sh -c '"$0"; "$0"' "$member"; expect_code 0; expect_silence; expect_out "$(members 0 1; members 0 1)"
theirs -n 1 "$member" 0 abort; expect_code 17; expect_err "the program called MPI_Abort with code 17"
theirs -n 3 "$member" 1 exit sleep; [ "$code" != 0 ] || wrong "$what ended with 0 though a rank ended with 3"
theirs -n 3 "$member" 1 kill sleep; [ "$code" != 0 ] || wrong "$what ended with 0 though a rank was killed"
theirs -n 4 "$build/tests/cluster_waits" heads; expect_err "error[T01] deadlock: ranks "
theirs -n 4 "$build/tests/cluster_waits" roots; expect_err "error[T04] rank "; expect_err "waits.c:"
theirs -n 4 "$build/tests/cluster_waits" late; expect_code 0; expect_silence
# values that are longer than one of PMI: a file of settings, and the ranks of a large node
theirs -genv TUTTI_TUNING tuned -n 3 "$member"; expect_code 0; expect_silence; expect_out "$(members 3 3 3 3)"
theirs -n 24 "$member"; expect_code 0; expect_silence; expect_out "$(members 276 $(yes 24 | head -24) | sort)"

# Large buffers are copied directly between ranks.
if [ $arenas_checked = yes ]; then
    theirs -n 3 "$arenas"; expect_code 0; expect_silence; expect_out "$(arena_lines direct direct direct)"
    theirs -pmi-port -n 2 "$arenas"; expect_code 0; expect_silence; expect_out "$(arena_lines direct direct)"
    theirs -n 1 "$arenas" : -n 1 -env TUTTI_ARENA no "$arenas" : -n 1 "$arenas"
    expect_code 0; expect_silence; expect_out "$(arena_lines direct none direct)"
fi

if [ -z "$pretended" ]; then
    both=${hosts[0]}:2,${hosts[1]}:2
    theirs -hosts "$both" -n 4 "$member"; expect_code 0; expect_silence; expect_out "$(members 6 2 2 2 2)"
    theirs -hosts "$both" -n 5 "$member"; expect_code 0; expect_silence; expect_out "$(members 10 3 3 2 2 3)"
    theirs -hosts "$both" -n 4 "$build/tests/ranks_p2p_modes"; expect_code 0; expect_silence
    theirs -hosts "$both" -n 4 "$member" 3 abort sleep; expect_code 17
    expect_nothing_left
fi

# No rank of several runs alone: the descriptor was closed in between, or the server does not answer.
theirs -n 2 sh -c 'eval "exec $PMI_FD>&-"; exec "$0"' "$member"
[ "$code" != 0 ] || wrong "$what ended with 0"
[ -z "$out" ] || wrong "$what printed $out"
expect_err "MPICH's mpiexec (Hydra) has started this process as one of 2 ("
expect_err "keep the descriptor that PMI_FD names open"
what="without a server"
out=$(PMI_PORT=127.0.0.1:1 PMI_ID=0 timeout 600 "$member" 2>"$scratch/err"); code=$? err=$(cat "$scratch/err")
[ "$code" != 0 ] && [ -z "$out" ] || wrong "$what: code $code, '$out'"
expect_err "PMI_PORT=127.0.0.1:1: Connection refused"
# What tutti-info prints in place of a program.
theirs -n 1 "$build/bin/tutti-info" --launcher; expect_code 0
[[ "$out" == *"A program runs alone, as rank 0 of 1"* ]] || wrong "$what printed $out"
theirs -n 2 "$build/bin/tutti-info" --launcher; expect_code 0
[[ "$out" == *"Interfaces: PMI"* && "$out" == *"A program joins the job by PMI."* ]] || wrong "$what printed $out"
finish
