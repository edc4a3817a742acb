// SPDX-License-Identifier: BSD-3-Clause
// What a forked child gets of its parent's arena. The parent's own mapping stays unchanged (fork.md explains why), so
// the child needs copies, which it gets in one of two ways:
// - A private view of the file. A thread of the child makes every page the child's own before the parent continues,
//   unless the child has started another program or ended by then: a child that calls exec copies hardly anything.
// - Copies that the parent has made ahead and that its further children share, if the last child has continued.
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

#include "runtime/memory/address_window.hpp"
#include "runtime/memory/arena/arena.hpp"

namespace tutti::arena {
namespace {

/// Time in which most children that only start another program have done so.
constexpr long head_start_ns = 2'000'000;

[[noreturn]] void abort_without_copies() {
    static constexpr char line[] =
        "tutti: a forked process was aborted because the system denied it a copy of its parent's memory. Raise the "
        "limits on memory and addresses (ulimit -v, ulimit -d), or set TUTTI_ARENA=no.\n";
    if (write(2, line, sizeof line - 1) < 0) {}   // the process ends in any case
    std::abort();
}

/// Calls each(first, end, has_data) for the parts of a file between two offsets, as long as it returns true. Returns
/// false if it has not, or if the system refuses.
template <class Each>
bool each_part(int file, off_t first, off_t end, Each each) {
    for (off_t at = first; at < end;) {
        off_t data = lseek(file, at, SEEK_DATA);
        if (data < 0 && errno != ENXIO) return false;   // ENXIO: only holes follow
        if (data < 0 || data > end) data = end;
        if (at < data && !each(at, data, false)) return false;
        if (data == end) return true;
        off_t hole = lseek(file, data, SEEK_HOLE);
        if (hole < 0 || hole > end) hole = end;
        if (!each(data, hole, true)) return false;
        at = hole;
    }
    return true;
}

/// Writes only to pages that differ: the others stay shared with earlier children.
void update(std::byte* copy, std::byte const* from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += page_bytes)
        if (std::memcmp(copy + at, from + at, page_bytes) != 0) std::memcpy(copy + at, from + at, page_bytes);
}

// Direct system calls, because the calling thread may share the C library's data with another one.

bool populate(std::uintptr_t at, std::size_t bytes) {
    return syscall(SYS_madvise, at, bytes, MADV_POPULATE_WRITE) == 0;
}

/// Handles a page that cannot be written: the kernel makes it this process's own as for a debugger, which may write
/// everywhere. `memory` is opened at the first use. Returns true also if the page no longer exists.
bool own_protected_page(std::uintptr_t at, long& memory) {
    if (memory < 0) memory = syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC);
    char byte;
    if (syscall(SYS_pread64, memory, &byte, 1, at) != 1) return errno == EIO;
    return syscall(SYS_pwrite64, memory, &byte, 1, at) == 1;
}

}   // namespace

void Arena::before_fork() {
    // A grandchild gets what the child has, so the child's copy must be complete.
    while (__atomic_load_n(&copying_, __ATOMIC_ACQUIRE) != 0) usleep(100);
    Page in_use = 0;
    for (Shard& shard : shards_) {
        pthread_mutex_lock(&shard.mutex);
        in_use += shard.runs.in_use();
    }
    pthread_mutex_lock(&children_mutex_);
    child_done_[0] = child_done_[1] = -1;
    copied_before_fork_ = false;
    extent_count_ = 0;
    bool const last_child_is_alive = in_use != 0 && last_child_.is_alive();
    if (!last_child_is_alive) drop_copies();
    if (state_ != State::open || in_use == 0) return;
    last_child_.mark();
    // The program may have closed descriptors that it has not opened, or none may be left.
    int const file = memory_file(descriptor_).inode == file_.inode ? descriptor_ : -1;
    copied_before_fork_ = last_child_is_alive && copy_before_fork(file);
    if (copied_before_fork_) return;
    // If the parent has several threads, the child copies without a head start: its pages must not follow changes by
    // the parent's other threads, which continue immediately.
    head_start_ns_ = __libc_single_threaded ? head_start_ns : 0;
    populates_ = madvise(nullptr, 0, MADV_POPULATE_WRITE) == 0;   // since Linux 5.14
    if (file >= 0 && pipe2(child_done_, O_CLOEXEC) == 0) return;
    child_done_[0] = child_done_[1] = -1;
    copy_before_fork(file);
    copied_before_fork_ = true;   // if the copies failed, the child ends with a message
}

