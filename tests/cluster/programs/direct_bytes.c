// SPDX-License-Identifier: BSD-3-Clause
// A library for the programs joined.*, also from Fortran and Python.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/// Returns the bytes that this rank has loaded from or stored to the buffers of its peers, since the first call. Must
/// be called after MPI_Init.
long long direct_bytes(void) {
    static MPI_T_pvar_session session;
    static MPI_T_pvar_handle counter;
    static int started = 0;
    if (!started) {
        int index, number, provided;
        if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) || MPI_T_pvar_session_create(&session) ||
            MPI_T_pvar_get_index("tutti_bytes_direct", MPI_T_PVAR_CLASS_AGGREGATE, &index) ||
            MPI_T_pvar_handle_alloc(session, index, NULL, &counter, &number) || MPI_T_pvar_start(session, counter)) {
            fprintf(stderr, "the counter tutti_bytes_direct cannot be read\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        started = 1;
    }
    unsigned long long value = 0;
    MPI_T_pvar_read(session, counter, &value);
    return (long long)value;
}
