// SPDX-License-Identifier: BSD-3-Clause
// What each rank publishes about itself in the node segment: how far it has come, what it waits for, where its memory
// lies, and its counters. Zeroed memory is the valid initial state of everything in this file.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "runtime/base/flag.hpp"
#include "runtime/base/function.hpp"
#include "runtime/base/memory_file.hpp"
#include "runtime/state/call_record.hpp"

// A counter that only one rank increments and that others occasionally read: no memory ordering is needed.

namespace tutti {

class Counter {
public:
    void add(std::uint64_t n) { set(read() + n); }
    void set(std::uint64_t n) { value_.store(n, std::memory_order_relaxed); }
    std::uint64_t read() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

// Objects that the program has created but not freed when it calls MPI_Finalize, counted by the rank for the
// launcher.

struct alignas(cache_line) NotFreed {
    enum Kind { comms, windows, datatypes, groups, operators, infos, keyvals, errhandlers, requests, kinds };
    /// Singular names of the kinds, for messages; several of them take an "s" in the plural.
    static constexpr std::array<char const*, kinds> names{"communicator", "window",        "datatype",
                                                          "group",        "operator",      "info object",
                                                          "key value",    "error handler", "persistent request"};

    std::array<Counter, kinds> objects;
};

/// How far a rank has come. The launcher reads it when the rank's process has ended.
enum class RankPhase : std::uint32_t { absent, initialised, finalised, aborted };

/// How a rank has accessed its peers' data.
struct alignas(cache_line) Counters {
    Counter maps, hits, unmaps;     ///< mappings created of peers' memory, uses of a mapping that existed already, and
                                    ///< mappings ended by the operations that created them
    Counter direct, attached;       ///< bytes accessed by load and store: in arenas, and through XPMEM
    Counter cma;                    ///< bytes copied by the kernel
    Counter staged;                 ///< bytes staged in the segment, for peers to copy out
    Counter arena, arena_highest;   ///< bytes of this rank's own arena in use at MPI_Finalize, and the maximum
};

/// Memory traffic of a rank's collectives, counted as in the papers: a copy loads and stores each byte once;
/// combining k operands loads k and stores one; for a message between nodes the sender loads each byte and the
/// receiver stores it, regardless of copies inside the sockets. Also counts how often the rank accessed a peer's data
/// (a slot, a piece, a chunk), by locality (topo::Locality).
struct alignas(cache_line) Traffic {
    Counter loaded, stored;   ///< bytes
    Counter past_cache;       ///< bytes that copies have stored past the cache
    Counter messages[5];      ///< within a cache, a NUMA node, a socket; between sockets; between nodes
    Counter to_nodes;         ///< bytes of the messages to other nodes
    Counter bound_calls;      ///< blocking calls whose arguments were checked and converted anew
    /// Nanoseconds in the phases of hierarchical algorithms (coll/env/team.hpp), if call statistics are enabled.
    Counter inside_before, between_nodes, inside_after;
};

/// One-sided operations of a rank, each counted when it is complete for the rank itself.
struct alignas(cache_line) OneSided {
    Counter calls[3];      ///< puts, gets and accumulates of all forms (rma::Operation)
    Counter bytes[3][3];   ///< their bytes at the target: by load and store, by CMA, by messages (rma::AccessMethod)
};

/// How often and how long a rank has waited, and when it ran; times in nanoseconds of now_ns().
struct alignas(cache_line) Times {
    Counter waits, waited;    ///< waits that did not end within the first polls, and their duration
    Counter started, ended;   ///< times of MPI_Init and MPI_Finalize; 0: not yet
    Counter yielded_tests;    ///< calls such as MPI_Test that found nothing and yielded the core
    Counter sleeps, slept;    ///< how often the rank slept in its waits and tests, and for how long
    Counter wakes;            ///< sleeping ranks that this rank has woken
    Counter yields;           ///< sched_yield calls in waits and tests; of these:
    Counter useless_yields;   ///<   yields that let no other thread run,
    Counter long_yields;      ///<   yields that took a time slice or more
    Counter lost_slices;      ///< times that the core was taken away while the rank polled
    Counter core_moves;       ///< how often the rank moved to a core with fewer ranks
    Counter shared_core;      ///< how long it shared a core with another rank while some core had no rank
    Counter run_delay;        ///< how long it was runnable but not running, according to the kernel; set at the end
    Counter compared;         ///< how often it compared its calls on a communicator with those of another member
    Counter comparing;        ///< processor time that these comparisons took in its waits
};

/// Where a rank's memory is to be placed, and where the kernel reported it (runtime/memory/placement.hpp).
struct alignas(cache_line) Placed {
    static constexpr std::size_t parts = 4;   ///< state and call statistics, rings, heap, arena

