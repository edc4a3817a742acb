// SPDX-License-Identifier: BSD-3-Clause
// What each rank shows of itself in the node segment: how far it has come, what it waits for, where its memory lies,
// what it has counted. Zero is the valid first state of everything in here.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/flag.hpp"
#include "runtime/base/memory_file.hpp"
#include "runtime/counters/blocked.hpp"
#include "runtime/counters/counter.hpp"
#include "runtime/counters/finding.hpp"
#include "runtime/counters/not_freed.hpp"
#include "runtime/counters/noted_words.hpp"
#include "runtime/counters/polling.hpp"
#include "runtime/counters/recent_sends.hpp"

namespace tutti {

/// How far a rank has come; the launcher reads it when the rank's process has ended.
enum class RankPhase : std::uint32_t { absent, initialised, finalised, aborted };

/// What a rank has done to get at its peers' data.
struct alignas(cache_line) Counters {
    Counter maps, hits;             ///< mappings made of peers' memory, times that one made before was used
    Counter direct, attached;       ///< bytes reached by load and store: in arenas, by XPMEM
    Counter cma;                    ///< bytes copied by the kernel
    Counter staged;                 ///< bytes laid out in the segment, for peers to copy out
    Counter arena, arena_highest;   ///< bytes of this rank's own arena in use when it finalised, and ever
};

/// What a rank's collectives have moved in memory, counted as the papers count: a copy loads and stores each byte once,
/// combining k operands loads k and stores one; of a message between nodes its sender loads each byte and its receiver
/// stores it, whatever sockets copy in between. And how often it got at a peer's data (a slot, a piece, a chunk), by
/// what lies in between (topo::Locality).
struct alignas(cache_line) Traffic {
    Counter loaded, stored;   ///< bytes
    Counter messages[5];      ///< within a cache, a NUMA node, a socket; from socket to socket; to another node
    Counter to_nodes;         ///< bytes of the messages to other nodes
};

/// What a rank's one-sided operations have done to targets, each counted when it is over for the rank itself.
struct alignas(cache_line) OneSided {
    Counter calls[3];      ///< puts, gets, accumulates of all forms (rma::Operation)
    Counter bytes[3][3];   ///< of the same, at the target: by load and store, by CMA, by messages (rma::Path)
};

/// How often and how long a rank has waited, and when it ran; in nanoseconds of now_ns().
struct alignas(cache_line) Times {
    Counter waits, waited;    ///< waits that were not over after the first few looks, and what they took
    Counter started, ended;   ///< MPI_Init and MPI_Finalize; 0: not yet
    Counter yielded_looks;    ///< calls such as MPI_Test that found nothing and gave the core away
    Counter sleeps, slept;    ///< how often it slept in its waits and looks, and what that took
    Counter wakes;            ///< sleeping ranks that it has woken
    Counter yields;           ///< sched_yield in its waits and looks, and of these:
    Counter useless_yields;   ///<   those that let no other thread run,
    Counter long_yields;      ///<   those that cost a time slice or more
    Counter lost_slices;      ///< times that its core was taken away while it polled
    Counter core_moves;       ///< how often it moved to a core with fewer ranks
    Counter shared_core;      ///< how long it ran on one core with another rank while a core had no rank
    Counter run_delay;        ///< how long it was ready to run and did not, as the kernel counts; at the end
    Counter compared;         ///< how often it compared its calls on a communicator with those of another member
    Counter comparing;        ///< processor time that this took in its waits
};

/// Where a rank's memory is to lie, and where the kernel said that it does (runtime/memory/placement).
struct alignas(cache_line) Placed {
    static constexpr std::size_t parts = 4;   ///< state and call statistics, rings, heap, arena

