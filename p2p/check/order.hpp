// SPDX-License-Identifier: BSD-3-Clause
// Knowledge of the order of events among ranks, as far as messages and blocking collectives convey it: the vector clock
// of a rank (VectorClock), what its calls reveal (CallOrder), and the piggyback data that messages carry under --check
// (SendPiggyback).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "p2p/matching/operation.hpp"
#include "runtime/base/function.hpp"

namespace tutti::p2p {

/// Derives from the calls of a rank how its actions are ordered among those of other ranks (Lamport's "happened
/// before", CACM 1978): after a synchronization of all ranks, and until the next call of this rank that may convey news
/// of other ranks, no action of another rank since that synchronization happened before an action of this rank, as far
/// as MPI orders them.
class CallOrder {
public:
    /// From now on each call of the program is passed to on_call. Before that, nothing is known.
    void enable() { enabled_ = true; }
    /// The program makes this call.
    void on_call(Function function) {
        if (conveys_news(function)) on_news();
    }
    /// The program may learn what other ranks have done.
    void on_news() { no_news_ = false; }
    /// The program may read at any time what other ranks write.
    void on_shared_memory() { enabled_ = false; }
    /// The running call synchronizes all ranks of MPI_COMM_WORLD. All ranks count these calls in the same order.
    void on_global_sync() {
        ++global_syncs_;
        no_news_ = enabled_;
    }

    std::uint64_t global_syncs() const { return global_syncs_; }
    /// Returns true if the program has learned nothing since the last synchronization of all ranks.
    bool no_news_since_sync() const { return no_news_ && enabled_; }

    int windows = 0;   ///< number of windows of this rank

private:
    /// Returns false if the call itself conveys no news of other ranks. One-sided operations do so when they complete.
    static bool conveys_news(Function function);

    bool enabled_ = false, no_news_ = false;
    std::uint64_t global_syncs_ = 0;
};

/// The vector clock of a rank (Mattern 1989; Fidge 1988), with one number per rank of MPI_COMM_WORLD. Each send and
/// each completed receive of the program is an event of its rank. A send that does not know of an event could have come
/// before it, in this run or another one, regardless of when anything really happened.
///
/// Ordering that is not tracked (by nonblocking, persistent and neighbourhood collectives, and by one-sided
/// synchronization) makes the knowledge uncertain: the rank, and every rank that receives its messages, may know more
/// than its clock says. A blocking collective of all ranks makes it certain again, because everything that a rank may
/// know happened before it.
class VectorClock {
public:
    using Values = std::vector<std::uint32_t>;

    VectorClock(int ranks, int me) : values_(static_cast<std::size_t>(ranks)), me_(static_cast<std::size_t>(me)) {}

    Values const& values() const { return values_; }
    bool is_uncertain() const { return is_uncertain_; }
    /// Returns the number of this rank's last event.
    std::uint32_t last_event() const { return values_[me_]; }
    /// Returns the latest event of this rank that another rank knew of when it sent a message that this rank has
    /// received, or contributed to a collective with this rank.
    std::uint32_t latest_known_elsewhere() const { return latest_known_elsewhere_; }
    /// Returns how many times this rank has learned something from another one.
    std::uint64_t updates() const { return updates_; }

    /// Adds an event of this rank and returns its number.
    std::uint32_t tick() { return ++values_[me_]; }
    /// The program has received a message whose sender knew this much.
    void merge(std::span<std::uint32_t const> values, bool is_uncertain);
    void set_uncertain() { is_uncertain_ = true; }

    /// Returns the numbers that this rank sends the other members of a blocking collective: its current event, whether
    /// it is uncertain, and its clock for `outsiders`, the ranks of MPI_COMM_WORLD that are not members.
    std::vector<std::uint32_t> values_for_members(std::span<int const> outsiders);
    /// Adds the knowledge of all members. `all`: the results of values_for_members of all `members`, in their order.
    void merge_members(std::span<int const> members, std::span<int const> outsiders,
                       std::span<std::uint32_t const> all);

private:
    Values values_;
    std::size_t const me_;
    bool is_uncertain_ = false;
    std::uint32_t latest_known_elsewhere_ = 0;
    std::uint64_t updates_ = 0;
};

/// The contents of the Piggyback of a message of the program under --check: the call that sent it and the sender's
/// clock at that time.
struct SendPiggyback {
    std::int32_t rank = 0;       ///< the sender in MPI_COMM_WORLD
    std::uint32_t number = 0;    ///< number of the send among the sender's events
    bool synchronous = false;    ///< requested by the program: later messages of the sender know of the receive
    bool uncertain = false;      ///< as in VectorClock
    std::uint64_t site = 0;      ///< call site in the sender
    Function function;           ///< the function that sent it
    VectorClock::Values clock;   ///< clock of the sender, including this send

    Piggyback to_bytes() const;
    /// `piggyback`: of a message of the program; must not be null.
    static SendPiggyback from_bytes(Piggyback const& piggyback);
};

}   // namespace tutti::p2p
