// SPDX-License-Identifier: BSD-3-Clause
// A libxpmem for machines without the kernel module. Ranks that are threads of one process share addresses, and an
// attached address is the address itself. Between processes attaching cannot work; it succeeds only as often as a test
// allows.
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

atomic_int fake_attaches_left = 0;   // number of attaches that will succeed
atomic_int fake_attached = 0, fake_segments = 0, fake_accesses = 0;
atomic_int fake_modes = 0;        // all permissions that were granted, combined
atomic_int fake_last_bytes = 0;   // of the last attach

struct xpmem_addr {
    int64_t apid;
    off_t offset;
};

int64_t xpmem_make(void* address, size_t bytes, int permit_type, void* permit) {
    if (address || bytes != ~(size_t)0 || permit_type != 1) return -1;
    fake_modes |= (int)(intptr_t)permit;
    return 100 + fake_segments++;
}

int xpmem_remove(int64_t segment) {
    if (segment < 100) return -1;
    fake_segments--;
    return 0;
}

int64_t xpmem_get(int64_t segment, int flags, int permit_type, void* permit) {
    if (segment < 100 || flags != 2 || permit_type != 1 || permit) return -1;
    return 1000 + fake_accesses++;
}

int xpmem_release(int64_t access) {
    if (access < 1000) return -1;
    fake_accesses--;
    return 0;
}

void* xpmem_attach(struct xpmem_addr from, size_t bytes, void* wanted) {
    if (from.apid < 1000 || from.offset % 4096 != 0 || bytes == 0 || wanted) return (void*)-1;
    if (fake_attaches_left == 0) return (void*)-1;
    fake_attaches_left--;
    fake_attached++;
    fake_last_bytes = (int)bytes;
    return (void*)from.offset;
}

int xpmem_detach(void* at) {
    (void)at;
    fake_attached--;
    return 0;
}
