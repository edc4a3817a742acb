#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the exported symbols. libmpi.so.12 exports each function that mpi.h declares, under both names, and no other MPI
# function. libmpich.so.12 exports placeholders for all functions that MPICH has and Tutti lacks, and no function of
# Tutti.
. "$(dirname "$0")/lib.sh" "$1"
need_package mpich "/usr/lib/*/libmpich.so.12" "/usr/lib/*/libmpichfort.so.12"
set -e
header=$source/mpi_h/include/mpi.h
status=0
# report MESSAGE FILE: reports an error if FILE contains names.
report() {
    [ -s "$2" ] || return 0
    echo "$1:"
    sed 's/^/    /' "$2"
    status=1
}
exported() { nm -D --defined-only "$1" | awk -v types="$2" 'index(types, $2) { print $3 }' | sort -u; }

sed -nE 's/^[A-Za-z_]+ (MPI_(T_|[A-Z])[a-z]\w*)\(.*/\1/p' "$header" | sort >"$work/declared"
sed 's/^/P/' "$work/declared" >"$work/declared.p"
exported "$build/lib/libmpi.so.12" TWBDR >"$work/mpi"
exported "$build/lib/libmpi.so.12" W | grep '^MPI_' >"$work/weak"
exported "$build/lib/libmpi.so.12" T | grep '^PMPI_' >"$work/strong"
exported "$build/lib/libmpich.so.12" TW >"$work/mpich"

comm -23 "$work/declared" "$work/weak" >"$work/out"
report "declared in mpi.h but not a weak symbol of libmpi.so.12" "$work/out"
comm -23 "$work/declared.p" "$work/strong" >"$work/out"
report "declared in mpi.h but not a symbol of libmpi.so.12" "$work/out"
grep -E '^P?MPI_(T_|[A-Z])[a-z]' "$work/mpi" | sort | comm -23 - <(sort "$work/declared" "$work/declared.p") >"$work/out"
report "exported by libmpi.so.12 but not declared in mpi.h" "$work/out"
# The allocation functions, which every library that a program may be linked with must export.
sort >"$work/arena" <<'END'
aligned_alloc
calloc
free
madvise
malloc
malloc_usable_size
memalign
posix_memalign
pvalloc
realloc
tutti_arena
valloc
END
exported "$build/lib/libtutti_malloc.so" TWBDR | comm -3 - "$work/arena" >"$work/out"
report "libtutti_malloc.so should export the allocation functions and nothing else" "$work/out"
comm -23 "$work/arena" "$work/mpi" >"$work/out"
report "an allocation function that libmpi.so.12 lacks" "$work/out"
comm -23 "$work/arena" "$work/mpich" >"$work/out"
report "an allocation function that libmpich.so.12 lacks" "$work/out"
grep -vE '^(P?MPI|MPII|MPIR)_' "$work/mpi" | comm -23 - "$work/arena" >"$work/out" || true
report "exported by libmpi.so.12 but none of MPI's names" "$work/out"
comm -12 "$work/mpi" "$work/mpich" | comm -23 - "$work/arena" >"$work/out"
report "a placeholder in libmpich.so.12 hides a function of libmpi.so.12" "$work/out"
readelf -d "$build/lib/libmpich.so.12" | grep -q 'NEEDED.*\[libmpi\.so\.12\]' || { echo "libmpich.so.12 does not bring libmpi.so.12"; status=1; }

nm -D --defined-only /usr/lib/*/libmpich.so.12 | awk '$2 == "T" || $2 == "W" { print $3 }' | grep -E '^P?MPIX?_' | sort -u |
    comm -23 - <(sort -u "$work/mpi" "$work/mpich") >"$work/out"
report "MPICH has it, but neither libmpi.so.12 nor a placeholder in libmpich.so.12" "$work/out"
nm -D --undefined-only /usr/lib/*/libmpichfort.so.12 | awk '{ print $2 }' | grep -E '^P?MPI' | sort -u |
    comm -23 - <(sort -u "$work/mpi" "$work/mpich") >"$work/out"
report "libmpichfort.so.12 needs a function that neither library has" "$work/out"
exit $status
