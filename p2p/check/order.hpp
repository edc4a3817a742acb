// SPDX-License-Identifier: BSD-3-Clause
// Knowledge of the order of events among ranks, as far as messages and blocking collectives convey it: the vector clock
// of a rank (Order), what its calls reveal (CallOrder), and the note that messages carry under --check (SentNote).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "p2p/matching/operation.hpp"

namespace tutti::p2p {

/// Derives from the calls of a rank how its actions are ordered among those of other ranks (Lamport's "happened
/// before", CACM 1978): after a synchronization of all ranks, and until the next call of this rank that may convey news
/// of other ranks, no action of another rank since that synchronization happened before an action of this rank, as far
/// as MPI orders them.
class CallOrder {
public:
    /// From now on each call of the program is passed to may_learn_in. Before that, nothing is known.
    void watch() { watched_ = true; }
    /// The program makes this call.
    void may_learn_in(std::string_view call) {
        if (may_teach(call)) may_learn();
    }
    /// The program may learn what other ranks have done.
    void may_learn() { alone_ = false; }
    /// The program may read at any time what other ranks write.
    void shares_memory() { watched_ = false; }
    /// The running call synchronizes all ranks of MPI_COMM_WORLD. All ranks count these calls in the same order.
    void met_all() {
        ++meetings_;
        alone_ = watched_;
    }

    std::uint64_t meetings() const { return meetings_; }
    /// Returns true if the program has learned nothing since the last synchronization of all ranks.
    bool alone() const { return alone_ && watched_; }

    int windows = 0;   ///< number of windows of this rank

private:
    /// Returns false if the call itself conveys no news of other ranks. One-sided operations do so when they complete.
    static bool may_teach(std::string_view call);

    bool watched_ = false, alone_ = false;
    std::uint64_t meetings_ = 0;
};

/// The vector clock of a rank (Mattern 1989; Fidge 1988), with one number per rank of MPI_COMM_WORLD. Each send and
/// each completed receive of the program is an event of its rank. A send that does not know of an event could have come
/// before it, in this run or another one, regardless of when anything really happened.
///
/// Ordering that is not tracked (by nonblocking, persistent and neighbourhood collectives, and by one-sided
/// synchronization) makes the knowledge uncertain: the rank, and every rank that receives its messages, may know more
/// than its clock says. A blocking collective of all ranks makes it certain again, because everything that a rank may
/// know happened before it.
class Order {
public:
    using Clock = std::vector<std::uint32_t>;

    Order(int ranks, int me) : clock_(static_cast<std::size_t>(ranks)), me_(static_cast<std::size_t>(me)) {}

    Clock const& clock() const { return clock_; }
    bool is_uncertain() const { return is_uncertain_; }
    /// Returns the number of this rank's last event.
    std::uint32_t now() const { return clock_[me_]; }
    /// Returns the latest event of this rank that another rank knew of when it sent a message that this rank has
    /// received, or contributed to a collective with this rank.
    std::uint32_t heard_of() const { return heard_of_; }
    /// Returns how many times this rank has learned something from another one.
    std::uint64_t lessons() const { return lessons_; }

    /// Adds an event of this rank and returns its number.
    std::uint32_t tick() { return ++clock_[me_]; }
    /// The program has received a message whose sender knew this much.
    void learn(std::span<std::uint32_t const> clock, bool is_uncertain);
    void become_uncertain() { is_uncertain_ = true; }

    /// Returns the numbers that this rank sends the other members of a blocking collective: its current event, whether
    /// it is uncertain, and its clock for `outsiders`, the ranks of MPI_COMM_WORLD that are not members.
    std::vector<std::uint32_t> to_members(std::span<int const> outsiders);
    /// Adds the knowledge of all members. `all`: the results of to_members of all `members`, in their order.
    void meet(std::span<int const> members, std::span<int const> outsiders, std::span<std::uint32_t const> all);

private:
    Clock clock_;
    std::size_t const me_;
    bool is_uncertain_ = false;
    std::uint32_t heard_of_ = 0;
    std::uint64_t lessons_ = 0;
};

/// The note of a message of the program (Note), which it carries under --check: the call that sent it and the sender's
/// clock at that time.
struct SentNote {
    std::int32_t rank = 0;      ///< the sender in MPI_COMM_WORLD
    std::uint32_t number = 0;   ///< number of the send among the sender's events
    bool synchronous = false;   ///< requested by the program: later messages of the sender know of the receive
    bool uncertain = false;     ///< as in Order
    std::uint64_t site = 0;     ///< call site in the sender
    std::string call;           ///< name of the MPI function: "MPI_Isend"
    Order::Clock clock;         ///< clock of the sender, including this send

    Note to_bytes() const;
    /// `note`: of a message of the program; must not be null.
    static SentNote from_bytes(Note const& note);
};

}   // namespace tutti::p2p
