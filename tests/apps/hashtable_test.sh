#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-hashtable: correct for any number of ranks, with very few and with almost only chained elements; a lost update
# is detected; wrong options are rejected.
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
table() { "$build/bin/mpiexec" -n "$1" "$build/bin/tutti-hashtable" "${@:2}"; }

for ranks in 1 2 3 8; do
    for options in "" "--buckets 1 --keys 40 --insertions 400" "--keys 1 --insertions 2000" "--buckets 100000 --insertions 500"; do
        out=$(table $ranks $options) || wrong "$ranks ranks, $options: exit code $?"
        grep -q '^PASSED' <<<"$out" || wrong "$ranks ranks, $options: $out"
    done
done
out=$(table 2 --buckets 1 --keys 20 --insertions 2000)
chains=$(awk '/^in chains/ {print $3}' <<<"$out") # at most two of 40 keys are in buckets
[ "${chains:-0}" -ge 38 ] || wrong "chains: $out"
grep -q '^insertions  *[0-9.]* million per second, [0-9.]* us each$' <<<"$out" || wrong "no rate: $out"

# An MPI that omits one of its sums: the table is wrong.
cat >"$folder/other.c" <<'END'
#include <mpi.h>
int MPI_Fetch_and_op(const void *from, void *to, MPI_Datatype type, int rank, MPI_Aint place, MPI_Op op, MPI_Win win)
{
    static int sums;
    return PMPI_Fetch_and_op(from, to, type, rank, place, op == MPI_SUM && ++sums == 300 ? MPI_NO_OP : op, win);
}
END
"$build/bin/mpicc" -shared -fPIC -o "$folder/other.so" "$folder/other.c" || wrong "mpicc ended with $?"
out=$("$build/bin/mpiexec" -n 2 env LD_PRELOAD="$folder/other.so" "$build/bin/tutti-hashtable" --insertions 500 --buckets 100000)
[ $? = 1 ] && grep -q '^FAILED: the table does not hold what was inserted$' <<<"$out" || wrong "a lost sum: $out"

for no in "--bucket 8" "--buckets 0" "--keys x" "--insertions"; do
    out=$(table 2 $no 2>&1) && wrong "$no was accepted"
    [[ "$out" == "tutti-hashtable: ${no%% *} "*"--help"* ]] || wrong "$no: $out"
done
out=$(table 2 --help) || wrong "--help: $?"
[[ "$out" == "Usage: "*--insertions*--buckets*--keys* ]] || wrong "--help: $out"
finish
