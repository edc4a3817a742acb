#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# At the end of a job on a terminal, mpiexec prints one line about MPI objects that were not freed; the exit code is the
# same.
. "$(dirname "$0")/../nodes/nodes_common.sh" "$1"

cat >"$folder/leaks.c" <<'END'
#include <mpi.h>
#include <string.h>

static int value;

int main(int argc, char **argv)
{
    int rank, copies = 3;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "frees") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_free(&comm);
        MPI_Type_create_f90_integer(9, &type);   /* which a program must not free */
        return MPI_Finalize();
    }
    while (copies-- > 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (strcmp(argv[1], "all") == 0 || rank == 1) {
        MPI_Type_contiguous(4, MPI_INT, &type);
        MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &request);
    }
    MPI_Finalize();
    return strcmp(argv[1], "fails") == 0 ? 4 : 0;
}
END
"$build/bin/mpicc" "$folder/leaks.c" -o "$folder/leaks" || exit 1

# on_terminal ARGUMENTS OF MPIEXEC: sets $code and $screen
on_terminal() {
    timeout "$limit_s" "$build/tests/launcher_on_terminal" "$mpiexec" "$@" >"$folder/screen" </dev/null
    code=$? screen=$(tr -d '\r' <"$folder/screen") what="on a terminal, mpiexec $*"
}
expect_screen() { [ "$screen" = "$1" ] || wrong "$what showed '$screen' instead of '$1'"; }
all="mpiexec: 3 communicators, 1 datatype, 1 persistent request never freed; --check shows where."
some="mpiexec: up to 3 communicators, 1 datatype, 1 persistent request per rank never freed; --check shows where."

on_terminal -n 2 "$folder/leaks" all; expect_code 0; expect_screen "$all"
on_terminal -n 2 "$folder/leaks" some; expect_code 0; expect_screen "$some"
on_terminal -n 2 "$folder/leaks" fails; expect_code 4; [[ "$screen" == *"$some"* ]] || wrong "$what showed '$screen'"
on_terminal -n 2 "$folder/leaks" frees; expect_code 0; expect_screen ""
on_terminal --launcher-agent "$agent" -hosts "$two" -n 4 "$folder/leaks" all; expect_code 0; expect_screen "$all"
on_terminal --launcher-agent "$agent" -hosts "$two" -n 4 "$folder/leaks" some; expect_code 0; expect_screen "$some"
on_terminal -quiet -n 2 "$folder/leaks" all; expect_code 0; expect_screen ""
on_terminal -genv TUTTI_DIAGNOSIS no -n 2 "$folder/leaks" all; expect_code 0; expect_screen ""
on_terminal --check -n 2 "$folder/leaks" all; expect_code 0
[[ "$screen" == *"warning[T08]"* && "$screen" != *"never freed"* ]] || wrong "$what showed '$screen'"
run -n 2 "$folder/leaks" all; expect_code 0; expect_silence
finish
