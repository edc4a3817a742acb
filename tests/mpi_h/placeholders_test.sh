#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A program that was built with MPICH and calls a function that Tutti does not offer: the program starts, and the call
# ends the whole job with a message. The same program does not link with our mpicc, and the compiler names the function.
. "$(dirname "$0")/lib.sh" "$1"

cat >"$work/guest.c" <<'EOF'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
#ifdef AS_MPICH_DECLARES_IT
int MPI_File_open(MPI_Comm, const char *, int, MPI_Info, MPI_File *);
#endif
int main(int argc, char **argv) {
    int rank;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 1) for (;;) pause();
    MPI_File_open(MPI_COMM_WORLD, "name", 0, MPI_INFO_NULL, &file);
    puts("returned");
    return 0;
}
EOF
cat >"$work/early.c" <<'EOF'
int MPI_Session_init(int, int, int *);
int main(void) {
    int session;
    return MPI_Session_init(0, 0, &session);
}
EOF
like_mpich() { gcc -DAS_MPICH_DECLARES_IT -I"$build/include" "$1" -o "$2" -L"$build/lib" -Wl,-rpath,"$build/lib" -l:libmpich.so.12 -lmpi; }

like_mpich "$work/guest.c" "$work/guest" || wrong "linking with libmpich.so.12"
out=$(timeout "$limit_s" "$build/bin/mpiexec" -n 3 "$work/guest" 2>&1)
code=$?
{ [ $code -ne 0 ] && [ $code -ne 124 ]; } || wrong "the job ended with code $code"
has "the message" "Tutti does not offer MPI_File_open yet (it belongs to files)" "$out"
lacks "after the call" "returned" "$out"

like_mpich "$work/early.c" "$work/early" || wrong "linking with libmpich.so.12"
out=$("$work/early" 2>&1) && wrong "MPI_Session_init before MPI_Init succeeded"
has "before MPI_Init" "Tutti does not offer MPI_Session_init yet (it belongs to sessions)" "$out"

out=$("$build/bin/mpicc" -Werror=implicit-function-declaration -c "$work/guest.c" -o "$work/guest.o" 2>&1) && wrong "mpi.h declares MPI_File_open"
has "the compiler's error" MPI_File_open "$out"
"$build/bin/mpicc" -w "$work/guest.c" -o "$work/guest2" 2>/dev/null && wrong "libmpi.so has MPI_File_open"

# Checks for a function as autoconf does. Functions that Tutti does not offer must be absent under each name of the
# library, in the build tree and in an installation.
has_function() { # PLACE FUNCTION LIBRARY
    printf 'char %s(void);\nint main(void) { return %s(); }\n' "$2" "$2" >"$work/check.c"
    gcc -w "$work/check.c" -o "$work/check" -L"$1" -Wl,-rpath,"$1" "-l$3" 2>/dev/null
}
install_and_move installed
for place in "$build/lib" "$(dirname "$(find "$moved" -name libmpi.so.12)")"; do
    for library in mpi mpich; do
        has_function "$place" MPI_Allreduce $library || wrong "-l$library in $place has no MPI_Allreduce"
        readelf -d "$work/check" | grep -q 'NEEDED.*\[libmpi\.so\.12\]' || wrong "-l$library does not ask for libmpi.so.12"
        for function in MPI_File_open PMPI_File_open MPI_Comm_spawn MPI_Session_init; do
            has_function "$place" $function $library && wrong "-l$library in $place has $function"
        done
    done
    [ -e "$place/libmpich.so.12" ] || wrong "there is no libmpich.so.12 for programs that run, in $place"
done
finish
