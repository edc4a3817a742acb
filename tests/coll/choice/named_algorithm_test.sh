#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The library warns once, on one node and on several, if a requested algorithm cannot run a call. It does not warn about
# rows of tables or about its own calls.
. "$(dirname "$0")/../../launcher/nodes/nodes_common.sh" "$1"
bench=$build/bin/tutti-bench
unset TUTTI_COLL
export TUTTI_TUNING=none TUTTI_TOPOLOGY="socket:1 core:4"
expect_single_message() {
    expect_code 0
    [ "$err" = "tutti: $1" ] || wrong "$what printed '$err' instead of 'tutti: $1'"
}
quick=(--iterations 3 --warmup 0 --no-check)

slots="bcast=slots was requested, but slots accepts messages of at most 8K bytes: hierarchical runs instead"
run -n 3 --coll bcast=slots "$bench" "${quick[@]}" --sizes 8K:64K bcast ibcast bcast_init
expect_single_message "$slots (on MPI_COMM_WORLD of 3 ranks)"
TUTTI_QUIET=1 run -n 3 --coll bcast=slots "$bench" "${quick[@]}" --sizes 8K:64K bcast; expect_code 0; expect_silence
run -n 3 --coll bcast=slots "$bench" "${quick[@]}" --sizes 8:8K bcast; expect_code 0; expect_silence
run -n 2 "$bench" "${quick[@]}" --sizes 16K:32K --hint tutti_coll=bcast=slots --hint tutti_coll_bcast=slots bcast
expect_single_message "$slots (on a communicator of 2 ranks)"
TUTTI_DETERMINISTIC=1 run -n 2 --coll allreduce=rabenseifner "$bench" "${quick[@]}" --sizes 8:64 allreduce
expect_err "but rabenseifner needs operands that may be regrouped: exchange runs instead"
run -n 2 --coll alltoall=bruck "$bench" "${quick[@]}" --sizes 8:64 alltoall alltoallv
expect_err "but bruck needs parts of equal size: rotated runs instead"
[ "$(wc -l <<< "$err")" = 1 ] || wrong "$what: $err"

# buffers that no peer can access
TUTTI_ARENA=no TUTTI_CMA=no run -n 2 --coll allreduce=xhc-flat "$bench" "${quick[@]}" --sizes 8:64K allreduce
needs="buffers that other ranks can load and store"
expect_single_message "allreduce=xhc:hierarchy=flat was requested, but xhc needs $needs: exchange runs instead (on \
MPI_COMM_WORLD of 2 ranks)"
TUTTI_ARENA=no TUTTI_CMA=no run -n 2 --coll bcast=xhc "$bench" "${quick[@]}" --sizes 64K:64K bcast
expect_err "but xhc needs buffers that other ranks or the system can copy: slots runs instead"
# KNEM-Coll's need the kernel's copies, also where buffers are in arenas
pattern='^ALGORITHM\(([a-z]*), (knem_[a-z_]*)\)$'
while read -r line; do
    [[ $line =~ $pattern ]] || continue
    collective=${BASH_REMATCH[1]} name=${BASH_REMATCH[2]}
    for arena in yes no; do
        TUTTI_ARENA=$arena TUTTI_CMA=no run -n 2 --coll "$collective=$name" "$bench" "${quick[@]}" --sizes 64K:64K \
            "$collective"
        expect_code 0
        expect_err "but $name needs copies between ranks by the system (CMA): "
    done
done < "$source/coll/algorithms/algorithms.def"
# also where the system forbids them to ranks and not to mpiexec
for ranks in 2 4; do
    run -n $ranks --coll bcast=knem_linear "$forbid" cma -- "$bench" "${quick[@]}" --sizes 64K:64K bcast ibcast bcast_init
    expect_single_message "bcast=knem_linear was requested, but knem_linear needs copies between ranks by the system \
(CMA): slots runs instead (on MPI_COMM_WORLD of $ranks ranks)"
done
run -n 1 --coll bcast=knem_linear "$forbid" cma -- "$bench" "${quick[@]}" --sizes 64K:64K bcast : \
    -n 2 "$bench" "${quick[@]}" --sizes 64K:64K bcast
