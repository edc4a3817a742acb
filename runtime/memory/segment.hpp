// SPDX-License-Identifier: BSD-3-Clause
// The node segment: the shared memory of all ranks of one node, a memfd that the launcher makes and its ranks inherit.
// It has no name in any file system, so nothing is left behind however a job dies. Fresh memory reads as zero, and
// everything in it is laid out so that zero is its valid first state: nobody has to wait for an initialisation.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/counters/call_statistics.hpp"
#include "runtime/counters/rank_state.hpp"
#include "runtime/trace/trace.hpp"

namespace tutti {

class NumaSystem;
struct Homes;

/// Where everything lies; written once by the process that makes the segment. Every rank could overwrite it by a store
/// through a wrong pointer, so each process goes by a copy of its own (Segment::layout), which was checked when it was
/// made.
struct SegmentLayout {
    static constexpr std::uint64_t expected_magic = 0x3331'6974'7475'54ULL;   // "Tutti13"

    std::uint64_t magic;
    // Given; the rest follows from these.
    std::uint64_t heap_bytes;    ///< of each rank's heap, in all levels (heap_level)
    std::uint64_t trace_bytes;   ///< of each rank's trace; 0: there are none
    std::uint32_t ranks;         ///< on this node
    std::uint32_t world_size;
    std::uint32_t machine_bytes;   ///< length of the node's description (topo::NodeMap as text), 0: none
    std::uint32_t tuning_bytes;    ///< length of the tuning file's name, a line break and its text, 0: none
    std::uint32_t
        cluster_bytes;   ///< length of the job's map of nodes and ranks (runtime/settings/cluster.hpp), 0: one node
    std::uint32_t numa_nodes;   ///< on which memory is placed (runtime/memory/placement); 0: nothing to choose

    std::uint64_t bytes;   ///< of the whole segment; the file goes on with the arenas
    std::uint64_t rank_states, call_statistics, machine, watched, sleeper_sets, suspects, inboxes, commons, traces,
        heaps;                                               ///< offsets from the start of the segment
    std::uint64_t rank_state_bytes, call_statistics_bytes;   ///< from one rank's to the next
    std::uint64_t ring_rows;                                 ///< what every message touches, of all receivers: offset,
    std::uint64_t ring_row_bytes;                            ///< and bytes of one receiver's
    std::uint64_t pair_bytes;                                ///< of one pair's part of an inbox
    std::uint64_t commons_bytes;                             ///< flags and slots of the world communicator
    std::uint64_t arenas;        ///< offset in the file of the first rank's arena window, behind the mapping
    std::uint64_t arena_bytes;   ///< of each rank's window; 0: none is in this file

    bool operator==(SegmentLayout const&) const = default;

    /// Heaps lie in levels, the first level of each rank side by side, then the second level of each: a process makes
    /// accessible, and under a small address limit maps, only the levels that are in use. The first two are as long,
    /// each further one is twice as long, so that half of a heap is one piece.
    static constexpr std::uint64_t first_level_bytes = 1 << 20;
    std::uint64_t heap_level_bytes(unsigned level) const { return first_level_bytes << (level > 1 ? level - 1 : 0); }
    /// Where the level of rank 0 begins, and with it the level; also one behind the last level.
    std::uint64_t heap_level(unsigned level) const {
        return heaps + (level > 0 ? ranks * (first_level_bytes << (level - 1)) : 0);
    }
    unsigned heap_levels() const;
};

/// The beginning of the segment.
struct SegmentHeader : SegmentLayout {
    /// In `sleepers`: writers run a fence; sleepers may rely on it (runtime/wait/sleepers.hpp).
    static constexpr std::uint32_t fencing = 1u << 31, fenced = 1u << 30, fence_bits = fencing | fenced;

    // Facts about the node, written before the ranks start or by the first one.
    std::uint64_t told;                 ///< fingerprint of the launcher's messages about rank 0's settings, 0: none
    std::uint64_t launcher_namespace;   ///< in which `launcher` holds (runtime/base/pid_namespace.hpp)
    std::int32_t launcher;              ///< the process that has made it for its ranks; 0: a rank has made it
    std::uint32_t usable_cores;         ///< affinity mask and cgroup quota, seen by the launcher

    /// Threads that sleep or are about to.
    std::uint32_t sleeping() const { return sleepers.load(std::memory_order_acquire) & ~fence_bits; }
    /// More ranks than cores for them?
    bool crowded() const { return usable_cores != 0 && ranks > usable_cores; }
    /// How many ranks share a core, at least 1.
    unsigned ranks_per_core() const { return crowded() ? (ranks + usable_cores - 1) / usable_cores : 1; }

