#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# srun --mpi=pmix and --mpi=pmi2 start our programs: on one node and two, with block and cyclic distribution, several
# steps and jobs at the same time, and all kinds of ends. The test starts a real Slurm with two nodes on this machine.
. "$(dirname "$0")/../common.sh" "$1"
PATH=$PATH:/usr/sbin:/sbin
need_package munge munged
need_package slurm-client srun salloc
need_package slurmctld slurmctld
need_package slurmd slurmd
[ "$(id -u)" = 0 ] || skip "slurmd runs as root"
tests=$build/tests
member=$tests/cluster_member
# shellcheck source=tests/cluster/slurm.sh
. "$here/slurm.sh"

# step ARGUMENTS OF SRUN: runs a step of the allocation; sets $code, $out (sorted lines) and $err
step() {
    local printed=$scratch/step.${number:-0}
    timeout 600 srun --jobid="$job" --overlap --overcommit --mpi="$interface" "$@" >"$printed.out" 2>"$printed.err" </dev/null
    code=$?
    out=$(sort "$printed.out") err=$(grep -vx "srun: got SIGCONT" "$printed.err")   # if this machine was paused
    what="srun --mpi=$interface $*"
}
interface=pmix
expect_code() { [ "$code" = "$1" ] || wrong "$what ended with $code instead of $1: $out $err"; }
expect_out() { [ "$out" = "$1" ] || wrong "$what printed '$out' instead of '$1': $err"; }
expect_err() { [[ "$err" == *"$1"* ]] || wrong "$what printed '$err', which does not contain '$1'"; }
expect_silence() { [ -z "$err" ] || wrong "$what printed '$err' instead of nothing"; }
# members SUM ON_NODE...: prints the expected line of each rank
members() { local sum=$1 r=0 n; shift; for n in "$@"; do echo "rank $r of $#, $n on its node, sum $sum"; r=$((r + 1)); done; }

slurm_up
at_first_host() { "$@"; }
# shellcheck source=tests/cluster/matrix.sh
. "$(dirname "$0")/matrix.sh"
salloc --quiet --no-shell --nodes=2 --ntasks=8 --job-name=held 2>"$scratch/err" || { cat "$scratch/err"; exit 1; }
job=$(squeue -h -n held -o %i)

for interface in pmi2 pmix; do
    step -N 1 -n 4 "$member"
    expect_code 0; expect_silence; expect_out "$(members 6 4 4 4 4)"
    step -N 1 -n 1 "$member"
    expect_code 0; expect_silence; expect_out "$(members 0 1)"
    step -N 2 -n 2 "$member"
    expect_code 0; expect_silence; expect_out "$(members 1 1 1)"
    step -N 2 -n 5 -m block "$member"
    expect_code 0; expect_silence; expect_out "$(members 10 3 3 3 2 2)"
    step -N 2 -n 5 -m cyclic "$member"
    expect_code 0; expect_silence; expect_out "$(members 10 3 2 3 2 3)"
    # a value of the server that is longer than Slurm's commands
    step -N 2 -n 3 -m block --export=ALL,TUTTI_TUNING=tuned "$member"
    expect_code 0; expect_silence; expect_out "$(members 3 2 2 1)"
    step -N 1 -n 2 "$member" 1 late
    expect_code 15; expect_err "MPI_Barrier was called after MPI_Finalize"
done
# In all languages, and with the memory of interpreters in the arena from their start.
matrix_up
for language in "${languages[@]}"; do
    command_of "$language"
    for interface in pmi2 pmix; do
        for ranks in 1 2 5; do
            started=(--export="ALL,LD_PRELOAD=$build/lib/libtutti_malloc.so" -n "$ranks" "${command[@]}")
            step -N 1 "${started[@]}"; expect_as_ours "$language" "$ranks" 1; expect_silence
            [ "$ranks" = 1 ] && continue
            step -N 2 -m block "${started[@]}"; expect_code 0; expect_silence; check_cell "$ranks" 2 "$out"
        done
    done
done
interface=pmi2
# One task can run any number of programs, one of several tasks one.
step -N 1 -n 1 sh -c '"$0" 0 kill; "$0"; "$0"' "$member"; expect_code 0; expect_out "$(members 0 1; members 0 1)"
step -N 1 -n 1 "$member" 0 abort; expect_code 17; expect_err "the program called MPI_Abort with code 17"
step -N 1 -n 2 --export=ALL,TUTTI_START_TIMEOUT=2 sh -c '"$0" "$PMI_RANK" kill; "$0"' "$member"
[ "$code" != 0 ] && [ -z "$out" ] || wrong "$what ended with $code and printed '$out'"
expect_err "it cannot be reached by PMI: the server has not answered within 2 s (TUTTI_START_TIMEOUT)"
step -N 2 -n 3 -m cyclic "$tests/ranks_p2p_modes"; expect_code 0; expect_silence
step -N 1 -n 3 "$member" 2 abort; [ "$code" != 0 ] || wrong "$what ended with 0"
interface=pmix
cp "$member" "$scratch/a member"
step -N 2 -n 3 "$scratch/a member"
expect_code 0; expect_out "$(members 3 2 2 1)"
step -N 1 -n 3 sh -c 'exec "$0"' "$member"
expect_code 0; expect_out "$(members 3 3 3 3)"