expect_code 0
expect_err "but knem_linear needs copies between ranks by the system (CMA): "
# through=kernel: no other access to peers' buffers, wherever they are
cma_bytes() {
    run -n 2 --stats=json --coll "bcast=knem_linear:through=$1" "$bench" "${quick[@]}" --sizes 64K:64K bcast
    expect_code 0
    python3 -c 'import json, sys
print(sum(row["cma_bytes"] for row in json.load(sys.stdin)["access_paths"]))' <<< "$err"
}
if [[ $("$build/bin/tutti-info") != *"no   CMA"* ]]; then
    TUTTI_ARENA=no run -n 2 --coll bcast=knem_linear "$bench" "${quick[@]}" --sizes 64K:64K bcast; expect_code 0
    expect_silence
    [ "$(cma_bytes kernel)" -ge $((3 * 65536)) ] || wrong "$what: $err"
    [ "$(TUTTI_ARENA=yes cma_bytes any)" = 0 ] || is_sanitized || wrong "$what: $err"
fi
# a buffer out of reach where others are not: the owner is named, and the row has the name of what ran
TUTTI_ARENA_THRESHOLD=128K run -n 2 --coll allreduce=xbrc "$bench" --csv "${quick[@]}" --sizes 64K:64K allreduce
expect_single_message "allreduce=xbrc was requested, but xbrc needs $needs, which those of rank 0 are not: exchange runs \
instead (on MPI_COMM_WORLD of 2 ranks)"
[ "$(tail -n 1 <<< "$out" | cut -d, -f5)" = blocks ] || wrong "$what printed $out"

# rows of a tuning file, and the library's own barriers
printf '# tutti tuning 1\nbcast one_node slots\nbcast several_nodes hierarchical\n' > "$folder/tuning"
TUTTI_TUNING=$folder/tuning run -n 2 "$bench" "${quick[@]}" --sizes 8K:64K bcast
expect_code 0; expect_err "$folder/tuning:3: bcast hierarchical never runs on communicators of this kind: several_nodes"
[ "$(wc -l <<< "$err")" = 1 ] || wrong "$what: $err"

# the rules of other libraries, which are part of the programs
for table in "tuned: bcast,linear allreduce,ring" "mpich: bcast,binomial allreduce,rabenseifner"; do
    run -n 2 --coll-table "${table%%:*}" "$bench" "${quick[@]}" --csv --sizes 16K:16K bcast allreduce
    expect_code 0; expect_silence
    [ "$(sed 1d <<< "$out" | cut -d, -f1,5 | xargs)" = "${table#*: }" ] || wrong "$what printed $out"
done
run -n 4 --coll barrier=masters "$build/tests/ranks_coll_tuned" 1; expect_code 0; expect_silence

# several nodes
on "$two" -n 4 --coll bcast=hierarchical:chunk=8K "$bench" "${quick[@]}" --sizes 8:64K bcast
expect_err "tutti: bcast=hierarchical:chunk=8K was requested, but hierarchical runs on one node only: masters"
[ "$(grep -c "was requested" <<< "$err")" = 1 ] || wrong "$what: $err"
on "$two" -n 4 --coll barrier=masters,bcast=masters,reduce=masters,allreduce=masters "$bench" "${quick[@]}" \
    --sizes 8:8 barrier bcast allreduce
expect_code 0; [[ "$err" != *"was requested"* ]] || wrong "a warning about steps inside nodes: $err"
# two ranks on two nodes: no row of one node
out=$(on 127.0.0.2:1,127.0.0.3:1 -n 2 "$bench" "${quick[@]}" --csv --sizes 32K:32K scan exscan; echo "$out")
[ "$(sed 1d <<< "$out" | cut -d, -f1,5 | xargs)" = "scan,masters exscan,masters" ] || wrong "two ranks on two nodes: $out"
finish
