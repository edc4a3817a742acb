#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs started by Open MPI's mpirun join its job by PMIx, on one host and on several. If the PMIx server cannot be
# used, they end with an error.
. "$(dirname "$0")/common.sh" "$1"
member=$build/tests/cluster_member
mpirun=$(command -v mpirun.openmpi) || { echo "skipped: package openmpi-bin is not installed"; exit 77; }
hosts_up 2
# shellcheck source=tests/cluster/arenas.sh
. "$(dirname "$0")/arenas.sh"

# theirs ARGUMENTS OF MPIRUN: sets $code, $out (sorted lines) and $err
theirs() {
    on_host "${hosts[0]}" timeout 600 "$mpirun" --allow-run-as-root --oversubscribe --mca plm_rsh_agent "$agent" \
        --mca orte_tmpdir_base "$scratch" "$@" \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    # On a busy machine mpirun prints a warning if the process of the agent was faster.
    out=$(sort "$scratch/out") err=$(grep -v "plm:rsh: Warning: setpgid" "$scratch/err")
    what="mpirun $*"
}
expect_silence() { [ -z "$err" ] || wrong "$what printed '$err' instead of nothing"; }
members() { local sum=$1 r=0 n; shift; for n in "$@"; do echo "rank $r of $#, $n on its node, sum $sum"; r=$((r + 1)); done; }

theirs -n 1 "$member";  expect_code 0; expect_silence; expect_out "$(members 0 1)"
theirs -n 4 "$member";  expect_code 0; expect_silence; expect_out "$(members 6 4 4 4 4)"
theirs -n 1 "$member" : -n 2 "$member"; expect_code 0; expect_silence; expect_out "$(members 3 3 3 3)"
theirs -n 3 --bind-to core:overload-allowed "$member"; expect_code 0; expect_out "$(members 3 3 3 3)"
theirs -n 2 -x TUTTI_TOPOLOGY=socket:2 "$member"; expect_code 0; expect_err "TUTTI_TOPOLOGY has no effect under this"
theirs -n 3 "$member" 2 abort; expect_code 17; expect_err "error[MPI_Abort] the program called MPI_Abort with code 17"
theirs -n 2 "$member" 1 late; expect_code 15; expect_err "MPI_Barrier was called after MPI_Finalize"
theirs -n 3 "$member" 1 exit sleep; expect_code 3
theirs -n 3 "$member" 1 kill sleep; expect_code 137
theirs -n 3 "$build/tests/ranks_p2p_modes"; expect_code 0; expect_silence
# A locale with digit grouping in one rank does not change the data that ranks publish.
locale=$build/tests/ranks_environment_locale
theirs -n 1 "$locale" . : -n 2 "$locale" none; expect_code 0; expect_silence
theirs -n 2 "$locale" none : -n 1 "$locale" " "; expect_code 0; expect_silence
theirs -n 4 "$build/tests/cluster_waits" heads; expect_code 125; expect_err "error[T01] deadlock: ranks "
theirs -n 4 "$build/tests/cluster_waits" roots; expect_code 125; expect_err "error[T04] rank "; expect_err "waits.c:"
theirs -n 4 "$build/tests/cluster_waits" late; expect_code 0; expect_silence

# Ranks do not choose an algorithm for which the settings of one of them rule out the copies.
copied=(-x TUTTI_ARENA=no -x TUTTI_XPMEM=no -x TUTTI_COLL=bcast=knem_linear)
bench=("$build/bin/tutti-bench" --iterations 3 --warmup 0 --sizes 64K:64K bcast)
theirs -n 2 "${copied[@]}" "${bench[@]}"; expect_code 0; expect_silence
theirs -n 1 "${copied[@]}" "${bench[@]}" : -n 1 "${copied[@]}" -x TUTTI_CMA=no "${bench[@]}"
expect_code 0; expect_err "but knem_linear needs copies between ranks by the system (CMA): slots runs instead"