    alignas(cache_line) std::atomic<std::uint32_t> sleepers;   ///< threads asleep on this node, and the bits above;
                                                               ///< writers read it after each store
    std::atomic<std::uint32_t> cma_forbidden;                  ///< set once by the first rank that gets EPERM
    std::atomic<std::uint32_t> xpmem_forbidden;                ///< set once by the first rank that cannot attach
    std::atomic<std::uint32_t> arenas_refused;                 ///< set once by the first rank that cannot map them
    std::atomic<std::uint32_t> placement_refused;              ///< errno of the first who may not place memory
    std::atomic<std::int32_t> threads_refused;                 ///< errno of the last rank that could start no thread
    std::atomic<std::int64_t> fences_until;                    ///< writers run fences until then (now_ns()) at least
    std::atomic<std::int64_t> balanced;                        ///< when a rank last moved (runtime/wait/balance.hpp)
    std::atomic<std::uint64_t> questions;                      ///< how often the launcher has asked blocked ranks to
                                                               ///< look once more (Blocked::answered)
    std::atomic<std::uint64_t> watcher;                        ///< without mpiexec: the process that looks at blocked
                                                               ///< ranks, or the rank that starts it, as
                                                               ///< ProcessIdentity::word; 0: none
    std::atomic<std::uint32_t> verdict;                        ///< of that process: the code with which blocked ranks
                                                               ///< end the job; 0: none
    std::atomic<std::uint64_t> last_report;       ///< where ranks print reports themselves: identifies the last one
                                                  ///< (diagnosis/mistake.hpp)
    std::atomic<std::uint32_t> levels_left_out;   ///< of heaps, the last ones: some process that has mapped
                                                  ///< the segment had no addresses for them
};

/// Who makes a segment.
enum class Maker {
    launcher,   ///< before the ranks, which inherit it; its file has a window for the arena of each
    rank,       ///< when the ranks meet; programs that it starts do not inherit it. Each rank may have made an arena
                ///< in a file of its own by then (Segment::show)
};

/// A mapped segment. Movable, not copyable; unmaps at its end. All offsets are the same in every process.
class Segment {
public:
    /// What one node can have: flags and slots of the world communicator grow with the square of its ranks.
    static constexpr unsigned most_ranks = 3072;

    /// Makes a zeroed segment for a node's ranks, at most `most_ranks`; `machine`: topo::NodeMap's text, `tuning`: a
    /// tuning file's name, a line break and its text, `cluster`: Cluster::to_text, empty for one node. The address
    /// window is as large as the system grants, memory is used where touched. `homes`: where the ranks' memory shall
    /// lie (runtime/memory/placement); null or without a system: anywhere. Throws Error with a sentence when it cannot
    /// be had.
    /// `traced_events`: that each rank's trace has room for (runtime/trace); 0: nothing is traced.
    static Segment create(unsigned ranks, std::string_view machine = {}, std::string_view tuning = {},
                          std::string_view cluster = {}, Maker maker = Maker::launcher, Homes const* homes = nullptr,
                          std::uint64_t traced_events = 0);
    /// Maps the segment behind an inherited descriptor. Throws Error when it is not one, or has been overwritten.
    static Segment attach(int descriptor);

    Segment(Segment&& other) noexcept;
    Segment& operator=(Segment&& other) noexcept;
    ~Segment();

