// SPDX-License-Identifier: BSD-3-Clause
// What mpiexec --check keeps of one-sided operations: which bytes of which target each has touched since they were
// last ordered, to find those that conflict (MPI 3.1, 11.7): their outcome is not defined. Only elements that lie
// densely are kept, and of one target no more than `most`: too little is found rather than too much.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/window/elements.hpp"
#include "rma/window/recording.hpp"
#include "rma/window/shared_accesses.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/process.hpp"

namespace tutti::rma {

/// One operation. Plain bytes, as it also goes to the target, which looks at those of all origins.
struct Accessed {
    std::uint64_t first, end;   ///< bytes of the target's part
    Operation operation;
    bool swaps;             ///< MPI_Compare_and_swap
    BuiltinOp op;           ///< of an accumulate
    Basic type;             ///< likewise
    std::int32_t origin;    ///< in MPI_COMM_WORLD
    std::uint32_t number;   ///< of the origin's operations on this window: the lower one was called first
    std::uint64_t site;
    std::uint64_t meeting;   ///< of all ranks, the last one before (p2p/check/call_order.hpp); under shared locks only
    // Digests of the bytes (p2p/check/digest.hpp), where the origin has seen them; 0: it has not.
    std::uint64_t found;   ///< before a put that nothing orders behind what the target does in the epoch,
    std::uint64_t left;    ///< and what it has put
    char call[24];

    bool reads() const;
    bool writes() const;
};

/// The hint accumulate_ordering: which accumulates of one origin to one place are done in the order of their calls
/// (MPI 4.1, 12.7.2).
struct AccumulateOrdering {
    bool rar = true, raw = true, war = true, waw = true;

    /// "rar,raw,war,waw", the default, a part of it, or "none".
    static AccumulateOrdering of(std::string_view hint);
    /// Is `later` done after `earlier`, which one origin has called in this order?
    bool orders(Accessed const& earlier, Accessed const& later) const;
};

/// Is it undefined what two operations on the same bytes do?
bool conflict(Accessed const& a, Accessed const& b, AccumulateOrdering const& ordering);

class Accesses {
public:
    static constexpr std::size_t most = 1024;

    explicit Accesses(Process& process) : shared(process), process_(process) {}

    /// The running call has done this to the elements at byte `origin` of the target's part. `op`: of an accumulate,
    /// else null. `under_shared_lock`: so it holds the target, and nothing stronger.
    /// Returns what is kept of it, until the next call; null: nothing.
    Accessed* note(Remote const& target, std::int64_t origin, bool under_shared_lock, Operation operation, Op const* op,
                   bool swaps = false);
    /// The running call has a request, or has ended accesses before: not all accesses to the target are kept.
    void note_unkept(int rank) { unkept_.insert(rank); }
    /// Are all accesses to the target since the last `forget` kept?
    bool all_kept(int rank) const { return !unkept_.contains(rank); }
    /// Those towards a target (−1: all) are complete there: what comes is ordered behind them. Warns of conflicts.
    void end(int rank);
    /// Those that only got something are, the others are not.
    void end_gets(int rank);
    /// Of an epoch of all members: to be sent to that target.
    std::span<Accessed const> of(int rank) { return by_target_[rank]; }
    /// Warns of conflicts among the accesses of several origins to one part, and of one origin where that has been
    /// told by nobody else.
    void compare(std::vector<Accessed>& all);
    /// The same of accesses of several origins under shared locks, which conflict with those of other origins after the
    /// same meeting.
    void compare_shared(std::vector<Accessed>& all);
    void forget() {
        by_target_.clear();
        unkept_.clear();
    }
    /// Warns of accesses whose bytes the target's program has changed between the fences of these two places.
    void tell_stores(std::vector<Accessed> const& changed, std::uint64_t opened, std::uint64_t closed);

    AccumulateOrdering ordering;
    SharedAccesses shared;

private:
    void tell(Accessed const& a, Accessed const& b, bool under_shared_locks);

    Process& process_;
    std::uint32_t newest_ = 0;   ///< number of the last operation
    std::map<int, std::vector<Accessed>> by_target_;
    std::set<int> unkept_;                                     ///< targets
    std::set<std::pair<std::uint64_t, std::uint64_t>> told_;   ///< places of two calls
};

}   // namespace tutti::rma