    Counter node;      ///< number of its NUMA node + 1; 0: nothing to choose, or not known yet
    Counter moves;     ///< how often it has moved permanently to another node
    Counter refused;   ///< errno of a failed attempt to place memory or to query its location
    Counter inspected[parts],
        on_node[parts];   ///< pages inspected when the job ended, and how many of them lay on that node
};

/// The last MPI call that the program has made, for diagnosis after its end. Written by plain stores at each call;
/// read when the rank's process is gone or has recorded its end, except for `collective`.
struct alignas(cache_line) LastCall {
    /// How the process ends, recorded by itself where no launcher of ours waits for it (runtime/job/watchdog.hpp).
    enum class End : std::uint32_t {
        not_recorded,
        exits,      ///< with `exit_code`, without MPI_Finalize
        crashes,    ///< by `crash_signal`
        reported,   ///< one of the above, and the watchdog has reported it
    };

    void const* site;           ///< return address of the call
    std::uint64_t collective;   ///< Comm::context of the last call that coll/match records; 0: none; by std::atomic_ref
    Function function;          ///< the function called
    std::uint64_t program;      ///< load address of the rank's program: subtract it from an address to get the
    std::uint64_t program_end;   ///< address in its file; 0 if it is not relocated. And the end of the program
    std::uint64_t crash;         ///< the instruction at which the rank was killed; 0: none, or unknown
    std::atomic<End> end;        ///< written last
    std::int32_t exit_code, crash_signal;
    char program_file[256];   ///< path of the program, zero-terminated; empty: unknown
};

// The last messages that a rank has sent eagerly to ranks of its node, with their call sites: for a receiver that
// finds a message in MPI_Finalize which was never received. The sender writes a few plain stores per message; a
// receiver may read concurrently and accepts an entry only if it identifies the message both before and after the
// rest was read.

class RecentSends {
public:
    struct CallSite {
        std::uint64_t site = 0;   ///< return address of the call; 0: the message is no longer recorded
        Function function;        ///< the function called
    };

    /// Called by the sender: records the message with sequence number `number` in the channel to local rank `to`.
    void record(unsigned to, std::uint64_t number, void const* site, Function function) {
        Entry& entry = entries_[next_++ % capacity];
        entry.key.store(0, std::memory_order_relaxed);
        entry.site.store(reinterpret_cast<std::uintptr_t>(site), std::memory_order_release);
        entry.function.store(function, std::memory_order_release);
        entry.key.store(key_of(to, number), std::memory_order_release);
    }
    /// Called by the receiver, whose local rank is `to`.
    CallSite find(unsigned to, std::uint64_t number) const {
        std::uint64_t const key = key_of(to, number);
        for (Entry const& entry : entries_) {
            if (entry.key.load(std::memory_order_acquire) != key) continue;
            CallSite const found{entry.site.load(std::memory_order_acquire),
                                 entry.function.load(std::memory_order_acquire)};
            if (entry.key.load(std::memory_order_relaxed) == key) return found;
        }
        return {};
    }

private:
    static constexpr unsigned capacity = 64;
    struct Entry {
        std::atomic<std::uint64_t> key;   ///< 0: none
        std::atomic<std::uint64_t> site;
        std::atomic<Function> function;
    };
    /// Identifies up to 2^44 messages to each of a million ranks; never 0.
    static std::uint64_t key_of(unsigned to, std::uint64_t number) {
        return static_cast<std::uint64_t>(to + 1) << 44 | (number & ((std::uint64_t{1} << 44) - 1));
    }

