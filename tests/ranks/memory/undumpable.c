/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 forbids other processes to access its memory (PR_SET_DUMPABLE) during communication: messages, collectives,
 * and existing windows continue with another access method. */
// ranks: 2 4
// run without_arenas: 2 4 TUTTI_ARENA=no
#include <linux/capability.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/ranks/check.h"

enum { numbers = 1500000, in_window = 100000, rounds = 8 };

/* A privileged process would get access nevertheless. */
static void drop_privilege(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    CHECK(syscall(SYS_capget, &header, data) == 0, "capget");
    data[0].effective &= ~(1u << CAP_SYS_PTRACE);
    CHECK(syscall(SYS_capset, &header, data) == 0, "capset");
}

static int *outside_of_arenas(size_t n) {
    void *memory = mmap(NULL, n * sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED, "no memory");
    return memory;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    drop_privilege();
    int *const in = outside_of_arenas(numbers), *const out = outside_of_arenas(numbers),
               *const memory = outside_of_arenas(in_window);
    int const right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win window;
    MPI_Win_create(memory, in_window * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int round = 0; round < rounds; ++round) {
        if (round == 2 && rank == 1) CHECK(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, "prctl");
        for (int i = 0; i < numbers; ++i) in[i] = i + rank + round;

        MPI_Win_fence(0, window);
        MPI_Put(in, in_window / 2, MPI_INT, right, 0, in_window / 2, MPI_INT, window);
        for (int r = 0; r < size; ++r)
            MPI_Accumulate(in, in_window / 2, MPI_INT, r, in_window / 2, in_window / 2, MPI_INT, MPI_SUM, window);
        MPI_Win_fence(0, window);
        for (int i = 0; i < in_window / 2; ++i) {
            CHECK(memory[i] == i + left + round, "round %d: put %d: %d", round, i, memory[i]);
            int const sum = size * (i + round) + size * (size - 1) / 2;
            CHECK(memory[in_window / 2 + i] == sum, "round %d: sum %d: %d", round, i, memory[in_window / 2 + i]);
        }
        memset(memory, 0, in_window * sizeof(int));
        MPI_Win_fence(0, window);

        int const one = 1;
        int old;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        MPI_Fetch_and_op(&one, &old, MPI_INT, 1, 0, MPI_SUM, window);
        MPI_Get(out, 10, MPI_INT, 1, 1, 10, MPI_INT, window);
        MPI_Win_unlock(1, window);
        CHECK(old >= 0 && old < size && out[9] == 0, "round %d: %d before, %d", round, old, out[9]);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(memory[0] == (rank == 1 ? size : 0), "round %d: %d ranks", round, memory[0]);
        memory[0] = 0;

        MPI_Allreduce(in, out, numbers, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < numbers; i += 997)
            CHECK(out[i] == size * (i + round) + size * (size - 1) / 2, "round %d: %d of %d", round, out[i], i);
        MPI_Sendrecv(in, numbers, MPI_INT, right, 0, out, numbers, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < numbers; i += 997)
            CHECK(out[i] == i + left + round, "round %d: %d of %d", round, out[i], i);
        if (rank == 1) memcpy(out, in, numbers * sizeof(int));
        MPI_Bcast(out, numbers, MPI_INT, 1, MPI_COMM_WORLD);
        CHECK(out[numbers - 1] == numbers + round, "round %d: %d", round, out[numbers - 1]);
        MPI_Allgather(in, numbers / size, MPI_INT, out, numbers / size, MPI_INT, MPI_COMM_WORLD);
        for (int r = 0; r < size; ++r)
            CHECK(out[r * (numbers / size)] == r + round, "round %d: rank %d's part: %d", round, r, out[r]);
    }
    MPI_Win_free(&window);
    CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0, "prctl");   /* for leak checkers at the end */
    MPI_Finalize();
    return 0;
}