void Arena::after_fork_in_parent() {
    last_child_.detach_in_parent();
    if (!last_child_.marked()) drop_copies();   // there would be no later occasion
    pthread_mutex_unlock(&children_mutex_);
    if (child_done_[0] >= 0) {
        ::close(child_done_[1]);
        char nothing;
        while (read(child_done_[0], &nothing, 1) < 0 && errno == EINTR) {}   // until the child closes its end or dies
        ::close(child_done_[0]);
    }
    for (Shard& shard : shards_) pthread_mutex_unlock(&shard.mutex);
}

void Arena::after_fork_in_child() {
    last_child_.adopt_in_child();
    if (child_done_[0] >= 0) ::close(child_done_[0]);
    if (state_ == State::open) {
        if (!(copied_before_fork_ ? adopt_copies() : map_for_child())) abort_without_copies();
        state_.store(State::forked, std::memory_order_release);
    }
    if (!wipe()) abort_without_copies();
    if (extent_count_ != 0 && !start_copy_thread()) copy_extents();
    if (child_done_[1] >= 0) ::close(child_done_[1]);
    pthread_mutex_unlock(&children_mutex_);
    for (Shard& shard : shards_) pthread_mutex_unlock(&shard.mutex);
}

/// Maps a private view of the file where blocks have data. Holes are left to anonymous memory, which reads as zero.
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
    off_t const first = offset_ + static_cast<off_t>(block - base_);
    return each_part(descriptor_, first, first + static_cast<off_t>(bytes), [&](off_t from, off_t to, bool has_data) {
        if (!has_data) return true;
        Extent const extent{base_ + static_cast<std::uintptr_t>(from - offset_), static_cast<std::size_t>(to - from)};
        if (mmap(reinterpret_cast<void*>(extent.first), extent.bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, descriptor_, from) == MAP_FAILED)
            return false;
        extents_[extent_count_++] = extent;
        return true;
    });
}

// Makes every page of the private view the child's own by a write that changes nothing, so that no page follows the
// parent's later changes. May run concurrently with the child's program, in a thread that shares the errno of the
// program's first thread; a call fails only for pages that the program has unmapped or protected in the meantime.
void Arena::copy_extents() {
    constexpr std::size_t step = 4 << 20;
    long memory = -1;
    for (std::size_t i = 0; i < extent_count_; ++i) {
        std::uintptr_t const end = extents_[i].first + extents_[i].bytes;
        for (std::uintptr_t at = extents_[i].first, next; at < end; at = next) {
            next = end - at < step ? end : at + step;
            if (populates_ && populate(at, next - at)) continue;
            for (; at < next; at += page_bytes)
                if (!populates_ || !(populate(at, page_bytes) || own_protected_page(at, memory)))
                    __atomic_fetch_or(reinterpret_cast<char*>(at), 0, __ATOMIC_RELAXED);
        }
    }
    if (memory >= 0) syscall(SYS_close, memory);
    __atomic_store_n(&copying_, 0, __ATOMIC_RELEASE);
}

int Arena::copier(void* arena) {
    auto& self = *static_cast<Arena*>(arena);
    timespec const head_start{0, self.head_start_ns_};
    syscall(SYS_nanosleep, &head_start, nullptr);   // cannot fail, because all signals are blocked
    self.copy_extents();
    return 0;   // its descriptors are closed, and the parent continues
}

