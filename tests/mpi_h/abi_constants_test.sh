#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares our mpi.h with the header of Debian's MPICH. One program, compiled with each header, prints every constant,
# structure layout and function type; the two outputs must agree. The names are taken from our header. Names that only
# MPICH has must be listed in later_constants.txt, and names that MPICH does not have yet in newer.txt, with their
# expected output.
. "$(dirname "$0")/lib.sh" "$1"
need_package libmpich-dev "/usr/include/*/mpich/mpi.h"
set -e
ours=$source/mpi_h/include
theirs=$(dirname "$(compgen -G "/usr/include/*/mpich/mpi.h" | head -1)")

# Prints the object-like macros of a header and all capitalised names that remain after preprocessing (enumerators,
# data). Names that end in _T only number MPICH's functions for its tools and are left out.
constants() {
    {
        echo '#include <mpi.h>' | gcc -I"$1" -dM -E - | sed -nE 's/^#define (MPI_[A-Z0-9_]+) .+/\1/p'
        echo '#include <mpi.h>' | gcc -I"$1" -E -P - | grep -oE '\bMPI_[A-Z0-9][A-Z0-9_]*\b' | grep -v '_T$'
    } | sort -u | grep -vE '^MPI_(VERSION|SUBVERSION|INCLUDED|SOURCE|TAG|ERROR)$'
}
functions() { sed -nE 's/^[A-Za-z_]+ (MPI_(T_|[A-Z])[a-z]\w*)\(.*/\1/p' "$ours/mpi.h" | grep -vE '_(c2f|f2c)$' | sort; }
constants "$ours" >"$work/constants"
constants "$theirs" >"$work/constants.theirs"
functions >"$work/functions"
sed -nE 's/^extern .*\b(MPI_[A-Z0-9_]+);$/\1/p' "$ours/mpi.h" | sort >"$work/data"
grep -vE '^(#|$)' "$here/newer.txt" >"$work/newer.txt"
sed 's/ .*//' "$work/newer.txt" | sort >"$work/newer"
# without FILE: prints the names in FILE that are not in newer.txt.
without() { comm -23 "$1" "$work/newer"; }
[ "$(wc -l <"$work/constants")" -gt 200 ] || { echo "found only few constants in our header"; exit 1; }
[ "$(wc -l <"$work/functions")" -gt 200 ] || { echo "found only few functions in our header"; exit 1; }

{
    without "$work/constants" | comm -23 - "$work/data" | sed 's/.*/SHOW(&)/'
    sed 's/.*/SHOW_DECLARED(&)/' "$work/data"
    without "$work/functions" | sed -E 's/.*/SHOW_DECLARED(&)\nSHOW_DECLARED(P&)/'
    sed -nE 's/^typedef [a-z]+ ?\((MPI_\w+)\)\(.*/SHOW_TYPE(\1 *)/p; s/^typedef .* \*?(MPI_\w+);.*/SHOW_TYPE(\1)/p' "$ours/mpi.h"
} >"$work/list.inc"

# print_header FOLDER NAME: writes what the mpi.h in FOLDER defines for the names in list.inc to NAME.txt.
print_header() {
    g++ -std=c++17 -w -DMPICH_SKIP_MPICXX -I"$1" -I"$work" -c "$here/abi_print.cpp" -o "$work/$2.o"
    # The program prints only values and types; it need not link with the MPI functions and data.
    g++ -no-pie "$work/$2.o" -Wl,--unresolved-symbols=ignore-all -o "$work/$2"
    "$work/$2" >"$work/$2.txt"
}
print_header "$ours" ours
print_header "$theirs" theirs
status=0
if ! diff -u --label MPICH "$work/theirs.txt" --label Tutti "$work/ours.txt"; then
    echo "the headers differ"
    status=1
fi
echo "$(wc -l <"$work/ours.txt") values compared"

# Newer names must be in our header, absent from MPICH's, and as newer.txt describes them; functions also need PMPI_
# names.
sort "$work/constants" "$work/functions" | comm -13 - "$work/newer" | sed 's/^/newer.txt: not in our mpi.h: /' >"$work/wrong"
while read -r name; do
    echo '#include <mpi.h>' | gcc -I"$theirs" -E -dD - | grep -qw "$name" &&
        echo "newer.txt: MPICH's mpi.h has $name, which must leave the list" >>"$work/wrong"
done <"$work/newer"
{
    comm -12 "$work/newer" "$work/constants" | sed 's/.*/SHOW(&)/'
    comm -12 "$work/newer" "$work/functions" | sed -E 's/.*/SHOW_DECLARED(&)\nSHOW_DECLARED(P&)/'
} >"$work/list.inc"
print_header "$ours" newer_ours
sed 's/.*/^& /' "$work/newer" | grep -f - "$work/newer_ours.txt" | sort >"$work/newer_now.txt"
diff -u --label newer.txt <(sort "$work/newer.txt") --label Tutti "$work/newer_now.txt" >>"$work/wrong" || true
sed -nE 's/^P(MPI_.*)/\1/p' "$work/newer_ours.txt" | grep -vxFf "$work/newer.txt" | sed 's/^/differs as PMPI: /' \
    >>"$work/wrong" || true
if [ -s "$work/wrong" ]; then
    cat "$work/wrong"
    status=1
fi
echo "$(wc -l <"$work/newer") newer names compared"

# A name that only MPICH has must be in later_constants.txt. A listed name that our header has, or MPICH lacks, is an
# error.
patterns=$(grep -vE '^(#|$)' "$here/later_constants.txt")
comm -13 "$work/constants" "$work/constants.theirs" >"$work/missing"
while read -r name; do
    grep -qxE "$patterns" <<<"$name" || { echo "missing in our mpi.h: $name"; status=1; }
done <"$work/missing"
while read -r pattern; do
    grep -qxE "$pattern" "$work/missing" || { echo "later_constants.txt: nothing missing matches $pattern"; status=1; }
done <<<"$patterns"
exit $status
