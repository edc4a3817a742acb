#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The recipe of mpiexec --help debugging: gdb without windows shows where a rank crashes, and a program that does not
# crash ends with its own exit code.
# cores: 2
. "$(dirname "$0")/../common.sh" "$1"
need_package gdb gdb
is_sanitized && skip "a sanitizer reports crashes itself"
cat > "$folder/crash.c" << 'END'
#include <mpi.h>
#include <stdlib.h>
static void crash(int *where) { *where = 1; }
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && rank == 1) crash(NULL);
    MPI_Finalize();
    return 0;
}
END
"$build/bin/mpicc" -g -O0 "$folder/crash.c" -o "$folder/crash" || wrong "mpicc ended with $?"
recipe=$("$mpiexec" --help debugging | grep -m1 -- 'mpiexec -n 4 .*gdb -batch')
recipe=${recipe/mpiexec -n 4/run -n 2} recipe=${recipe/.\/a.out/"$folder/crash"}
[[ "$recipe" == *"run -n 2 -l gdb -batch"*"--args $folder/crash" ]] || wrong "the recipe: $recipe"
eval "$recipe"; expect_code 0
[[ "$out" == *"exited normally"* && "$out$err" != *"No stack"* ]] || wrong "without a crash: $out $err"
eval "$recipe now"; [ "$code" != 0 ] || wrong "a crash ended with 0"
[[ "$out" == *"[1] #0 "*"crash (where=0x0) at "*crash.c:3* ]] || wrong "the stack of the crash: $out"
[[ "$out" == *"[1] #1 "*main* ]] || wrong "the caller of the crash: $out"

# Without a display, -gdb prints the same recipe.
DISPLAY='' run -n 2 -gdb "$folder/crash"; expect_code 2
expect_err "$("$mpiexec" --help debugging | grep -m1 -o 'gdb -batch .*--args ./a.out')"
finish
