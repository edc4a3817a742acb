#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The benchmark's operations that create communicators: one line each, without a size; a wrong communicator is
# detected. Times are not checked.
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
all="comm_dup comm_split comm_create comm_create_group"

for ranks in 1 2 3 4 7; do
    out=$(bench $ranks --csv --loop --iterations 10 --warmup 2 --seconds 0.1 communicators) || wrong "$ranks ranks: exit code $?"
    [ "$(columns ranks bytes iterations median loop operation <<<"$out" |
        awk -F, -v ranks=$ranks '$1 == ranks && $2 == 0 && $3 > 0 && $4 > 0 && $5 > 0 {print $6}' | xargs)" = "$all" ] ||
        wrong "$ranks ranks: $out"
done
# On a communicator with an info key, in alternating blocks.
out=$(bench 3 --csv --iterations 10 --seconds 0.1 --hint tutti_coll=allreduce=slots comm_dup comm_split 2>&1) &&
    [ "$(grep -c '^comm_[a-z]*,3,0,\(default\|allreduce=slots\),' <<<"$out")" = 4 ] || wrong "--hint: $out"
bench 2 --help | grep -q '^  comm_dup  *MPI_Comm_dup, and MPI_Comm_free of the copy$' || wrong "--help does not list comm_dup"
out=$(bench 2 --overlap comm_dup 2>&1) && wrong "--overlap with comm_dup"
[[ "$out" == *"--overlap is for nonblocking and persistent operations, such as ibcast, not for comm_dup."* ]] || wrong "--overlap: $out"
out=$("$build/bin/tutti-bench" --algorithms comm_dup 2>&1) && wrong "--algorithms comm_dup"
[[ "$out" == *"comm_dup has no algorithms to choose from"* ]] || wrong "--algorithms: $out"

# An MPI that creates wrong communicators: too small, or of other ranks.
cat >"$folder/other.c" <<'END'
#include <mpi.h>
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) { (void)comm; return PMPI_Comm_dup(MPI_COMM_SELF, copy); }
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part)
{
    int rank;   /* of four: 0 and 3, 2 and 1 */
    PMPI_Comm_rank(comm, &rank);
    (void)color; (void)key;
    return PMPI_Comm_split(comm, rank == 0 || rank == 3, rank == 2 ? -1 : rank, part);
}
END
"$build/bin/mpicc" -shared -fPIC -o "$folder/other.so" "$folder/other.c" || wrong "mpicc ended with $?"
out=$("$build/bin/mpiexec" -n 4 env LD_PRELOAD="$folder/other.so" "$build/bin/tutti-bench" --csv --iterations 3 communicators 2>/dev/null)
[ $? = 1 ] || wrong "a wrong communicator was accepted"
[ "$(grep -c 'WRONG' <<<"$out")" = 2 ] &&
    grep -q '^comm_dup of 0 bytes is WRONG: the communicator has the wrong size or order$' <<<"$out" &&
    grep -q '^comm_split of 0 bytes is WRONG: a sum did not include exactly the ranks of the communicator$' <<<"$out" ||
    wrong "wrong communicators: $out"
finish
