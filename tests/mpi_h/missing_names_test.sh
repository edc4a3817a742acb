#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What compiler and linker report about names of MPI that Tutti does not have, such as MPI_File_open, MPI_MODE_CREATE and
# MPI_Send_c: every function of abi/placeholders.def that mpi.h does not declare, and some constants.
. "$(dirname "$0")/lib.sh" "$1"
sed -nE 's/^[A-Za-z_]+ (MPI_\w*)\(.*/\1/p' "$source/mpi_h/include/mpi.h" | sort >"$work/declared"
grep -v '^[#[]' "$source/mpi_h/abi/placeholders.def" | grep -oE '\bMPI_\w+' | sort -u | comm -23 - "$work/declared" >"$work/missing"
for name in MPI_File_open MPI_Comm_spawn MPI_Open_port MPI_Session_init MPI_Send_c MPI_Psend_init; do
    grep -qx "$name" "$work/missing" || wrong "$name is not missing"
done

# compile WRAPPER OPTIONS...: the messages are in log; fails if the program is built.
compile() { ! "$build/bin/$1" "${@:2}" -o "$work/out" >"$work/log" 2>&1 || wrong "$* accepts what is missing"; }
# all_reported WHO PATTERN: each missing function is the first name in a message with PATTERN, and no other one is.
all_reported() {
    local differences
    differences=$(grep -E "$2" "$work/log" | sed -E "s/^[^'\`‘]*['\`‘](MPI_\w+).*/\1/" | sort -u | diff "$work/missing" - | head) ||
        wrong "functions that $1 reports: $differences"
}
{ echo '#include <mpi.h>'; echo 'int main(void) {'; sed 's/$/();/' "$work/missing"; echo '}'; } >"$work/functions.c"
compile mpicxx -x c++ "$work/functions.c"
all_reported "a C++ compiler" 'error: .*was not declared'
compile mpicc -fpermissive "$work/functions.c"   # later versions of GCC report errors instead of warnings
all_reported "a C compiler" 'warning: implicit declaration'
all_reported "the linker" 'undefined reference to'

for constant in MPI_MODE_CREATE MPI_MODE_RDONLY MPI_SEEK_SET MPI_MAX_PSET_NAME_LEN; do
    printf '#include <mpi.h>\nint x(void) { return %s; }\n' "$constant" >"$work/constant.c"
    compile mpicc -c "$work/constant.c"
    grep -q "error: ‘$constant’ undeclared" "$work/log" || wrong "C and $constant: $(cat "$work/log")"
    compile mpicxx -x c++ -c "$work/constant.c"
    grep -q "error: ‘$constant’ was not declared" "$work/log" || wrong "C++ and $constant: $(cat "$work/log")"
done
finish
