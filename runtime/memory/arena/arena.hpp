// SPDX-License-Identifier: BSD-3-Clause
// A rank's arena, as its owner sees it: the window of a memory file from which its large blocks are allocated. Peers
// map the same window (runtime/memory/peer_arenas.hpp) and load and store there. The file is the node segment's if
// mpiexec has created one, otherwise this process's own.
//
// The arena works inside malloc, before main and in every thread: no allocation, no exceptions. Blocks begin on
// pages, the smallest unit that peers' page tables and the kernel's huge pages support. The window is divided into
// shards with a lock each: half of it belongs to the first thread, the other shards serve further threads, and every
// block returns to the shard it came from.
//
// Only the part of the window that blocks have reached is accessible, so operations that touch all of a process's
// memory (mlockall, core files, checkpoints) touch what is in use and not a window that is many times the machine's
// memory.
//
// fork: the window is shared memory, so a child would write into its parent's blocks. The child therefore gets
// private copies of all blocks in use, and allocates no new ones. The parent continues when the child has the copies,
// has started another program, or has ended. A child that cannot get copies ends with a message. Further children
// share copies that the parent makes before the fork, as long as the last child lives on without starting another
// program.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "runtime/base/memory_file.hpp"
#include "runtime/memory/arena/last_child.hpp"
#include "runtime/memory/arena/page_runs.hpp"

namespace tutti {
struct RankState;
}

namespace tutti::arena {

struct Options {
    /// Bytes of freed pages that the first shard keeps for reuse; each other shard keeps 1/8 of that. A shard keeps up
    /// to half of what it has in use if that is more.
    std::size_t keep = 0;
    bool huge_pages = true;   ///< request them from the kernel
    /// Page size of the system in bytes, a power of two: blocks are whole system pages. 0: query the system.
    std::size_t system_page = 0;
};

enum class State {
    closed,   ///< not opened (yet)
    open,
    refused,   ///< the system provided no window; permanent
    forked,    ///< in a child: blocks can be read, written and freed, but not allocated
};

class Arena {
public:
    constexpr Arena() = default;
    Arena(Arena const&) = delete;
    Arena& operator=(Arena const&) = delete;

    /// Claims the window of `rank` in the segment of `descriptor`, once. Contents left by an earlier process of the
    /// same rank are dropped; a window that such a process still uses is refused. Thread-safe.
    State open(int descriptor, unsigned rank, Options const& options);
    /// Same without a segment: creates a file for this process alone, which its peers open when they meet.
    State open(Options const& options);
    /// Returns what peers need to map the window; empty if the window lies in a segment, or if the system would not
    /// let them.
    ArenaWindow window() const;
    /// Releases everything. For tests; a program keeps its arena to its end.
    void close();
    State state() const { return state_.load(std::memory_order_acquire); }

    /// Returns true for an address in the window. One comparison; false before open().
    bool contains(void const* p) const { return reinterpret_cast<std::uintptr_t>(p) - base_ < bytes_; }

    /// `alignment`: a power of two. Returns null if there is no room, no arena, or no such alignment (above 2 MiB).
    void* allocate(std::size_t bytes, std::size_t alignment = page_bytes);
    /// All bytes are zero; pages that were never written are not touched.
    void* allocate_zeroed(std::size_t bytes);
    /// Ends the program with a message if `block` is not a block of this arena.
    void release(void* block);
    /// Makes a block longer or shorter in place. Returns false if that is not possible.
    bool resize(void* block, std::size_t bytes);
    /// Returns the size of a block in bytes. Ends the program like release().
    std::size_t usable_size(void const* block);
    /// Returns true if [first, first + bytes) lies in one allocated block. Takes time proportional to the number of
    /// blocks.
    bool is_allocated(void const* first, std::size_t bytes) {
        auto const begin = reinterpret_cast<std::uintptr_t>(first), last = begin + (bytes > 0 ? bytes - 1 : 0);
        for (Shard& shard : shards_) {
            if (begin - shard.base >= shard.bytes || last - shard.base >= shard.bytes) continue;
            Locked lock(shard);
            Page const page = shard.page_of(first);
            return shard.runs.is_within_one_run(page, shard.page_of(reinterpret_cast<void const*>(last)) - page + 1);
        }
        return false;
    }

    /// Implements madvise for memory that overlaps the window: blocks behave like private memory. Returns 0, or -1
    /// with errno.
    int advise(void* memory, std::size_t bytes, int advice);
    bool overlaps(void const* memory, std::size_t bytes) const {
        auto const first = reinterpret_cast<std::uintptr_t>(memory);
        return bytes_ != 0 && first < base_ + bytes_ && first + bytes > base_;
    }

    struct Usage {
        std::size_t in_use, kept, highest;   ///< bytes
    };
    Usage usage();

    // The three handlers of pthread_atfork.
    void before_fork();
    void after_fork_in_parent();
    void after_fork_in_child();

private:
    static constexpr int shards = 9;

