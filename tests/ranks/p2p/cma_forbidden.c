// SPDX-License-Identifier: BSD-3-Clause
// The system forbids CMA in mid-run, as a container's rules do from the start: messages go on by the other way, and
// nobody hears of it.
// ranks: 2 3
#define _GNU_SOURCE
#include "tests/ranks/check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { n = 300000 };
static int out[n], in[n];

static void forbid(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0, "no filter: errno %d", errno);
    struct iovec nothing = {in, 1};
    CHECK(process_vm_readv(getpid(), &nothing, 1, &nothing, 1, 0) < 0 && errno == EPERM, "CMA still works%s", "");
}

int main(int argc, char **argv) {
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < 6; ++round) {
        if (round == 2 && me == 1) forbid();   // one rank first, then all
        if (round == 4 && me != 1) forbid();
        for (int i = 0; i < n; ++i) out[i] = me * 1000 + round + i, in[i] = -1;
        int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
        MPI_Sendrecv(out, n, MPI_INT, to, 1, in, n, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; ++i)
            CHECK(in[i] == from * 1000 + round + i, "round %d: element %d is %d", round, i, in[i]);
    }
    MPI_Finalize();
    return 0;
}
