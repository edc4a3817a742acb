// SPDX-License-Identifier: BSD-3-Clause
// The node segment: shared memory of all ranks of one node, a memfd that the launcher creates and its ranks inherit.
// It has no name in any file system, so nothing is left behind however a job ends. Fresh memory reads as zero, and
// zero is a valid initial state of everything in it, so no rank has to wait for an initialization.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/function.hpp"
#include "runtime/state/call_statistics.hpp"
#include "runtime/state/rank_state.hpp"
#include "runtime/state/trace.hpp"

namespace tutti {

class NumaSystem;
struct NumaHomes;

/// Offsets and sizes of everything in the segment; written once by the process that creates it. Any rank could
/// overwrite it by a store through a wrong pointer, so each process uses its own copy (Segment::layout), which is
/// checked when it is made.
struct SegmentLayout {
    /// "Tutti13", combined with the functions of MPI, whose numbers must be the same in all processes.
    static constexpr std::uint64_t expected_magic = 0x3331'6974'7475'54ULL ^ Function::fingerprint();

    std::uint64_t magic;
    // Given values; the others follow from these.
    std::uint64_t heap_bytes;    ///< of each rank's heap, over all levels (heap_level)
    std::uint64_t trace_bytes;   ///< of each rank's trace; 0: no traces
    std::uint32_t ranks;         ///< on this node
    std::uint32_t world_size;
    std::uint32_t machine_bytes;   ///< length of the node's description (topo::NodeMap as text); 0: none
    std::uint32_t tuning_bytes;    ///< length of the tuning file's name, a line break and its text; 0: none
    std::uint32_t cluster_bytes;   ///< length of the job's map (runtime/settings/cluster.hpp); 0: one node
    std::uint32_t numa_nodes;      ///< NUMA nodes for placement (runtime/memory/placement.hpp); 0: nothing to choose

    std::uint64_t bytes;   ///< of the whole segment; the arenas follow in the file
    std::uint64_t rank_states, call_statistics, machine, wait_targets, sleeper_sets, suspects, inboxes, world_area,
        traces,
        heaps;                                               ///< offsets from the start of the segment
    std::uint64_t rank_state_bytes, call_statistics_bytes;   ///< distance between consecutive ranks' entries
    std::uint64_t ring_rows;          ///< the data that every message touches, of all receivers: offset,
    std::uint64_t ring_row_bytes;     ///< and bytes per receiver
    std::uint64_t pair_bytes;         ///< one pair's part of an inbox
    std::uint64_t world_area_bytes;   ///< flags and slots of the world communicator
    std::uint64_t arenas;             ///< offset in the file of the first rank's arena window, behind the mapping
    std::uint64_t arena_bytes;        ///< of each rank's window; 0: this file contains no windows

    bool operator==(SegmentLayout const&) const = default;

    /// Heaps are organized in levels: the first level of all ranks side by side, then the second level of all ranks,
    /// and so on. A process makes accessible, and under a small address limit maps, only the levels in use. The first
    /// two levels are equally long, each further one is twice as long, so half of a heap is contiguous.
    static constexpr std::uint64_t first_level_bytes = 1 << 20;
    std::uint64_t heap_level_bytes(unsigned level) const { return first_level_bytes << (level > 1 ? level - 1 : 0); }
    /// Returns the offset of a level, which begins with rank 0's part; also valid for one past the last level.
    std::uint64_t heap_level(unsigned level) const {
        return heaps + (level > 0 ? ranks * (first_level_bytes << (level - 1)) : 0);
    }
    unsigned heap_levels() const;
};

/// The beginning of the segment.
struct SegmentHeader : SegmentLayout {
    /// Bits of `sleepers`: writers run a fence; sleepers may rely on it (runtime/wait/sleepers.hpp).
    static constexpr std::uint32_t fencing = 1u << 31, fenced = 1u << 30, fence_bits = fencing | fenced;

    // Facts about the node, written before the ranks start or by the first rank.
    std::uint64_t reported_settings;    ///< fingerprint of the launcher's messages about rank 0's settings; 0: none
    std::uint64_t launcher_namespace;   ///< pid namespace of `launcher` (runtime/base/process_identity.hpp)
    std::int32_t launcher;              ///< the process that created the segment for its ranks; 0: created by a rank
    std::uint32_t usable_cores;         ///< affinity mask and cgroup quota, seen by the launcher
    std::uint32_t xpmem_absent;         ///< 1: the creator could not use XPMEM, so no rank does
    std::uint32_t loads_ruled_out;      ///< 1: no rank can load and store in its peers' buffers (record_access)
    std::uint32_t copies_ruled_out;     ///< 1: nor does the system copy them
    std::uint32_t kernel_copies_ruled_out;   ///< 1: the system copies no memory between ranks

