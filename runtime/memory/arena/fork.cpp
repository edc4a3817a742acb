// SPDX-License-Identifier: BSD-3-Clause
// What a forked child gets of its parent's arena: a private view of the file, of which every page becomes the child's
// own before the parent goes on, unless the child has started another program or ended by then.
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/memory/arena/arena.hpp"
#include "runtime/memory/map_window.hpp"

namespace tutti::arena {
namespace {

/// In which most children that only start another program have done so.
constexpr long head_start_ns = 2'000'000;

[[noreturn]] void no_copies() {
    static constexpr char line[] =
        "tutti: a forked process ends, since the system does not grant it a copy of its parent's memory. Raise the "
        "limits on memory and addresses (ulimit -v, ulimit -d), or set TUTTI_ARENA=no.\n";
    if (write(2, line, sizeof line - 1) < 0) {}   // the process ends in any case
    std::abort();
}

bool read_all(int descriptor, std::byte* to, std::size_t bytes, off_t offset) {
    while (bytes > 0) {
        ssize_t const n = pread(descriptor, to, bytes, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        to += n, offset += n, bytes -= static_cast<std::size_t>(n);
    }
    return true;
}

}   // namespace

void Arena::before_fork() {
    // A child's child gets what the child has.
    while (__atomic_load_n(&copying_, __ATOMIC_ACQUIRE) != 0) usleep(100);
    Page in_use = 0;
    for (Shard& shard : shards_) {
        pthread_mutex_lock(&shard.mutex);
        in_use += shard.runs.in_use();
    }
    pthread_mutex_lock(&wiped_mutex_);
    child_done_[0] = child_done_[1] = -1;
    copied_ahead_ = false;
    extent_count_ = 0;
    if (state_ != State::open || in_use == 0) return;
    // Pages must not follow what other threads do, which go on at once.
    head_start_ns_ = __libc_single_threaded ? head_start_ns : 0;
    populates_ = madvise(nullptr, 0, MADV_POPULATE_WRITE) == 0;   // since Linux 5.14
    // The program may have closed descriptors that it has not opened, or there may be none left.
    bool const has_file = memory_file(descriptor_).inode == file_.inode;
    if (has_file && pipe2(child_done_, O_CLOEXEC) == 0) return;
    child_done_[0] = child_done_[1] = -1;
    copied_ahead_ = true;
    for (Shard& shard : shards_)
        shard.copy_ahead(has_file ? descriptor_ : -1, offset_ + static_cast<off_t>(shard.base - base_));
}

void Arena::after_fork_in_parent() {
    pthread_mutex_unlock(&wiped_mutex_);
    if (child_done_[0] >= 0) {
        ::close(child_done_[1]);
        char nothing;
        while (read(child_done_[0], &nothing, 1) < 0 && errno == EINTR) {}   // ends when the child closes, or dies
        ::close(child_done_[0]);
    }
    for (Shard& shard : shards_) {
        if (shard.copies) munmap(shard.copies, shard.copied_bytes);
        shard.copies = nullptr;
        pthread_mutex_unlock(&shard.mutex);
    }
}

void Arena::after_fork_in_child() {
    if (child_done_[0] >= 0) ::close(child_done_[0]);
    if (state_ == State::open) {
        if (!(copied_ahead_ ? take_copies() : map_for_child())) no_copies();
        __atomic_store_n(&state_, State::forked, __ATOMIC_RELEASE);
    }
    if (!wipe()) no_copies();
    if (extent_count_ != 0 && !copy_beside()) copy_extents();
    if (child_done_[1] >= 0) ::close(child_done_[1]);
    pthread_mutex_unlock(&wiped_mutex_);
    for (Shard& shard : shards_) pthread_mutex_unlock(&shard.mutex);
}

/// A private view of the file where blocks have data. Holes are left to the zeroes of anonymous memory.
bool Arena::map_for_child() {
    std::size_t pages = 0;
    for (Shard& shard : shards_) pages += shard.accessible / page_bytes;
    extents_ = static_cast<Extent*>(map_anonymous((pages / 2 + shards) * sizeof(Extent), PROT_READ | PROT_WRITE));
    if (!extents_) return false;
    for (Shard& shard : shards_) {
        if (shard.accessible == 0) continue;
        if (!map_anonymous_at(shard.address(0), shard.accessible)) return false;
        bool mapped = true;
        shard.runs.for_each_used([&](Page first, Page n) {
            mapped = mapped &&
                     map_block(reinterpret_cast<std::uintptr_t>(shard.address(first)), std::size_t{n} * page_bytes);
        });
        if (!mapped) return false;
    }
    ::close(descriptor_);
    descriptor_ = -1;
    return true;
}

bool Arena::map_block(std::uintptr_t block, std::size_t bytes) {
    off_t const begin = offset_ + static_cast<off_t>(block - base_), end = begin + static_cast<off_t>(bytes);
    for (off_t at = begin; at < end;) {
        off_t const data = lseek(descriptor_, at, SEEK_DATA);
        if (data < 0 && errno != ENXIO) return false;   // ENXIO: only holes follow
        if (data < 0 || data >= end) return true;
        off_t hole = lseek(descriptor_, data, SEEK_HOLE);
        if (hole < 0 || hole > end) hole = end;
        Extent const extent{base_ + static_cast<std::uintptr_t>(data - offset_), static_cast<std::size_t>(hole - data)};
        if (mmap(reinterpret_cast<void*>(extent.first), extent.bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, descriptor_, data) == MAP_FAILED)
            return false;
        extents_[extent_count_++] = extent;
        at = hole;
    }
    return true;
}

// Makes every page of the private view the child's own by a write that changes nothing, so that none of them follows
// the parent's later changes. It may run beside the child's program: no call of the C library that could fail, since
// the thread that runs it shares the errno of the child's first thread.
void Arena::copy_extents() {
    constexpr std::size_t step = 4 << 20;
    for (std::size_t i = 0; i < extent_count_; ++i) {
        std::uintptr_t const end = extents_[i].first + extents_[i].bytes;
        for (std::uintptr_t at = extents_[i].first; populates_ && at < end; at += step)
            if (syscall(SYS_madvise, at, end - at < step ? end - at : step, MADV_POPULATE_WRITE) != 0)
                populates_ = false;   // touching is as good
        for (std::uintptr_t at = extents_[i].first; !populates_ && at < end; at += page_bytes)
            __atomic_fetch_or(reinterpret_cast<char*>(at), 0, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&copying_, 0, __ATOMIC_RELEASE);
}

int Arena::copier(void* arena) {
    auto& self = *static_cast<Arena*>(arena);
    timespec const head_start{0, self.head_start_ns_};
    syscall(SYS_nanosleep, &head_start, nullptr);
    self.copy_extents();
    return 0;   // its descriptors go, and the parent goes on
}

/// Lets a thread copy while the child's program runs; false where the system grants none. Most children only start
/// another program, which ends the thread before it has copied anything of weight. The parent waits for the end of the
/// thread, whose descriptors are its own: the program may close those that it has not opened.
bool Arena::copy_beside() {
#ifdef __SANITIZE_THREAD__
    return false;   // knows threads of the C library only
#else
    alignas(64) static char stack[64 << 10];
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);   // signals are for the program's own threads
    __atomic_store_n(&copying_, 1, __ATOMIC_RELEASE);
    int const thread =
        clone(copier, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, this);
    if (thread < 0) __atomic_store_n(&copying_, 0, __ATOMIC_RELEASE);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread >= 0;
#endif
}

/// In the parent, from the file (none: -1), in which the shard begins at `offset`: programs make pages of their blocks
/// inaccessible. More memory is touched this way, as holes are not told from zeroes. A shard of which the system grants
/// no copies has none, which ends the child.
void Arena::Shard::copy_ahead(int descriptor, off_t offset) {
    copied_bytes = accessible;
    if (runs.in_use() == 0) return;
    copies = static_cast<std::byte*>(map_anonymous(copied_bytes, PROT_READ | PROT_WRITE));
    if (!copies) return;
    bool copied = true;
    runs.for_each_used([&](Page first, Page pages) {
        std::size_t const at = std::size_t{first} * page_bytes, bytes = std::size_t{pages} * page_bytes;
        if (descriptor < 0) std::memcpy(copies + at, address(first), bytes);
        else copied = copied && read_all(descriptor, copies + at, bytes, offset + static_cast<off_t>(at));
    });
    if (copied) return;
    munmap(copies, copied_bytes);
    copies = nullptr;
}

bool Arena::take_copies() {
    for (Shard& shard : shards_) {
        if (shard.runs.in_use() == 0) continue;
        if (!shard.copies || mremap(shard.copies, shard.copied_bytes, shard.copied_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                                    shard.address(0)) == MAP_FAILED)
            return false;
        shard.copies = nullptr;
    }
    descriptor_ = -1;
    return true;
}

}   // namespace tutti::arena