    Entry entries_[capacity];
    std::uint64_t next_;   ///< used by the sender only
};

/// One per rank: written by that rank (and by the launcher before the start), read by the launcher and by peers.
struct alignas(cache_line) RankState {
    std::atomic<RankPhase> state;               ///< written by the launcher instead if is_served
    std::atomic<std::int32_t> pid;              ///< of the rank's process, in its own pid namespace
    std::int32_t world_rank;                    ///< written by the process that creates the segment
    std::atomic<std::int32_t> abort_code;       ///< valid when state is aborted
    std::atomic<std::uint64_t> process;         ///< the same process as ProcessIdentity::word
    AbortMessage abort_message;                 ///< the message with which the rank's library aborts
    std::atomic<std::uint64_t> pid_namespace;   ///< of `pid` (runtime/base/process_identity.hpp); 0: unknown

    alignas(cache_line) std::atomic<std::uint32_t> asleep;   ///< threads of the rank that sleep or are about to
    std::atomic<std::uint32_t> wake;                         ///< futex word, counts wake-ups
    std::atomic<std::uint64_t> bell;             ///< address of the socket that wakes the rank (runtime/wait/bell.hpp);
                                                 ///< 0: the futex wakes it
    std::atomic<std::uint64_t> bell_namespace;   ///< the network namespace in which `bell` is valid
    std::atomic<std::uint32_t> bell_unreached;   ///< 1: some rank could not send to that socket
    Blocked blocked;                             ///< what the rank waits for, once a wait has become long
    BusyPoll busy_poll;                          ///< what it polls repeatedly without progress

    /// Address of the rank's arena in its own address space (offset 0 of its window); 0: no arena (yet).
    alignas(cache_line) std::atomic<std::uint64_t> arena_base;
    std::atomic<std::uint64_t> arena_bytes;   ///< length of the window, as far as peers map it
    MemoryFile arena_file;   ///< contains the window from offset 0; none: the window lies in the segment's file
    std::atomic<std::int32_t> arena_pid;              ///< the process that has claimed the window,
    std::atomic<std::uint64_t> arena_pid_namespace;   ///< and its pid namespace

    std::atomic<std::int64_t> xpmem_segment;   ///< XPMEM's segment id for the rank's whole memory; 0: not exposed
    std::atomic<std::uint64_t> xpmem_top;      ///< the end of that memory
    std::atomic<std::uint32_t> cma_granted;    ///< 1: the rank has exposed memory outside of arenas and may be traced
    std::atomic<std::uint32_t> cma_denied;     ///< 1: its settings or the system deny it CMA; written before `state`
    std::atomic<std::uint64_t> identity_address;   ///< where the rank's memory holds identity_value; by this its peers
    std::atomic<std::uint64_t> identity_value;     ///< verify that `pid` identifies this rank; 0: it cannot be verified

    Counters counters;
    Traffic traffic;
    OneSided one_sided;
    Times times;
    Placed placed;
    NotFreed not_freed;
    Diagnostic diagnostic;
    LastCall last_call;
    alignas(cache_line) RecentSends recent_sends;
};

/// Returns true if the rank uses another MPI library: it has joined the job by a server of the launcher, and nothing
/// but its state is known.
inline bool is_served(RankState const& rank_state) {
    return rank_state.state.load(std::memory_order_acquire) != RankPhase::absent &&
           rank_state.pid.load(std::memory_order_relaxed) == 0;
}

}   // namespace tutti