    /// Returns the number of threads that sleep or are about to.
    std::uint32_t sleeping() const { return sleepers.load(std::memory_order_acquire) & ~fence_bits; }
    /// Returns true if ranks outnumber the usable cores.
    bool oversubscribed() const { return usable_cores != 0 && ranks > usable_cores; }
    /// Returns how many ranks share a core, at least 1.
    unsigned ranks_per_core() const { return oversubscribed() ? (ranks + usable_cores - 1) / usable_cores : 1; }

    alignas(cache_line) std::atomic<std::uint32_t> sleepers;   ///< sleeping threads on this node, and the bits above;
                                                               ///< writers read it after each store
    std::atomic<std::uint32_t> cma_forbidden;                  ///< set once by the first rank that gets EPERM
    std::atomic<std::uint32_t> xpmem_forbidden;                ///< set once by the first rank that cannot attach
    std::atomic<std::uint32_t> arenas_refused;                 ///< set once by the first rank that cannot map them
    std::atomic<std::uint32_t> placement_refused;              ///< errno of the first process that may not place memory
    std::atomic<std::int32_t> threads_refused;                 ///< errno of the last rank that could not start a thread
    std::atomic<std::int64_t> fences_until;                    ///< writers run fences until then (now_ns()) at least
    std::atomic<std::int64_t> last_core_move;     ///< when a rank last moved (runtime/wait/core_balancer.hpp)
    std::atomic<std::uint64_t> queries;           ///< number of queries of the launcher, upon which blocked ranks
                                                  ///< poll once more (Blocked::answered_query)
    std::atomic<std::uint64_t> watchdog;          ///< without mpiexec: the watchdog process, or the rank that starts
                                                  ///< it, as ProcessIdentity::word; 0: none
    std::atomic<std::uint32_t> end_code;          ///< of the watchdog: the code with which blocked ranks end the
                                                  ///< job; 0: none
    std::atomic<std::uint64_t> claimed_report,    ///< where ranks print reports themselves: the last one that a rank
        printed_report;                           ///< has begun to print, and the last one that has been printed
                                                  ///< (print_once_on_node, runtime/diagnostic.hpp)
    std::atomic<std::uint32_t> unmapped_levels;   ///< number of heap levels, from the last, for which some process
                                                  ///< that has mapped the segment had no addresses
};

/// The process that creates a segment.
enum class SegmentCreator {
    launcher,   ///< before the ranks, which inherit it; its file contains an arena window for each
    rank,       ///< when the ranks meet; programs that it starts do not inherit it. Each rank
                ///< may have created an arena in a file of its own by then (Segment::publish_arena)
};

/// A mapped segment. Movable, not copyable; the destructor unmaps it and closes its descriptor. Offsets are the
/// same in every process.
class Segment {
public:
    /// Maximum number of ranks per node: flags and slots of the world communicator grow with its square.
    static constexpr unsigned max_ranks = 3072;

