#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fortran coarrays over OpenCoarrays as Debian built it against MPICH: a program of our own, and a dozen of OpenCoarrays'
# tests, unmodified: each area once.
set -u
build=$1
library=$(echo /usr/lib/*/open-coarrays/mpich/lib)
if [ ! -d "$library" ] || ! command -v gfortran >/dev/null; then
    echo "skipped: no OpenCoarrays or no gfortran (Debian: apt-get install libcoarrays-mpich-dev gfortran)"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
images() { timeout -k 5 120 "$build/bin/mpiexec" --drop-in -n "$@" >"$scratch/out" 2>&1 </dev/null; }
says() {
    grep -q "$1" "$scratch/out" && return
    echo "FAILED $2:"
    tail -n 5 "$scratch/out"
    failures=$((failures + 1))
}

gfortran -fcoarray=lib -J "$scratch" "$(dirname "$0")/coarrays.f90" -o "$scratch/coarrays" \
    -L"$library" -Wl,-rpath,"$library" -lcaf_mpich -lmpich || exit 1
for n in 1 2 3 4; do
    images $n "$scratch/coarrays"
    says "^coarrays: $n images agree" "coarrays with $n images"
done

tests=$(echo "${library%/lib}"/bin/*-tests)
while read -r name n; do
    images "$n" "$tests/$name"
    says 'Test passed' "$name with $n images"
done <<'END'
register_alloc_comp_3 2
get_convert_nums 2
send_with_vector_index 2
strided_sendget 3
alloc_comp_send_convert_nums 2
atomics 8
allocatable_p2p_event_post 4
syncimages2 8
async_comp_alloc 6
teams_coarray_sendget 5
co_reduce_test 4
coarray_burgers_pde 2
END
[ "$failures" = 0 ]
