// SPDX-License-Identifier: BSD-3-Clause
// A rank's arena: the window of a file in memory from which its large blocks come, as its owner sees it. Peers map the
// same window (runtime/memory/peer_arenas.hpp) and load and store there. The file is the node segment's where mpiexec
// has made one, else this process's own.
//
// It works inside malloc, before main and in every thread: no allocation, no exceptions. Blocks begin on pages, since
// peers' processors and the kernel's huge pages know nothing smaller. The window is cut into shards with a lock each:
// half of it is the first thread's, the others serve further threads, and every block goes back to where it came from.
//
// Only as much of the window is accessible as blocks have reached, so that what touches all of a process's memory
// (mlockall, core files, checkpoints) touches what is in use and not a window that is many times the machine's memory.
//
// fork: the window is shared memory, so a child would write into its parent's blocks. The child therefore gets private
// copies of all blocks in use, and takes no new ones. The parent goes on when the child has them, has started another
// program, or has ended. A child that cannot have them ends with a message. Further children share copies that the
// parent makes before the fork, as long as the last child lives on without another program.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <pthread.h>
#include <sys/types.h>

#include "runtime/base/memory_file.hpp"
#include "runtime/memory/arena/last_child.hpp"
#include "runtime/memory/arena/page_runs.hpp"

namespace tutti {
struct RankState;
}

namespace tutti::arena {

struct Options {
    /// Bytes of freed pages that are kept for reuse: by the first shard, 1/8 of it by each of the others; or half of
    /// what is in use, if that is more.
    std::size_t keep = 0;
    bool huge_pages = true;   ///< ask for them
    /// Bytes of the system's pages, a power of two: blocks are whole pages of the system. 0: ask the system.
    std::size_t system_page = 0;
};

enum class State {
    closed,   ///< not opened (yet)
    open,
    refused,   ///< the system gave no window; for good
    forked,    ///< a child: blocks can be read, written and freed, no new ones come
};

class Arena {
public:
    constexpr Arena() = default;
    Arena(Arena const&) = delete;
    Arena& operator=(Arena const&) = delete;

    /// Claims the window of `rank` in the segment behind `descriptor`, once; what another process of the same rank has
    /// left in it is dropped, and a window that such a process still uses is refused. Thread-safe.
    State open(int descriptor, unsigned rank, Options const& options);
    /// The same without a segment: makes a file for this process alone, which its peers open when they meet.
    State open(Options const& options);
    /// What peers need for that; none where the window is in a segment, or where the system would not let them.
    ArenaWindow window() const;
    /// Gives everything back. For tests; a program keeps its arena to its end.
    void close();
    State state() const { return __atomic_load_n(&state_, __ATOMIC_ACQUIRE); }

    /// Is this a block of ours? One comparison; false before open().
    bool holds(void const* p) const { return reinterpret_cast<std::uintptr_t>(p) - base_ < bytes_; }

    /// `alignment`: a power of two. Null when there is no room, no arena, or no such alignment (above 2 MiB).
    void* allocate(std::size_t bytes, std::size_t alignment = page_bytes);
    /// All bytes zero; pages that were never written are not touched.
    void* allocate_zeroed(std::size_t bytes);
    /// Ends the program with a sentence when `block` is none of ours.
    void release(void* block);
    /// Makes a block longer or shorter where it lies; false when that is not possible.
    bool resize(void* block, std::size_t bytes);
    std::size_t usable(void const* block);
    /// Does [first, first + bytes) lie in one block that has not been released? Takes longer the more blocks there are.
    bool is_allocated(void const* first, std::size_t bytes) {
        auto const begin = reinterpret_cast<std::uintptr_t>(first), last = begin + (bytes > 0 ? bytes - 1 : 0);
        for (Shard& shard : shards_) {
            if (begin - shard.base >= shard.bytes || last - shard.base >= shard.bytes) continue;
            Locked lock(shard);
            Page const page = shard.page_of(first);
            return shard.runs.in_one_used(page, shard.page_of(reinterpret_cast<void const*>(last)) - page + 1);
        }
        return false;
    }