# Large buffers are copied directly between ranks, whatever kinds of programs are in the world.
if [ $arenas_checked = yes ]; then
    theirs -n 3 "$arenas"; expect_code 0; expect_silence; expect_out "$(arena_lines direct direct direct)"
    cp "$arenas" "$scratch/another"
    theirs -n 1 "$arenas" : -n 2 "$scratch/another"; expect_out "$(arena_lines direct direct direct)"
    theirs -n 2 sh -c 'ulimit -v 4000000; exec "$0"' "$arenas"; expect_out "$(arena_lines direct direct)"
    theirs -n 2 -x TUTTI_ARENA=no "$arenas"; expect_code 0; expect_out "$(arena_lines none none)"
    theirs -n 1 "$arenas" : -n 1 -x TUTTI_ARENA=no "$arenas" : -n 1 "$arenas"
    expect_code 0; expect_silence; expect_out "$(arena_lines direct none direct)"
    theirs -n 1 -x TUTTI_CMA=no -x TUTTI_ARENA=no "$arenas" : -n 2 -x TUTTI_CMA=no "$arenas"
    expect_code 0; expect_silence; expect_out "$(arena_lines none direct direct)"
    if [ -n "$jemalloc" ]; then
        theirs -n 1 "$arenas" : -n 1 -x LD_PRELOAD="$jemalloc" "$arenas" : -n 1 "$arenas"
        expect_code 0; expect_silence; expect_out "$(arena_lines direct direct direct)"
    fi
    theirs -n 2 "$build/tests/ranks_memory_allocation"; expect_code 0; expect_silence
    theirs -n 2 "$build/tests/ranks_memory_fork"; expect_code 0
    expect_err "started by rank 1 of an MPI program"; [[ "$err" != *launcher* ]] || wrong "$what: children printed $err"
    # Interpreters open MPI late: their blocks are allocated by the C library, unless our allocator was preloaded.
    theirs -n 2 python3 "$scratch/late.py"; expect_code 0; expect_silence; expect_out "$(printf 'private\nprivate')"
    theirs -n 2 -x LD_PRELOAD="$build/lib/libtutti_malloc.so" python3 "$scratch/late.py"
    expect_code 0; expect_silence; expect_out "$(printf 'shared\nshared')"
    # A file without a name is removed with its processes.
    theirs -n 3 "$scratch/another" 1; expect_code 137
    for ((k = 0; k < 40; k++)); do
        left=$(find /proc/[0-9]*/exe -lname "$scratch/another" 2>/dev/null)
        [ -n "$left" ] || break
        sleep 0.05
    done
    [ -z "$left" ] || wrong "left of a job with a killed rank: $left"
    what="alone"
    out=$("$arenas" 2>"$scratch/err") err=$(cat "$scratch/err"); expect_silence
    [[ "$out" == "rank 0 of 1: arena;"* ]] || wrong "$what printed '$out'"
    out=$(TUTTI_ARENA=no "$arenas")
    [[ "$out" == "rank 0 of 1: none;"* ]] || wrong "$what, without an arena, printed '$out'"
fi

if [ -z "$pretended" ]; then
    both=${hosts[0]}:2,${hosts[1]}:2
    theirs -H "$both" -n 4 "$member"; expect_code 0; expect_silence; expect_out "$(members 6 2 2 2 2)"
    theirs -H "$both" -n 3 --map-by node "$member"; expect_code 0; expect_silence; expect_out "$(members 3 2 1 2)"
    theirs -H "$both" -n 3 --map-by node "$build/tests/ranks_p2p_modes"; expect_code 0; expect_silence
    theirs -H "$both" -n 4 "$member" 3 abort sleep; expect_code 17
    theirs -H "$both" -n 4 "$member" 3 kill sleep; expect_code 137
    expect_nothing_left

    # Ranks in different PID namespaces share no memory, and each is a separate node.
    theirs -n 3 unshare --pid --fork --mount-proc "$member"; expect_code 0
    expect_out "$(members 3 1 1 1)"; expect_err "tutti: the ranks on ${hosts[0]} share no memory, because they are in separate containers or namespaces"
    theirs -n 3 sh -c '[ $PMIX_RANK != 1 ] || exec unshare --user --map-root-user "$0"; exec "$0"' "$member"
    expect_code 0; expect_out "$(members 3 2 1 2)"; expect_err "tutti: the ranks on ${hosts[0]} share no memory, because they are in separate containers or namespaces"
fi

# Variables of a PMIx server that does not exist: an error, and no world of one rank.
what="without a server"
out=$(PMIX_RANK=0 PMIX_NAMESPACE=none timeout 600 "$member" 2>"$scratch/err"); code=$? err=$(cat "$scratch/err")
expect_failure; expect_out ""
expect_err "a PMIx launcher has started this process (PMIX_NAMESPACE=none, PMIX_RANK=0), but it cannot be reached by PMIx: "
# The same for a PMIx library that cannot be loaded. Ranks of our mpiexec never use a PMIx server.
mkdir "$scratch/lib" && : >"$scratch/lib/libpmix.so.2"
what="without a library"
out=$(LD_LIBRARY_PATH=$scratch/lib PMIX_RANK=0 PMIX_NAMESPACE=none timeout 600 "$member" 2>"$scratch/err")
code=$? err=$(cat "$scratch/err")
expect_failure; expect_out ""; expect_err "cannot be reached by PMIx: $scratch/lib/libpmix.so.2: "
# The library of the launcher itself is used where the loader finds none.
theirs -n 2 -x LD_LIBRARY_PATH="$scratch/lib" "$member"; expect_code 0; expect_silence; expect_out "$(members 1 2 2)"
what="mpiexec in a foreign job"
out=$(PMIX_RANK=0 PMIX_NAMESPACE=none "$mpiexec" -n 2 "$member" 2>"$scratch/err" | sort) err=$(cat "$scratch/err")
expect_out "$(members 1 2 2)"; expect_silence
finish