    /// Creates a zeroed segment for `ranks` ranks of a node, at most `max_ranks`. `machine`: text of topo::NodeMap;
    /// `tuning`: a tuning file's name, a line break and its text; `cluster`: Cluster::to_text, empty for one node.
    /// The address window is as large as the system grants; memory is occupied where touched. `homes`: where the
    /// ranks' memory is to lie (runtime/memory/placement.hpp); null or without a system: anywhere. `traced_events`:
    /// capacity of each rank's trace (runtime/state/trace.hpp); 0: tracing is off. Throws Error if the system refuses
    /// the segment.
    static Segment create(unsigned ranks, std::string_view machine = {}, std::string_view tuning = {},
                          std::string_view cluster = {}, SegmentCreator maker = SegmentCreator::launcher,
                          NumaHomes const* homes = nullptr, std::uint64_t traced_events = 0);
    /// Maps the segment of an inherited descriptor. Throws Error if it is not a segment or has been overwritten.
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
    /// What `rank` waits for while it sleeps, in the encoding of runtime/wait/sleepers.cpp.
    std::atomic<std::uint64_t>& wait_target(unsigned rank) const {
        return reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + layout_.wait_targets)[rank];
    }
    /// The processing unit on which `rank` ran at its last check, in the encoding of runtime/wait/core_balancer.cpp.
    std::atomic<std::uint64_t>& runs_on(unsigned rank) const { return (&wait_target(0))[ranks() + rank]; }
    /// Sets of ranks of this node, one bit per rank (see runtime/wait/sleepers.hpp).
    static constexpr unsigned sleeper_sets = 66;
    std::span<std::atomic<std::uint64_t>> sleeper_set(unsigned which) const {
        std::size_t const words = (ranks() + 63) / 64;
        return {reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + layout_.sleeper_sets) + which * words, words};
    }
    /// One bit per rank of the world: the launcher's last query concerns it. Written before the query.
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
    /// Returns null if tracing is off.
    Trace* trace(unsigned rank) const {
        if (layout_.trace_bytes == 0) return nullptr;
        return reinterpret_cast<Trace*>(base_ + layout_.traces + rank * layout_.trace_bytes);
    }
    std::string_view machine() const;
    std::string_view tuning() const;
    std::string_view cluster() const;

    /// Returns the memory for messages from `sender` to `receiver`: pair_bytes, page-aligned; made accessible by
    /// open_pairs.
    std::byte* pair(unsigned receiver, unsigned sender) const;
    /// Makes the pairs of two ranks accessible, in both directions. The number of pairs is the square of the number
    /// of ranks, so a rank opens only those that it uses: mlockall, core files and checkpoints would fill the others.
    /// Returns false if the system refuses. Thread-safe.
    bool open_pairs(unsigned one, unsigned other) const noexcept;
    /// Returns one byte per sender, by which it signals a message to `receiver`; page-aligned.
    std::byte* bells(unsigned receiver) const;
    /// Returns further memory of a pair, ring_start_bytes, for the words used first. It follows the bells, next to
    /// that of the other senders, so that a few words from each occupy few pages.
    std::byte* ring_start(unsigned receiver, unsigned sender) const;
    static constexpr std::size_t ring_start_bytes = 4 * cache_line;
    /// Flags and slots of the world communicator.
    std::span<std::byte> world_area() const { return {at(layout_.world_area), layout_.world_area_bytes}; }
    /// Returns the offset of `rank`'s arena window in the file.
    std::uint64_t arena(unsigned rank) const { return layout_.arenas + rank * layout_.arena_bytes; }
    /// Publishes the window that `rank` has in a file of its own. Must be called before the other ranks read it.
    void publish_arena(unsigned rank, ArenaWindow const& window) const;
    /// Returns a level of the heap from which only `rank` allocates; every rank may access the allocated blocks.
    /// Throws Error(no_mem) where at() does.
    std::span<std::byte> heap(unsigned rank, unsigned level) const;
    /// Returns the number of levels that every process attached to the segment has mapped.
    unsigned heap_levels() const {
        unsigned const levels = layout_.heap_levels();
        return levels - std::min(levels, header().unmapped_levels.load(std::memory_order_acquire));
    }

    /// Returns the address of an offset. Makes the heap level that contains it accessible at its first use (for pairs
    /// see open_pairs). Throws Error(no_mem) if the system denies this process the memory. Thread-safe.
    std::byte* at(std::uint64_t offset) const {
        if (!accessible(offset)) open_level_of(offset);
        return base_ + offset;
    }
    bool accessible(std::uint64_t offset) const { return offset < accessible_.load(std::memory_order_relaxed); }
    std::uint64_t offset(void const* address) const { return static_cast<std::byte const*>(address) - base_; }
    /// Returns the whole pages inside [offset, offset + bytes) to the system; they read as zero again. Returns false
    /// on failure.
    bool punch_hole(std::uint64_t offset, std::uint64_t bytes) const;
    /// The interface by which this process places memory; null: there is nothing to choose.
    NumaSystem* numa() const { return numa_; }

private:
    struct Mapping {
        std::byte* base;
        std::uint64_t bytes, accessible;
    };
    static Mapping map(int descriptor, SegmentLayout const& layout);
    static bool open_up_to(std::byte* base, SegmentLayout const& layout, std::uint64_t end);
    Segment(int descriptor, Mapping const& mapping, SegmentLayout const& layout)
        : descriptor_(descriptor), base_(mapping.base), bytes_(mapping.bytes), layout_(layout),
          accessible_(mapping.accessible) {}
    void publish_unmapped_levels() const;
    void open_level_of(std::uint64_t offset) const;

    int descriptor_ = -1;
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;   ///< length of the mapping from the start of the segment
    SegmentLayout layout_{};
    mutable std::atomic<std::uint64_t> accessible_ = 0;
    NumaSystem* numa_ = nullptr;
};

}   // namespace tutti
