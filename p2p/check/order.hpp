// SPDX-License-Identifier: BSD-3-Clause
// What a rank knows of what the others have done before, as far as messages and blocking collectives carry it: a vector
// clock (Mattern 1989; Fidge 1988), one number per rank of MPI_COMM_WORLD. Each send and each completed receive of the
// program is an event of its rank. A send that does not know of an event could have come before it, in this run or in
// another one; that does not depend on when anything really happened.
//
// Order that is not followed (nonblocking, persistent and neighbourhood collectives, one-sided synchronisation) makes
// the knowledge uncertain: the rank, and every rank that hears from it, may know more than its clock says. A blocking
// collective of all ranks ends that, because nothing that any of them may know happens after it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::p2p {

class Order {
public:
    using Clock = std::vector<std::uint32_t>;

    Order(int ranks, int me) : clock_(static_cast<std::size_t>(ranks)), me_(static_cast<std::size_t>(me)) {}

    Clock const& clock() const { return clock_; }
    bool is_uncertain() const { return is_uncertain_; }
    /// The number of this rank's last event.
    std::uint32_t now() const { return clock_[me_]; }
    /// This rank's event up to which another rank, from which something has come since, has heard of this one.
    std::uint32_t heard_of() const { return heard_of_; }
    /// How often this rank has learned something from another one.
    std::uint64_t lessons() const { return lessons_; }

    /// An event of this rank; returns its number.
    std::uint32_t tick() { return ++clock_[me_]; }
    /// The program has learned of a message whose sender knew this much.
    void learn(std::span<std::uint32_t const> clock, bool is_uncertain);
    void become_uncertain() { is_uncertain_ = true; }

    /// What this rank sends the other members of a blocking collective: how far it has come, whether it is uncertain,
    /// and what it knows of `outsiders`, the ranks of MPI_COMM_WORLD that are no members.
    std::vector<std::uint32_t> to_members(std::span<int const> outsiders);
    /// What all `members` have sent each other that way, one after the other.
    void meet(std::span<int const> members, std::span<int const> outsiders, std::span<std::uint32_t const> all);

private:
    Clock clock_;
    std::size_t const me_;
    bool is_uncertain_ = false;
    std::uint32_t heard_of_ = 0;
    std::uint64_t lessons_ = 0;
};

}   // namespace tutti::p2p
