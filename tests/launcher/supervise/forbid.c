// SPDX-License-Identifier: BSD-3-Clause
// forbid GROUP... -- program args: runs a program for which groups of system calls fail with EPERM, as in a container:
// cma (process_vm_readv and process_vm_writev), sockets, memfd, mbind, policies (mbind and calls that query memory
// policies), faccessat2 (unknown to old containers).
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int forbid(long call) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof program / sizeof program[0], program};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

int main(int argc, char** argv) {
    int failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; ++i) {
        if (strcmp(argv[i], "cma") == 0) failed |= forbid(SYS_process_vm_readv) | forbid(SYS_process_vm_writev);
        else if (strcmp(argv[i], "sockets") == 0) failed |= forbid(SYS_socket) | forbid(SYS_socketpair);
        else if (strcmp(argv[i], "memfd") == 0) failed |= forbid(SYS_memfd_create);
        else if (strcmp(argv[i], "faccessat2") == 0) failed |= forbid(SYS_faccessat2);
        else if (strcmp(argv[i], "mbind") == 0) failed |= forbid(SYS_mbind);
        else if (strcmp(argv[i], "policies") == 0)
            failed |= forbid(SYS_mbind) | forbid(SYS_get_mempolicy) | forbid(SYS_move_pages);
        else return fprintf(stderr, "forbid what? not '%s'\n", argv[i]), 2;
    }
    if (failed || i + 1 >= argc) return perror("forbid"), 77;
    execvp(argv[i + 1], argv + i + 1);
    return perror(argv[i + 1]), 127;
}