# Programs that check their results: collectives and messages, on both nodes.
for program in ranks_coll_movements ranks_p2p_modes; do
    step -N 1 -n 3 "$tests/$program"; expect_code 0; expect_silence
    step -N 2 -n 3 -m cyclic "$tests/$program"; expect_code 0; expect_silence
done

# Large buffers are copied directly between ranks, whatever kinds of programs are in the world.
# shellcheck source=tests/cluster/arenas.sh
. "$here/arenas.sh"
if [ $arenas_checked = yes ]; then
    step -N 1 -n 3 "$arenas"; expect_code 0; expect_silence; expect_out "$(arena_lines direct direct direct)"
    step -N 1 -n 2 --export=ALL,TUTTI_ARENA=no "$arenas"; expect_code 0; expect_out "$(arena_lines none none)"
    cp "$arenas" "$scratch/another"
    printf '%s\n' "0 $arenas" "1 /usr/bin/env TUTTI_ARENA=no $arenas" "2 $scratch/another" >"$scratch/several"
    step -N 1 -n 3 --multi-prog "$scratch/several"
    expect_code 0; expect_silence; expect_out "$(arena_lines direct none direct)"
    step -N 2 -n 4 -m cyclic "$arenas"; expect_code 0; expect_silence
    [ "$(grep -c ": arena;" <<<"$out")" = 4 ] || wrong "$what printed '$out'"
    step -N 1 -n 2 --export=ALL,LD_PRELOAD="$build/lib/libtutti_malloc.so" python3 "$scratch/late.py"
    expect_code 0; expect_silence; expect_out "$(printf 'shared\nshared')"
    step -N 1 -n 2 "$tests/ranks_memory_fork"
    expect_code 0; expect_err "started by rank 1 of an MPI program"; [[ "$err" != *--mpi=pmix* ]] || wrong "$what: $err"
    step -N 1 -n 3 "$arenas" 1; [ "$code" != 0 ] && [ "$code" != 124 ] || wrong "$what ended with $code: $err"
fi

# If /sys describes no caches, exactly one rank of each node runs the helper that detects the machine.
hidden=$scratch/hidden without_caches=$source/tests/runtime/job/without_caches.sh
if "$without_caches" true 2>/dev/null; then
    mkdir -p "$hidden/lib" "$hidden/bin"
    cp -P "$build"/lib/libmpi.so* "$hidden/lib"
    printf '#!/bin/sh\necho "$@" >>"%s/calls"\nexec "%s/bin/tutti-daemon" "$@"\n' "$hidden" "$build" >"$hidden/bin/tutti-daemon"
    chmod +x "$hidden/bin/tutti-daemon"
    for nodes in 1 2; do
        rm -f "$hidden/calls"
        step -N $nodes -n 4 -m block --export=ALL,LD_LIBRARY_PATH="$hidden/lib" "$without_caches" "$member"
        expect_code 0; expect_silence; expect_out "$(members 6 $((4 / nodes)) $((4 / nodes)) $((4 / nodes)) $((4 / nodes)))"
        [ "$(grep -c "^--machine$" "$hidden/calls")" = $nodes ] ||
            wrong "$what: $nodes helpers were expected, not: $(cat "$hidden/calls")"
    done
    rm "$hidden/bin/tutti-daemon"
    step -N 1 -n 4 --export=ALL,LD_LIBRARY_PATH="$hidden/lib" "$without_caches" "$member"
    expect_code 0; expect_silence; expect_out "$(members 6 4 4 4 4)"
else
    echo "skipped: caches cannot be hidden here, which requires a mount namespace (unshare --mount)"
fi

# All kinds of ends. Most messages are those of Slurm.
for nodes in 1 2; do
    step -N $nodes -n 3 "$member" 1 codes; expect_code 2
    step -N $nodes -n 3 "$member" 1 abort; expect_code 17; expect_err "error[MPI_Abort] the program called MPI_Abort with code 17"
    step -N $nodes -n 3 "$member" 2 abort sleep; expect_code 17
    step -N $nodes -n 3 "$member" 2 wrong sleep
    expect_code 6; expect_err "error[MPI_ERR_RANK] MPI_Send: dest is 4711 but the communicator has 3 ranks"
    step -N $nodes -n 3 "$member" 1 kill; [ "$code" != 0 ] && [ "$code" != 124 ] || wrong "$what ended with $code: $err"
    step -N $nodes -n 3 "$member" 2 kill; [ "$code" != 0 ] && [ "$code" != 124 ] || wrong "$what ended with $code: $err"
    step -N $nodes -n 3 "$member" 1 exit; [ "$code" != 0 ] && [ "$code" != 124 ] || wrong "$what ended with $code: $err"
    expect_err "error[T09] rank 1 left with exit code 3 without calling MPI_Finalize"