/// Starts a thread that copies while the child's program runs. Returns false if the system refuses. Most children
/// only start another program, which ends the thread before it has copied much. The parent waits for the end of the
/// thread, which has its own descriptors: the program may close those that it has not opened.
bool Arena::start_copy_thread() {
#ifdef __SANITIZE_THREAD__
    return false;   // ThreadSanitizer supports only threads of the C library
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

/// Called in the parent before the fork: updates the copies from the file (-1: none; from the mapping then). Returns
/// false if the system refuses; there are no copies then.
bool Arena::copy_before_fork(int file) {
    bool copied = true;
    for (Shard& shard : shards_)
        copied = copied && shard.copy_before_fork(file, offset_ + static_cast<off_t>(shard.base - base_));
    __atomic_store_n(&has_copies_, true, __ATOMIC_RELAXED);
    if (!copied) drop_copies();
    return copied;
}

/// `offset`: where the shard begins in the file.
bool Arena::Shard::copy_before_fork(int file, off_t offset) {
    if (runs.in_use() == 0) return true;
    if (!grow_copies(file, offset)) return false;
    bool copied = true;
    runs.for_each_used([&](Page first, Page pages) {
        std::size_t const at = std::size_t{first} * page_bytes, bytes = std::size_t{pages} * page_bytes;
        if (file < 0) return update(copies + at, static_cast<std::byte*>(address(first)), bytes);
        off_t const from = offset + static_cast<off_t>(at);
        // Reading a hole would allocate memory for it.
        copied =
            copied && each_part(file, from, from + static_cast<off_t>(bytes), [&](off_t f, off_t e, bool has_data) {
                std::size_t const begin = static_cast<std::size_t>(f - offset), n = static_cast<std::size_t>(e - f);
                if (has_data) update(copies + begin, source + begin, n);
                return has_data || madvise(copies + begin, n, MADV_DONTNEED) == 0;
            });
    });
    return copied;
}

/// Provides room for the copies, and maps the file as their source, because programs make pages of their blocks
/// inaccessible.
bool Arena::Shard::grow_copies(int file, off_t offset) {
    if (copied_bytes == accessible && (source || file < 0)) return true;
    if (source) munmap(source, copied_bytes);
    source = nullptr;
    void* const room = copies ? mremap(copies, copied_bytes, accessible, MREMAP_MAYMOVE)
                              : map_anonymous(accessible, PROT_READ | PROT_WRITE);
    if (!room || room == MAP_FAILED) return false;
    copies = static_cast<std::byte*>(room);
    copied_bytes = accessible;
    if (file < 0) return true;
    void* const mapped = mmap(nullptr, copied_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, file, offset);
    if (mapped == MAP_FAILED) return false;
    source = static_cast<std::byte*>(mapped);
    tutti::advise(source, copied_bytes, MADV_DONTFORK);
    tutti::advise(source, copied_bytes, MADV_DONTDUMP);
    return true;
}

void Arena::Shard::drop_copies() {
    if (copies) munmap(copies, copied_bytes);
    if (source) munmap(source, copied_bytes);
    copies = source = nullptr;
    copied_bytes = 0;
}

/// Must be called with all locks held, or with children_mutex_.
void Arena::drop_copies() {
    for (Shard& shard : shards_) shard.drop_copies();
    __atomic_store_n(&has_copies_, false, __ATOMIC_RELAXED);
}

/// Releases copies that the last child no longer shares.
void Arena::drop_unshared_copies() {
    if (!__atomic_load_n(&has_copies_, __ATOMIC_RELAXED)) return;
    Locked lock(children_mutex_);
    if (!last_child_.is_alive()) drop_copies();
}

/// Called in the child: moves its view of the copies to the addresses of the blocks.
bool Arena::adopt_copies() {
    for (Shard& shard : shards_) {
        shard.source = nullptr;   // not inherited
        if (shard.runs.in_use() == 0) continue;
        if (!shard.copies || mremap(shard.copies, shard.copied_bytes, shard.copied_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                                    shard.address(0)) == MAP_FAILED)
            return false;
        shard.copies = nullptr;
    }
    drop_copies();
    descriptor_ = -1;
    return true;
}

}   // namespace tutti::arena
