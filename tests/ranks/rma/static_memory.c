// SPDX-License-Identifier: BSD-3-Clause
// Windows over static memory, which only the kernel may be able to access: a dense transfer is one system call for any
// number of elements and any datatype; transfers with gaps also work.
// ranks: 2
// alone: it defines system functions
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/ranks/check.h"

enum { n = 100000 };

static int there[n], here[n];
static int calls;

// Replace the C library's functions, which the linker finds second.
ssize_t process_vm_readv(pid_t pid, const struct iovec* local, unsigned long locals, const struct iovec* remote,
                         unsigned long remotes, unsigned long flags) {
    ++calls;
    return syscall(SYS_process_vm_readv, pid, local, locals, remote, remotes, flags);
}
ssize_t process_vm_writev(pid_t pid, const struct iovec* local, unsigned long locals, const struct iovec* remote,
                          unsigned long remotes, unsigned long flags) {
    ++calls;
    return syscall(SYS_process_vm_writev, pid, local, locals, remote, remotes, flags);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype dense, gaps;
    MPI_Type_contiguous(n / 10, MPI_INT, &dense);
    MPI_Type_vector(n / 1000, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&dense);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < n; ++i) there[i] = rank * n + i;
    MPI_Win win;
    MPI_Win_create(there, sizeof there, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        calls = 0;
        MPI_Get(here, n, MPI_INT, 1, 0, n, MPI_INT, win);
        CHECK(calls <= 1, "%d calls of the system for a dense get", calls);
    }
    MPI_Win_fence(0, win);   // puts may send the fetched data from here on
    if (rank == 0) {
        MPI_Put(here, 10, dense, 1, 0, n, MPI_INT, win);
        CHECK(calls <= 2, "%d calls of the system for it and a dense put", calls);
    }
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; ++i) {
        CHECK(there[i] == rank * n + i, "element %d is %d", i, there[i]);
        if (rank == 0) CHECK(here[i] == n + i, "got element %d is %d", i, here[i]);
    }
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Get(here, n / 1000, MPI_INT, 1, 1, 1, gaps, win);
    MPI_Win_fence(0, win);
    if (rank == 0)
        for (int i = 0; i < n / 1000; ++i)
            CHECK(here[i] == n + 1 + 2 * i, "element %d of a get with gaps is %d", i, here[i]);
    MPI_Type_free(&dense);
    MPI_Type_free(&gaps);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