    int descriptor() const { return descriptor_; }
    SegmentHeader& header() const { return *reinterpret_cast<SegmentHeader*>(base_); }
    SegmentLayout const& layout() const { return layout_; }
    unsigned ranks() const { return layout_.ranks; }
    RankState& rank_state(unsigned rank) const {
        return *reinterpret_cast<RankState*>(base_ + layout_.rank_states + rank * layout_.rank_state_bytes);
    }
    /// Where the word lies that `rank` sleeps for, as runtime/wait/sleepers.cpp writes it.
    std::atomic<std::uint64_t>& watched(unsigned rank) const {
        return reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + layout_.watched)[rank];
    }
    /// On which processing unit `rank` ran when it last looked, as runtime/wait/balance.cpp says it.
    std::atomic<std::uint64_t>& runs_on(unsigned rank) const { return (&watched(0))[ranks() + rank]; }
    /// Sets of ranks of this node, a bit for each (runtime/wait/sleepers.hpp says which).
    static constexpr unsigned sleeper_sets = 66;
    std::span<std::atomic<std::uint64_t>> sleeper_set(unsigned which) const {
        std::size_t const words = (ranks() + 63) / 64;
        return {reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + layout_.sleeper_sets) + which * words, words};
    }
    /// A bit for each rank of the world: is the launcher's last question about it? Written before it asks.
    std::span<std::atomic<std::uint64_t>> suspects() const {
        return {reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + layout_.suspects),
                (layout_.world_size + 63) / 64};
    }
    void suspect(int world_rank) const {
        auto const bit = static_cast<unsigned>(world_rank);
        suspects()[bit / 64].fetch_or(std::uint64_t{1} << bit % 64, std::memory_order_relaxed);
    }
    bool suspected(int world_rank) const {
        auto const bit = static_cast<unsigned>(world_rank);
        return (suspects()[bit / 64].load(std::memory_order_relaxed) >> bit % 64 & 1) != 0;
    }
    CallStatistics& call_statistics(unsigned rank) const {
        return *reinterpret_cast<CallStatistics*>(base_ + layout_.call_statistics +
                                                  rank * layout_.call_statistics_bytes);
    }
    /// Null: nothing is traced.
    Trace* trace(unsigned rank) const {
        if (layout_.trace_bytes == 0) return nullptr;
        return reinterpret_cast<Trace*>(base_ + layout_.traces + rank * layout_.trace_bytes);
    }
    std::string_view machine() const;
    std::string_view tuning() const;
    std::string_view cluster() const;

    /// Memory of the messages that `receiver` gets from `sender`: pair_bytes, page-aligned; accessible by open_pairs.
    std::byte* pair(unsigned receiver, unsigned sender) const;
    /// Makes the pairs of two ranks accessible, in both directions. There are as many pairs as the square of the ranks,
    /// so a rank opens those that it uses: mlockall, core files and checkpoints would fill the others. False when the
    /// system refuses. Thread-safe.
    bool open_pairs(unsigned one, unsigned other) const noexcept;
    /// A byte of each sender, with which it tells `receiver` that there is a message; page-aligned.
    std::byte* bells(unsigned receiver) const;
    /// More memory of a pair, ring_start_bytes, for what is used first: behind the bells, side by side with that of the
    /// other senders, so that a few words from each take few pages.
    std::byte* ring_start(unsigned receiver, unsigned sender) const;
    static constexpr std::size_t ring_start_bytes = 4 * cache_line;
    /// Flags and slots of the world communicator.
    std::span<std::byte> commons() const { return {at(layout_.commons), layout_.commons_bytes}; }
    /// Where `rank`'s arena window begins in the file.
    std::uint64_t arena(unsigned rank) const { return layout_.arenas + rank * layout_.arena_bytes; }
    /// Notes the window that `rank` has in a file of its own, before the other ranks look.
    void show(unsigned rank, ArenaWindow const& window) const;
    /// A level of the heap that `rank` alone allocates from; every rank may read and write what it hands out. Throws
    /// Error(no_mem) where at() does.
    std::span<std::byte> heap(unsigned rank, unsigned level) const;
    /// The levels that every process has mapped which has the segment.
    unsigned heap_levels() const {
        unsigned const levels = layout_.heap_levels();
        return levels - std::min(levels, header().levels_left_out.load(std::memory_order_acquire));
    }

    /// Makes the level of the heaps that holds it accessible at its first use (pairs: open_pairs). Throws Error(no_mem)
    /// when the system does not let this process have it. Thread-safe.
    std::byte* at(std::uint64_t offset) const {
        if (!accessible(offset)) open_level_of(offset);
        return base_ + offset;
    }
    bool accessible(std::uint64_t offset) const { return offset < accessible_.load(std::memory_order_relaxed); }
    std::uint64_t offset(void const* address) const { return static_cast<std::byte const*>(address) - base_; }
    /// Gives the pages inside [offset, offset + bytes) back to the system; they read as zero again. False: it cannot.
    bool forget(std::uint64_t offset, std::uint64_t bytes) const;
    /// By which this process places memory; null: there is nothing to choose.
    NumaSystem* numa() const { return numa_; }

private:
    struct Mapping {
        std::byte* base;
        std::uint64_t bytes, accessible;
    };
    static Mapping map(int descriptor, SegmentLayout const& layout);
    static bool open_beginning(std::byte* base, SegmentLayout const& layout, std::uint64_t end);
    Segment(int descriptor, Mapping const& mapping, SegmentLayout const& layout)
        : descriptor_(descriptor), base_(mapping.base), bytes_(mapping.bytes), layout_(layout),
          accessible_(mapping.accessible) {}
    void leave_out_levels() const;
    void open_level_of(std::uint64_t offset) const;

    int descriptor_ = -1;
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;   ///< mapped, from the beginning on
    SegmentLayout layout_{};
    mutable std::atomic<std::uint64_t> accessible_ = 0;
    NumaSystem* numa_ = nullptr;
};

}   // namespace tutti
