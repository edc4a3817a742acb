// SPDX-License-Identifier: BSD-3-Clause
// The node segment: the shared memory of all ranks of one node, a memfd that the launcher makes and its ranks inherit.
// It has no name in any file system, so nothing is left behind however a job dies. Fresh memory reads as zero, and
// everything in it is laid out so that zero is its valid first state: nobody has to wait for an initialisation.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/counters/counter.hpp"
#include "runtime/wait/flag.hpp"
#include "runtime/counters/call_statistics.hpp"
#include "runtime/memory/memory_file.hpp"

namespace tutti {

/// How far a rank has come; the launcher reads it when the rank's process has ended.
enum class RankPhase : std::uint32_t { absent, initialised, finalised, aborted };

/// What a rank has done to get at its peers' data.
struct alignas(cache_line) Counters {
    Counter maps, hits;           ///< mappings made of peers' memory, times that one made before was used
    Counter direct, attached;     ///< bytes reached by load and store: in arenas, by XPMEM
    Counter cma;                  ///< bytes copied by the kernel
    Counter staged;               ///< bytes laid out in the segment, for peers to copy out
    Counter arena, arena_highest; ///< bytes of this rank's own arena in use when it finalised, and ever
};

/// What a rank's collectives have moved in memory, counted as the papers count: a copy loads and stores each byte once,
/// combining k operands loads k and stores one; of a message between nodes its sender loads each byte and its receiver
/// stores it, whatever sockets copy in between. And how often it got at a peer's data (a slot, a piece, a chunk), by
/// what lies in between (topo::Locality).
struct alignas(cache_line) Traffic {
    Counter loaded, stored;       ///< bytes
    Counter messages[5];          ///< within a cache, a NUMA node, a socket; from socket to socket; to another node
    Counter to_nodes;             ///< bytes of the messages to other nodes
};

/// How often and how long a rank has waited, and when it ran; in nanoseconds of now_ns().
struct alignas(cache_line) Times {
    Counter waits, waited;        ///< waits that were not over after the first few looks, and what they took
    Counter started, ended;       ///< MPI_Init and MPI_Finalize; 0: not yet
    Counter yielded_looks;        ///< calls such as MPI_Test that had looked in vain and gave the core away
    Counter sleeps;               ///< how often it slept in its waits and looks
};

/// One per rank: written by that rank (and by the launcher before the start), read by the launcher and by peers.
struct alignas(cache_line) RankState {
    std::atomic<RankPhase> state;
    std::atomic<std::int32_t> pid;            ///< as the rank sees itself; CMA needs it
    std::int32_t world_rank;                  ///< written by whoever makes the segment
    std::atomic<std::int32_t> abort_code;     ///< valid when state is aborted
    char abort_text[256];                     ///< zero-ended sentence, likewise

    alignas(cache_line) std::atomic<std::uint32_t> asleep;   ///< threads of the rank that sleep or are about to
    std::atomic<std::uint32_t> wake;          ///< futex word, counts wake-ups
    alignas(cache_line) std::atomic<std::uint64_t> waits;    ///< odd while `reason` says what the rank waits for
    char reason[192];                         ///< zero-ended

    /// Where the rank's arena lies in its own address space (offset 0 of its window); 0: it has none (yet).
    alignas(cache_line) std::atomic<std::uint64_t> arena_base;
    std::atomic<std::uint64_t> arena_bytes;   ///< of the window, as far as peers map it
    MemoryFile arena_file;                    ///< where it lies, from the beginning on; none: in the segment's file
    std::atomic<std::int32_t> arena_pid;      ///< the process that has claimed the window

    std::atomic<std::int64_t> xpmem_segment;  ///< XPMEM's number for the rank's whole memory; 0: it offers none
    std::atomic<std::uint64_t> xpmem_top;     ///< the end of that memory

    Counters counters;
    Traffic traffic;
    Times times;
};

/// Where everything lies; written once by whoever makes the segment.
struct SegmentLayout {
    static constexpr std::uint64_t expected_magic = 0x3630'6974'7475'54ULL;   // "Tutti06"