done
# Equal errors of the ranks of a node are one report, with the source line.
step -N 1 -n 4 "$tests/cluster_waits" roots; expect_code 125; expect_err "error[T04] rank "; expect_err "waits.c:"
[ "$(grep -c "^error\[" <<<"$err")" = 1 ] || wrong "$what reported more than once: $err"

# Deadlocks of ranks on one node are reported.
step -N 1 -n 4 "$tests/cluster_waits" heads; expect_code 125; expect_err "error[T01] deadlock: ranks "
step -N 2 -n 4 -m cyclic "$tests/cluster_waits" heads; expect_code 125; expect_err "error[T01] deadlock: ranks 0 and 2"
step -N 2 -n 4 -m cyclic "$tests/cluster_waits" late; expect_code 0; expect_silence

# Several steps of one allocation and a second job at the same time.
for k in 1 2 3; do
    (number=$k; step -N 2 -n 3 "$member"; expect_code 0; expect_out "$(members 3 2 2 1)"; exit "$failures") &
    pids[k]=$!
done
srun --quiet --mpi=pmix --overcommit -N 2 -n 4 -m block "$member" 2>&1 | sort >"$scratch/second" &
pids[4]=$!
for k in 1 2 3 4; do wait "${pids[k]}" || wrong "one of several simultaneous steps failed"; done
[ "$(cat "$scratch/second")" = "$(members 6 2 2 2 2)" ] || wrong "a second job printed $(cat "$scratch/second")"

# In an allocation, mpiexec uses its nodes and starts its daemons by srun.
inside() {
    timeout 600 salloc --quiet --overcommit --nodes=2 --ntasks-per-node=2 "$build/bin/mpiexec" "$@" >"$scratch/out" \
        2>"$scratch/err" </dev/null
    code=$?
    out=$(sort "$scratch/out") err=$(grep -vx "srun: got SIGCONT" "$scratch/err")   # if this machine was paused
    what="salloc mpiexec $*"
}
inside "$member"
expect_code 0; expect_silence; expect_out "$(members 6 2 2 2 2)"
inside -verbose -hosts n1,n2 -n 2 true
expect_code 0; expect_err "started by: srun "
inside -n 3 "$member" 2 abort sleep
expect_code 17; expect_err "rank 2 on n2, process"
inside -n 3 "$member" 2 kill sleep
expect_code 137; expect_err "was killed by signal 9"

# The commands of the page: srun, and mpiexec in a batch script.
mkdir "$scratch/page"
cp "$member" "$scratch/page/app"
sed -n '/^## Slurm/,/^## Other/p' "$source/launcher/clusters.md" >"$scratch/page/text"
sed -n '/^#!\/bin\/sh/,/^```/p' "$scratch/page/text" | grep -v '^```' >"$scratch/page/script"
what=$(grep -m1 '^srun --mpi=pmix .*\./app' "$scratch/page/text")
[[ "$(cat "$scratch/page/script")" == *"#SBATCH "*"mpiexec ./app"* ]] && [ -n "$what" ] ||
    wrong "the commands of the page: $what $(cat "$scratch/page/script")"
out=$(cd "$scratch/page" && timeout 600 bash -c "$what" 2>"$scratch/err" </dev/null); code=$?
out=$(sort <<<"$out") err=$(grep -vx "srun: got SIGCONT" "$scratch/err")
expect_code 0; expect_out "$(members 28 4 4 4 4 4 4 4 4)"
what="sbatch with the script of the page"
(cd "$scratch/page" && PATH=$build/bin:$PATH timeout 600 sbatch --quiet --wait --output=out script) 2>"$scratch/err"; code=$?
out=$(sort "$scratch/page/out") err=$(cat "$scratch/err")
expect_code 0; expect_out "$(members 28 4 4 4 4 4 4 4 4)"

# Without an interface, no rank runs alone; one process does.
interface=none
step -N 1 -n 2 "$member"
[ "$code" != 0 ] && [ -z "$out" ] || wrong "$what: code $code, '$out'"
expect_err "Slurm's srun has started this process as one of 2 (SLURM_STEP_ID="
expect_err "start it with srun --mpi=pmix or srun --mpi=pmi2, or use Tutti's mpiexec inside the allocation"
step -N 1 -n 1 "$member"; expect_code 0; expect_silence; expect_out "$(members 0 1)"

[ "$failures" = 0 ] && echo "all well" || { echo "$failures wrong"; exit 1; }
