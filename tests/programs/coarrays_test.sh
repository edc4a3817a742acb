#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fortran coarrays over OpenCoarrays as Debian built it against MPICH: coarrays.f90, and a dozen of OpenCoarrays' own
# tests, unmodified, one of each area.
# cores: 2
. "$(dirname "$0")/../common.sh" "$1"
need_package gfortran gfortran
need_package libcoarrays-mpich-dev "/usr/lib/*/open-coarrays/mpich/lib"
library=$(echo /usr/lib/*/open-coarrays/mpich/lib)
expect_output() { [[ "$out$err" == *"$1"* ]] || wrong "$2: $(tail -n 5 <<<"$out$err")"; }

gfortran -fcoarray=lib -J "$folder" "$here/coarrays.f90" -o "$folder/coarrays" \
    -L"$library" -Wl,-rpath,"$library" -lcaf_mpich -lmpich || exit 1
for n in 1 2 3 4; do
    run --drop-in -n $n "$folder/coarrays"
    expect_output "coarrays: $n images agree" "coarrays with $n images"
done

tests=$(echo "${library%/lib}"/bin/*-tests)
while read -r name n; do
    run --drop-in -n "$n" "$tests/$name"
    expect_output "Test passed" "$name with $n images"
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
finish