    /// madvise for memory of which a part at least lies in the window: blocks do as private memory does. Returns 0, or
    /// -1 with errno.
    int advise(void* memory, std::size_t bytes, int advice);
    bool touches(void const* memory, std::size_t bytes) const {
        auto const first = reinterpret_cast<std::uintptr_t>(memory);
        return bytes_ != 0 && first < base_ + bytes_ && first + bytes > base_;
    }

    struct Use {
        std::size_t in_use, kept, highest;   ///< bytes
    };
    Use use();

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
        std::size_t accessible = 0;    ///< bytes from the beginning on: accessible, and in core files
        Page accounted = 0;            ///< pages from the beginning on whose bookkeeping is accessible
        std::byte* copies = nullptr;   ///< of its blocks, for children; made before the fork, and kept for the next
        std::byte* source = nullptr;   ///< the same part of the file, from which they are made; not in the child
        std::size_t copied_bytes = 0;
        Page keep = 0;

        void* address(Page p) const { return reinterpret_cast<void*>(base + std::size_t{p} * page_bytes); }
        Page page_of(void const* block) const {
            return static_cast<Page>((reinterpret_cast<std::uintptr_t>(block) - base) / page_bytes);
        }
        Page checked(void const* block, char const* what) const;
        bool account_for(Page more);
        bool open_reached();
        bool copy_ahead(int file, off_t offset);
        bool grow_copies(int file, off_t offset);
        void drop_copies();
    };
    /// Holds a lock, and leaves errno as it was: free must not change it.
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
    void* take(std::size_t bytes, std::size_t alignment, Each dirty);
    template <class Each>
    static void* take_from(Shard& shard, Page pages, Page alignment, Each dirty);
    Page pages_for(std::size_t bytes) const;
    bool map_for_child();
    bool map_block(std::uintptr_t block, std::size_t bytes);
    bool copy_beside();
    static int copier(void* arena);
    void copy_extents();
    bool copy_ahead(int file);
    void drop_copies();
    void drop_unshared_copies();
    bool take_copies();
    int zero(std::uintptr_t first, std::size_t bytes);
    int wipe_in_children(std::uintptr_t first, std::size_t bytes);
    void forget_wiped(std::uintptr_t first, std::size_t bytes);
    bool wipe();

    State state_ = State::closed;
    std::uintptr_t base_ = 0;   ///< both set once, before state_ says open
    std::size_t bytes_ = 0;
    Shard shards_[shards];
    int descriptor_ = -1;    ///< our own, for the child's copies
    off_t offset_ = 0;       ///< of the window in the file
    Page system_page_ = 1;   ///< pages of ours in a page of the system
    LastChild last_child_;
    bool has_copies_ = false;        ///< some shard has
    bool copied_ahead_ = false;      ///< the child finds its copies in the shards
    int child_done_[2] = {-1, -1};   ///< a pipe that the child closes when it has its copies
    struct Extent {
        std::uintptr_t first;
        std::size_t bytes;
    };
    Extent* extents_ = nullptr;   ///< of the child: what it has to copy
    std::size_t extent_count_ = 0;
    int copying_ = 0;          ///< a thread of the child does so
    bool populates_ = false;   ///< the system writes to many pages in one call
    long head_start_ns_ = 0;   ///< of the child before that
    MemoryFile file_;
    RankState* rank_state_ = nullptr;   ///< only where the file is a segment
    void* rank_state_page_ = nullptr;
    std::size_t rank_state_bytes_ = 0;
    struct Wiped {
        std::uintptr_t first, end;
    };
    static constexpr int most_wiped = 64;
    Wiped wiped_[most_wiped] = {};   ///< what children find as zero (MADV_WIPEONFORK)
    int wiped_count_ = 0;
    pthread_mutex_t children_mutex_ = PTHREAD_MUTEX_INITIALIZER;   ///< for what children get; the last to be taken
    void* bookkeeping_ = nullptr;
    std::size_t bookkeeping_bytes_ = 0;
};

}   // namespace tutti::arena
