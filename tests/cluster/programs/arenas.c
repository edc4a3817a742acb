// SPDX-License-Identifier: BSD-3-Clause
// Each rank prints how large buffers were transferred to and from other ranks: buffers of malloc before MPI_Init, of
// malloc after it, and of MPI_Alloc_mem. "direct": this rank has loaded or stored in the memory of its peers. Results
// are checked. With an argument, the rank of this number is killed at the end, while the others wait for it.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 1 << 18, bytes = count * (int)sizeof(int) };

static void check(int holds, const char* what) {
    if (holds) return;
    printf("WRONG: %s\n", what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_T_pvar_session session;
static MPI_T_pvar_handle arena, direct;

static MPI_T_pvar_handle count_from_now(const char* name, int class) {
    int index, number, continuous, ignored;
    MPI_T_pvar_handle handle;
    check(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS, name);
    check(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &number) == MPI_SUCCESS, name);
    MPI_T_pvar_get_info(index, NULL, NULL, &ignored, &ignored, NULL, NULL, NULL, NULL, &ignored, &ignored, &continuous,
                        &ignored);
    if (!continuous) check(MPI_T_pvar_start(session, handle) == MPI_SUCCESS, name);
    return handle;
}

static unsigned long long counted(MPI_T_pvar_handle handle) {
    unsigned long long value = 0;
    check(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS, "MPI_T_pvar_read");
    return value;
}

/// Returns "direct" if this rank's part of two collectives and a ring of messages was loaded or stored in place.
static const char* way(int* in, int* out, int rank, int size) {
    unsigned long long const before = counted(direct);
    for (int i = 0; i < count; i++) in[i] = rank + i, out[i] = -1;
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) check(out[i] == size * (size - 1) / 2 + size * i, "MPI_Allreduce");
    MPI_Bcast(in, count, MPI_INT, size - 1, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) check(in[i] == size - 1 + i, "MPI_Bcast");
    in[0] = rank;
    MPI_Sendrecv(in, count, MPI_INT, (rank + 1) % size, 0, out, count, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(out[0] == (rank + size - 1) % size && out[count - 1] == size - 1 + count - 1, "MPI_Sendrecv");
    return counted(direct) > before ? "direct" : "other";
}

int main(int argc, char** argv) {
    int *early[2] = {malloc(bytes), malloc(bytes)}, *late[2], *asked[2];
    int rank, size, provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    arena = count_from_now("tutti_arena_bytes", MPI_T_PVAR_CLASS_LEVEL);
    direct = count_from_now("tutti_bytes_direct", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; i++) {
        late[i] = malloc(bytes);
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &asked[i]);
    }
    char const* ways[] = {way(early[0], early[1], rank, size), way(late[0], late[1], rank, size),
                          way(asked[0], asked[1], rank, size)};
    printf("rank %d of %d: %s; early %s, late %s, asked %s\n", rank, size,
           counted(arena) >= 2 * bytes ? "arena" : "none", ways[0], ways[1], ways[2]);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && atoi(argv[1]) == rank) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        free(early[i]), free(late[i]);
        MPI_Free_mem(asked[i]);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