    Counter node;                        ///< the number of its NUMA node + 1; 0: nothing to choose, or not known yet
    Counter moves;                       ///< how often it has moved to another one for good
    Counter refused;                     ///< errno of who wanted to place memory, or to know where it lies
    Counter seen[parts], there[parts];   ///< pages looked at when the job ended, and those of them on that node
};

/// The last call of MPI that the program has made, for whoever asks when it has ended. Plain stores at each call; read
/// when the rank's process is gone, or has noted its end, but for `collective`.
struct alignas(cache_line) LastCall {
    /// How the process ends, noted by itself where no launcher of ours waits for it (runtime/job/watcher.hpp).
    enum class End : std::uint32_t {
        not_noted,
        exits,      ///< with `exit_code`, without MPI_Finalize
        crashes,    ///< by `crash_signal`
        reported,   ///< one of these, and the watcher has reported it
    };

    void const* site;           ///< where the program goes on after it
    std::uint64_t collective;   ///< Comm::context of the last call that coll/match records; 0: none. By atomic_ref
    char const* name;           ///< zero-ended, in the rank's library
    std::uint64_t program;      ///< where the rank's program is loaded: what is to be subtracted from addresses to have
    std::uint64_t program_end;   ///< those in its file; 0 of one that is not moved. And where it ends
    std::uint64_t library;       ///< the same of its library
    std::uint64_t crash;         ///< the instruction by which the rank was killed; 0: none, or it is not known
    std::atomic<End> end;        ///< written last
    std::int32_t exit_code, crash_signal;
    char program_file[256];   ///< their paths, zero-ended; empty: not known
    char library_file[256];
};

/// One per rank: written by that rank (and by the launcher before the start), read by the launcher and by peers.
struct alignas(cache_line) RankState {
    std::atomic<RankPhase> state;
    std::atomic<std::int32_t> pid;              ///< of the rank's process, in its own namespace
    std::int32_t world_rank;                    ///< written by the process that makes the segment
    std::atomic<std::int32_t> abort_code;       ///< valid when state is aborted
    std::atomic<std::uint64_t> process;         ///< that process as ProcessIdentity::word
    NotedWords last_words;                      ///< what the rank's library says before it aborts
    std::atomic<std::uint64_t> pid_namespace;   ///< in which `pid` holds (base/pid_namespace.hpp); 0: not known

    alignas(cache_line) std::atomic<std::uint32_t> asleep;   ///< threads of the rank that sleep or are about to
    std::atomic<std::uint32_t> wake;                         ///< futex word, counts wake-ups
    std::atomic<std::uint64_t> bell;             ///< where to send what wakes the rank (runtime/wait/bell.hpp); 0: to
                                                 ///< the futex
    std::atomic<std::uint64_t> bell_namespace;   ///< the network namespace in which `bell` is valid
    std::atomic<std::uint32_t> bell_unreached;   ///< 1: some rank could not send there
    Blocked blocked;                             ///< what the rank waits for, once it has done so for a while
    Polling polling;                             ///< what it looks for again and again

    /// Where the rank's arena lies in its own address space (offset 0 of its window); 0: it has none (yet).
    alignas(cache_line) std::atomic<std::uint64_t> arena_base;
    std::atomic<std::uint64_t> arena_bytes;   ///< of the window, as far as peers map it
    MemoryFile arena_file;                    ///< where it lies, from the beginning on; none: in the segment's file
    std::atomic<std::int32_t> arena_pid;      ///< the process that has claimed the window,
    std::atomic<std::uint64_t> arena_pid_namespace;   ///< and the namespace of its number

    std::atomic<std::int64_t> xpmem_segment;    ///< XPMEM's number for the rank's whole memory; 0: it offers none
    std::atomic<std::uint64_t> xpmem_top;       ///< the end of that memory
    std::atomic<std::uint32_t> cma_permitted;   ///< 1: the rank has shown memory outside of arenas, and may be traced
    std::atomic<std::uint64_t> proof_address;   ///< in the rank's own memory: where proof_value is found. By this its
    std::atomic<std::uint64_t> proof_value;     ///< peers know that `pid` means this rank; 0: it cannot be proven

    Counters counters;
    Traffic traffic;
    OneSided one_sided;
    Times times;
    Placed placed;
    NotFreed not_freed;
    Finding finding;
    LastCall last_call;
    alignas(cache_line) RecentSends recent_sends;
};

}   // namespace tutti
