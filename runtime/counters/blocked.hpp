// SPDX-License-Identifier: BSD-3-Clause
// What a rank that has been blocked for a while shows of itself: the call, where the program makes it, and whose acts
// would release it. Written by the rank, read by the launcher, which tells from it whether ranks wait in vain
// (launcher/diagnosis/proof.md has the argument).
//
// One writer, any readers: `changes` is odd while there is something to read. It is raised to odd after the rest has
// been written and to even before anything of it is changed, so what has been read between two looks at the same odd
// value belongs together; what was read otherwise is thrown away.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/flag.hpp"
#include "runtime/base/rank_range.hpp"

namespace tutti {

/// What would release a blocked rank.
enum class Awaiting : std::uint32_t {
    unknown,   ///< something that nobody can name, such as a user's own completion of a generalized request
    all,       ///< an act of each of those awaited; naming one of several is enough, for it is necessary
    any,       ///< an act of one of them
};

/// Of messages between a rank and suspected ones of other nodes (Segment::suspected).
struct NetworkBytes {
    std::uint64_t sent = 0;       ///< also what is still to go, but will without anybody's act
    std::uint64_t received = 0;   ///< and have been looked at
};

/// What a thread of the rank waits for.
struct BlockedThread {
    static constexpr std::size_t most_ranges = 48, most_addresses = 8;

    Awaiting awaiting;
    std::uint32_t ranges;                  ///< how many of `awaited` count
    std::uint32_t others;                  ///< behind them: ranks an act of any of which would move something on here
                                           ///< that other ranks may wait for; the first thread's are those of all
    RankRange awaited[most_ranges];        ///< of MPI_COMM_WORLD
    std::uint32_t addresses;               ///< how many of `stack` count
    std::uint64_t stack[most_addresses];   ///< return addresses in the program, the innermost first: of the MPI call,
                                           ///< of the call of the function that made it, and so on
    char call[256];                        ///< with its arguments in the program's words, zero-ended
    char script[160];                      ///< "ring.py:12 in pass()": where an interpreter says that the program is,
                                           ///< zero-ended; empty: it is no interpreter's, or that cannot be told
    // What the rank itself has noticed, empty if nothing: a message with another tag, say. All zero-ended.
    std::int32_t noticed_of;   ///< a rank that would wait because of it; −1: it holds in any case
    char code[8];              ///< of the mistake, "T02"
    char headline[256];        ///< goes on behind "rank 1 "
    char help[256];            ///< what to do
};

struct alignas(cache_line) Blocked {
    static constexpr std::size_t most_threads = 8;

    std::atomic<std::uint64_t> changes;    ///< odd: what follows `received` is valid
    std::atomic<std::uint64_t> answered;   ///< the last question (SegmentHeader::questions) after which the rank has
                                           ///< looked at everything that may have come, in vain
    std::atomic<std::uint64_t> moves;      ///< how often anything moved on while this rank waited or looked
    std::atomic<std::uint64_t> sent;       ///< NetworkBytes, as they were when it answered
    std::atomic<std::uint64_t> received;

    /// How many of `thread` count, at least one. If there are others that could act, or any that is not here, what
    /// those here wait for is unknown.
    std::uint32_t threads;
    BlockedThread thread[most_threads];
};

}   // namespace tutti
