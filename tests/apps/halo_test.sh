#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti-halo: messages and the shared window give the result of one rank, for any number of ranks; a wrong halo is
# detected; wrong options are rejected.
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
halo() { "$build/bin/mpiexec" -n "$1" "$build/bin/tutti-halo" --rounds 2 "${@:2}"; }

for ranks in 1 2 3 8; do
    for options in "--steps 100" "--rows 1 --columns 1 --steps 7" "--rows 1 --columns 3 --steps 40" "--rows 5 --columns 3000 --steps 21"; do
        out=$(halo $ranks $options) || wrong "$ranks ranks, $options: exit code $?"
        [ "$(grep -cE '^(messages|shared window)  *[0-9.]+ us per step, [0-9.]+ of them in the exchange$' <<<"$out")" = 2 ] &&
            grep -q '^PASSED' <<<"$out" || wrong "$ranks ranks, $options: $out"
    done
done

# Messages with other numbers.
cat >"$folder/other.c" <<'END'
#include <mpi.h>
int MPI_Isend(const void *from, int n, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    static double nothing[4096];
    (void)from;
    return PMPI_Isend(nothing, n, type, rank, tag, comm, request);
}
END
"$build/bin/mpicc" -shared -fPIC -o "$folder/other.so" "$folder/other.c" || wrong "mpicc ended with $?"
out=$("$build/bin/mpiexec" -n 3 env LD_PRELOAD="$folder/other.so" "$build/bin/tutti-halo" --steps 40)
[ $? = 1 ] && grep -q '^FAILED: the plate differs from the result of a single rank$' <<<"$out" || wrong "wrong messages: $out"

for no in "--row 8" "--rows 0" "--steps x" "--columns"; do
    out=$("$build/bin/mpiexec" -n 2 "$build/bin/tutti-halo" $no 2>&1) && wrong "$no was accepted"
    [[ "$out" == "tutti-halo: ${no%% *} "*"--help"* ]] || wrong "$no: $out"
done
out=$("$build/bin/mpiexec" -n 2 "$build/bin/tutti-halo" --help) || wrong "--help: $?"
[[ "$out" == "Usage: "*--rows*--columns*--steps* ]] || wrong "--help: $out"
finish