    std::uint64_t magic;
    std::uint64_t bytes;            ///< of the whole mapping; the file goes on with the arenas
    std::uint32_t ranks;            ///< on this node
    std::uint32_t world_size;
    std::uint32_t usable_cores;     ///< affinity mask and cgroup quota, seen by the launcher
    std::uint32_t machine_bytes;    ///< length of the node's description (topo::NodeMap as text), 0: none
    std::uint32_t tuning_bytes;     ///< length of the tuning file's name, a line break and its text, 0: none
    std::uint64_t told;             ///< fingerprint of what the launcher has told about rank 0's settings, 0: nothing
    std::uint32_t cluster_bytes;    ///< length of the job's map of nodes and ranks (runtime/job/cluster.hpp), 0: one node
    std::uint64_t rank_states, call_statistics, machine, inboxes, commons, heaps;   ///< offsets from the start of the segment
    std::uint64_t pair_bytes;       ///< of one pair's part of an inbox
    std::uint64_t commons_bytes;    ///< flags and slots of the world communicator
    std::uint64_t heap_bytes;       ///< of each rank's heap
    std::uint64_t arenas;           ///< offset in the file of the first rank's arena window, behind the mapping
    std::uint64_t arena_bytes;      ///< of each rank's window; 0: none is in this file

    /// More ranks than cores for them?
    bool crowded() const { return usable_cores != 0 && ranks > usable_cores; }
};

struct SegmentHeader : SegmentLayout {
    alignas(cache_line) std::atomic<std::uint32_t> sleepers;       ///< ranks asleep on this node; writers look here
    std::atomic<std::uint32_t> cma_forbidden;                      ///< set once by the first rank that gets EPERM
    std::atomic<std::uint32_t> xpmem_forbidden;                    ///< set once by the first rank that cannot attach
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
    /// window is as large as the system grants, memory is used where touched. Throws Error with a sentence when it
    /// cannot be had.
    static Segment create(unsigned ranks, std::string_view machine = {}, std::string_view tuning = {},
                          std::string_view cluster = {}, Maker maker = Maker::launcher);
    /// Maps the segment behind an inherited descriptor. Throws Error when it is not one.
    static Segment attach(int descriptor);

    Segment(Segment&& other) noexcept;
    Segment& operator=(Segment&& other) noexcept;
    ~Segment();

    int descriptor() const { return descriptor_; }
    SegmentHeader& header() const { return *reinterpret_cast<SegmentHeader*>(base_); }
    unsigned ranks() const { return header().ranks; }
    RankState& rank_state(unsigned rank) const { return reinterpret_cast<RankState*>(base_ + header().rank_states)[rank]; }
    CallStatistics& call_statistics(unsigned rank) const { return reinterpret_cast<CallStatistics*>(base_ + header().call_statistics)[rank]; }
    std::string_view machine() const;
    std::string_view tuning() const;
    std::string_view cluster() const;

    /// Memory of the messages that `receiver` gets from `sender`: pair_bytes, page-aligned.
    std::byte* pair(unsigned receiver, unsigned sender) const;
    /// Flags and slots of the world communicator.
    std::span<std::byte> commons() const { return {at(header().commons), header().commons_bytes}; }
    /// Where `rank`'s arena window begins in the file.
    std::uint64_t arena(unsigned rank) const { return header().arenas + rank * header().arena_bytes; }
    /// Notes the window that `rank` has in a file of its own, before the other ranks look.
    void show(unsigned rank, ArenaWindow const& window) const;
    /// The heap that `rank` alone allocates from; everybody may read and write what it hands out.
    std::span<std::byte> heap(unsigned rank) const;

    std::byte* at(std::uint64_t offset) const { return base_ + offset; }
    std::uint64_t offset(void const* address) const { return static_cast<std::byte const*>(address) - base_; }
    /// Gives the pages inside [offset, offset + bytes) back to the system; they read as zero again.
    void forget(std::uint64_t offset, std::uint64_t bytes) const;

private:
    Segment(int descriptor, std::byte* base, std::size_t bytes) : descriptor_(descriptor), base_(base), bytes_(bytes) {}

    int descriptor_ = -1;
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace tutti
