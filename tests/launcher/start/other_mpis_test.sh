#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs built with Debian's MPICH and Open MPI: run with --drop-in by Tutti's library, without it by their own.
. "$(dirname "$0")/../common.sh" "$1"
need_package libmpich-dev "/usr/include/*/mpich/mpi.h"
need_package libopenmpi-dev "/usr/lib/*/openmpi/include/mpi.h"

printf '#include <mpi.h>\n#include <stdio.h>\nint main(int c, char** v) { int n; MPI_Init(&c, &v); MPI_Comm_size(MPI_COMM_WORLD, &n); printf("of %%d\\n", n); MPI_Finalize(); return 0; }\n' > "$folder/of.c"
mpicc.mpich "$folder/of.c" -o "$folder/of" || wrong "mpicc.mpich"
mpicc.mpich "$folder/of.c" -o "$folder/of-rpath" -Wl,--disable-new-dtags,-rpath,"$(dirname "$(echo /usr/lib/*/libmpich.so.12)")" || wrong "mpicc.mpich"
run -n 2 --drop-in "$folder/of"; expect_code 0; expect_out $'of 2\nof 2'; expect_silence
run -n 2 --drop-in "$folder/of-rpath"; expect_code 0; expect_out $'of 2\nof 2'
# a tool that the user preloads intercepts the calls, although the program's RPATH makes mpiexec preload our library
printf '#include <mpi.h>\n#include <unistd.h>\nint MPI_Finalize(void) { if (write(1, "tool\\n", 5) < 5) return 1; return PMPI_Finalize(); }\n' > "$folder/tool.c"
mpicc.mpich -shared -fPIC "$folder/tool.c" -o "$folder/tool.so" || wrong "mpicc.mpich -shared"
for program in of of-rpath; do
    run -n 2 --drop-in -genv LD_PRELOAD "$folder/tool.so" "$folder/$program"
    expect_code 0; expect_lines $'of 2\nof 2\ntool\ntool'
done
run -n 2 -v "$folder/of"; expect_code 0; expect_out $'of 2\nof 2'; expect_err "libmpich.so.12"; expect_err "; --drop-in replaces it"
run -n 1 "$folder/of"; expect_code 0; expect_out 'of 1'; expect_silence

mpicc.openmpi "$folder/of.c" -o "$folder/of-openmpi" 2> /dev/null || wrong "mpicc.openmpi"
run -n 2 --drop-in "$folder/of-openmpi"; expect_code 126; expect_err "libmpi.so.40"
run -n 2 "$folder/of-openmpi"; expect_code 0; expect_out $'of 2\nof 2'; expect_silence
finish
