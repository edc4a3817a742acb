#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The benchmark's one-sided operations: correct results with every kind of window and every synchronization, in single
# calls and in loops, with several operations between two synchronizations, also by the limit's kernels; wrong results
# are detected. Times are not checked.
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
quick="--csv --iterations 4 --warmup 1 --seconds 0.01"
operations="put get accumulate get_accumulate fetch_and_op compare_and_swap store load fence pscw lock lock_all"

try() { # RANKS WINDOW SYNC [--limit --loop]
    local what='$1 != "limit" && $2 > 0'
    [ $# = 3 ] || what='$2 > 0 && $3 > 0'
    out=$(bench "$1" $quick "${@:4}" --window "$2" --sync "$3" --per-sync 3 --sizes 8:16 rma) || wrong "$*: exit code $?"
    # 6 operations with 2 sizes, 2 with one, 4 synchronizations; the limit has as many lines
    [ "$(columns series median loop <<<"$out" | awk -F, "$what" | wc -l)" = $(($# == 3 ? 18 : 36)) ] || wrong "$*: $out"
    [ "$(columns operation <<<"$out" | uniq | xargs)" = "$operations" ] || wrong "not the operations: $out"
}
for sync in flush lock fence pscw; do
    for window in create allocate shared dynamic; do try 2 $window $sync; done
done
# The limit does not depend on the window and the synchronization; loops do.
try 2 create flush --limit --loop; try 2 allocate fence --limit --loop; try 1 shared lock --limit --loop; try 3 dynamic pscw --limit --loop
for ranks in 1 5; do
    try $ranks create pscw; try $ranks allocate lock; try $ranks shared fence; try $ranks dynamic flush
done
out=$(bench 2 $quick --limit --loop --sizes 56000:448000 put get accumulate get_accumulate store load) && ! grep WRONG <<<"$out" &&
    [ "$(columns operation <<<"$out" | wc -l)" = 48 ] || wrong "large operations: $out"

# Rates follow from the time of one operation; operations that only synchronize have none.
out=$(bench 2 ${quick#--csv} --per-sync 8 --sizes 4096:4096 put lock_all)
awk '$1 == "put" { least = 1 / ($4 + 0.006) - 0.01; most = 1 / ($4 - 0.006) + 0.01
        if ($7 > least && (most < 0 || $7 < most) && $8 > 3.6 * $7 && $8 < 4.6 * $7) put = 1 }
    $1 == "lock_all" && $7 == "-" && $8 == "-" { none = 1 } END { exit !(put && none) }' <<<"$out" || wrong "rates: $out"
out=$(bench 2 --seconds 0.02 --sizes 8:8 --window dynamic --sync pscw --per-sync 2 put)
grep -q '^windows by MPI_Win_create_dynamic, synchronised by pscw, 2 operations each time$' <<<"$out" &&
    grep -q 'million/s *GB/s' <<<"$out" || wrong "the table: $out"
bench 2 --seconds 0.02 --json "$folder/out.json" --sizes 8:16 --sync lock --limit put fetch_and_op >/dev/null || wrong "--json"
python3 - "$folder/out.json" <<'END' || wrong "$(cat "$folder/out.json")"
import json, sys
results = json.load(open(sys.argv[1]))
assert results["one_sided"] == "windows by MPI_Win_create, synchronised by lock" and results["per_sync"] == 1, results
points = {(p["operation"], p["bytes"]): p for p in results["series"][1]["points"]}
assert set(points) == {("put", 8), ("put", 16), ("fetch_and_op", 8)}, points
assert points["put", 8]["kernel"] == "store" and points["fetch_and_op", 8]["kernel"] == "atomic", points
END
# --from prints how a file was measured, and rejects files that were measured in different ways.
out=$("$build/bin/tutti-bench" --from "$folder/out.json") && grep -q '^One-sided: windows by MPI_Win_create' <<<"$out" ||
    wrong "--from: $out"
bench 2 --seconds 0.02 --json "$folder/other.json" --sizes 8:8 --sync fence put >/dev/null || wrong "--json"
out=$("$build/bin/tutti-bench" --from "$folder/out.json,$folder/other.json" 2>&1) && wrong "other synchronisation: $out"
[[ "$out" == *"were not measured with the same windows and synchronisation."* ]] || wrong "other synchronisation: $out"
for no in "--sync flash" "--window created" "--per-sync 0"; do
    out=$(bench 2 $no put 2>&1) && wrong "$no was accepted"
    [[ "$out" == "tutti-bench: ${no% *} needs "* ]] || wrong "$no: $out"
done

# An MPI whose MPI_Put has no effect, and whose sums are wrong.
cat >"$folder/other.c" <<'END'
#include <mpi.h>
#define ARGUMENTS const void *from, int n, MPI_Datatype type, int rank, MPI_Aint place, int m, MPI_Datatype there
int MPI_Put(ARGUMENTS, MPI_Win win) { (void)from, (void)n, (void)type, (void)rank, (void)place, (void)m, (void)there, (void)win; return MPI_SUCCESS; }
int MPI_Accumulate(ARGUMENTS, MPI_Op op, MPI_Win win)
{
    (void)op;
    return PMPI_Accumulate(from, n, type, rank, place, m, there, MPI_REPLACE, win);
}
END
"$build/bin/mpicc" -shared -fPIC -o "$folder/other.so" "$folder/other.c" || wrong "mpicc ended with $?"
out=$("$build/bin/mpiexec" -n 2 env LD_PRELOAD="$folder/other.so" "$build/bin/tutti-bench" $quick --sizes 8:8 put accumulate get 2>/dev/null)
[ $? = 1 ] || wrong "a wrong result was accepted"
[ "$(grep -o '^[a-z]* of 8 bytes is WRONG: rank 1' <<<"$out" | xargs)" = "put of 8 bytes is WRONG: rank 1 accumulate of 8 bytes is WRONG: rank 1" ] ||
    wrong "wrong results: $out"
finish
