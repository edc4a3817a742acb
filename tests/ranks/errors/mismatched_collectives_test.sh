#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Mismatched collectives are reported with the kind of mismatch, and not reported with TUTTI_DIAGNOSIS=no.
set -uo pipefail
build=$(cd "$1" && pwd)
program=$build/tests/ranks_errors_mismatched_collectives
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

start() { # ERROR [VARIABLE=VALUE]
    timeout 100 env "${@:2}" "$build/bin/mpiexec" -n 3 "$program" "$1" >"$folder/$1" 2>&1 &
}
failures=0
expect() { # ERROR PATTERN...: the report of this error must match each pattern
    for pattern in "${@:2}"; do
        grep -Eq -- "$pattern" "$folder/$1" && continue
        echo "FAILED: the report of $1 lacks '$pattern': $(cat "$folder/$1")"
        failures=$((failures + 1))
    done
}
for error in function count root nonblocking alltoall operator type persistent order freed end; do start "$error"; done
wait
expect function 'calls MPI_(Barrier|Bcast) where rank [012] calls MPI_(Barrier|Bcast), as call 3 on MPI_COMM_WORLD'
expect count 'calls MPI_Bcast with [48] MPI_INT where rank [012] has [48] MPI_INT, as call 4 on MPI_COMM_WORLD'
expect root 'calls MPI_Bcast with root [01] where rank [012] has root [01], as call 5'
expect nonblocking 'calls MPI_I?barrier where|calls MPI_Barrier where rank 1 calls MPI_Ibarrier'
expect alltoall 'calls MPI_Alltoall with 2 MPI_(INT|FLOAT) where'
expect operator 'calls MPI_Allreduce with MPI_(MAX|SUM) where rank [012] has MPI_(MAX|SUM)'
expect type 'calls MPI_Allreduce with 1 MPI_(INT|FLOAT) where rank [012] has 1 MPI_(INT|FLOAT)'
expect persistent 'calls MPI_Allreduce_init with MPI_(MIN|SUM) where'
expect order 'on (one|other) first' 'same order'
expect freed 'calls MPI_Bcast with [23] MPI_INT where rank [012] has [23] MPI_INT, as call 2 on one'
expect end 'calls MPI_Finalize where|where rank 1 calls MPI_Finalize'

start count TUTTI_DIAGNOSIS=no
wait
if [ -s "$folder/count" ]; then
    echo "FAILED: reported with TUTTI_DIAGNOSIS=no: $(cat "$folder/count")"
    failures=$((failures + 1))
fi
[ "$failures" -eq 0 ]