    struct alignas(64) Shard {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        PageRuns runs;
        std::uintptr_t base = 0;
        std::size_t bytes = 0;
        std::size_t accessible = 0;    ///< bytes from the start that are accessible and included in core files
        Page bookkeeping_pages = 0;    ///< pages from the start whose bookkeeping is accessible
        std::byte* copies = nullptr;   ///< of its blocks, for children; made before the fork and kept for the next
        std::byte* source = nullptr;   ///< the same part of the file, source of the copies; not in the child
        std::size_t copied_bytes = 0;
        Page keep = 0;

        void* address(Page p) const { return reinterpret_cast<void*>(base + std::size_t{p} * page_bytes); }
        Page page_of(void const* block) const {
            return static_cast<Page>((reinterpret_cast<std::uintptr_t>(block) - base) / page_bytes);
        }
        Page checked(void const* block, char const* what) const;
        bool map_bookkeeping(Page more);
        bool open_used();
        bool copy_before_fork(int file, off_t offset);
        bool grow_copies(int file, off_t offset);
        void drop_copies();
    };
    /// Holds a lock and preserves errno, which free must not change.
    class Locked {
    public:
        explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex), error_(errno) { pthread_mutex_lock(&mutex_); }
        explicit Locked(Shard& shard) : Locked(shard.mutex) {}
        ~Locked() {
            pthread_mutex_unlock(&mutex_);
            errno = error_;
        }
        void set_error(int error) { error_ = error; }

    private:
        pthread_mutex_t& mutex_;
        int error_;
    };

    State claim(int descriptor, unsigned rank, Options const& options);
    State claim_file(Options const& options);
    State map(std::size_t bytes, Options const& options);
    void divide(Options const& options);
    Shard& shard_of(void const* block);
    template <class Each>
    void* allocate_pages(std::size_t bytes, std::size_t alignment, Each dirty);
    template <class Each>
    static void* allocate_from(Shard& shard, Page pages, Page alignment, Each dirty);
    Page pages_for(std::size_t bytes) const;
    bool map_for_child();
    bool map_block(std::uintptr_t block, std::size_t bytes);
    bool start_copy_thread();
    static int copier(void* arena);
    void copy_extents();
    bool copy_before_fork(int file);
    void drop_copies();
    void drop_unshared_copies();
    bool adopt_copies();
    int zero(std::uintptr_t first, std::size_t bytes);
    int wipe_in_children(std::uintptr_t first, std::size_t bytes);
    void forget_wiped(std::uintptr_t first, std::size_t bytes);
    bool wipe();

    std::atomic<State> state_ = State::closed;
    std::uintptr_t base_ = 0;   ///< both set once, before state_ becomes open
    std::size_t bytes_ = 0;
    Shard shards_[shards];
    int descriptor_ = -1;    ///< our own, for the child's copies
    off_t offset_ = 0;       ///< of the window in the file
    Page system_page_ = 1;   ///< arena pages per system page
    LastChild last_child_;
    bool has_copies_ = false;           ///< some shard has copies
    bool copied_before_fork_ = false;   ///< the child finds its copies in the shards
    int child_done_[2] = {-1, -1};      ///< a pipe that the child closes when it has its copies
    struct Extent {
        std::uintptr_t first;
        std::size_t bytes;
    };
    Extent* extents_ = nullptr;   ///< in the child: what it has to copy
    std::size_t extent_count_ = 0;
    int copying_ = 0;          ///< 1 while a thread of the child copies
    bool populates_ = false;   ///< the system supports MADV_POPULATE_WRITE
    long head_start_ns_ = 0;   ///< delay of the child's copying thread
    MemoryFile file_;
    RankState* rank_state_ = nullptr;   ///< null unless the file is a segment
    void* rank_state_page_ = nullptr;
    std::size_t rank_state_bytes_ = 0;
    struct Wiped {
        std::uintptr_t first, end;
    };
    static constexpr int max_wiped = 64;
    Wiped wiped_[max_wiped] = {};   ///< ranges that children find zeroed (MADV_WIPEONFORK)
    int wiped_count_ = 0;
    pthread_mutex_t children_mutex_ = PTHREAD_MUTEX_INITIALIZER;   ///< protects what children get; acquired last
    void* bookkeeping_ = nullptr;
    std::size_t bookkeeping_bytes_ = 0;
};

// How the library finds the process's arena. Several of our libraries contain the allocation functions (libmpi.so.12,
// libmpich.so.12, the one that mpiexec preloads); the loader binds those of the first one, and this symbol from the
// same.

struct Access {
    Arena* arena;
    /// True if the program's malloc is ours; false if another allocator (or none of our libraries) comes first.
    bool interposes;
    /// Opens the arena: in the segment of the job that mpiexec has started, otherwise in a file of this process.
    State (*open)();
};

}   // namespace tutti::arena

extern "C" [[gnu::visibility("default")]] tutti::arena::Access const* tutti_arena();
