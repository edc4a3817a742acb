// SPDX-License-Identifier: BSD-3-Clause
// The call records of all communicators of a rank: when they are compared, in which order, and how much at a time.
//
// In a long wait a rank makes one round through all communicators and their members. It begins with the communicator of
// its last collective call, continues where the last round ended, visits a bounded number of members per step, and
// stays within an allowance of 1 % of its time (runtime/base/allowance.hpp). Each call is compared with each member
// once. When the launcher suspects this rank of a deadlock, the rank first compares the communicator that it waits on
// with all of its members, and, for each member that has not made this rank's call, the communicator that this member
// used last, regardless of the remaining allowance; half of the maximum allowance is reserved for the rest of the round
// after such a request.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coll/match/amounts.hpp"
#include "coll/match/node_exchange.hpp"
#include "runtime/base/allowance.hpp"
#include "runtime/wait/observers.hpp"

namespace tutti {
class Datatype;
class Process;
}   // namespace tutti

namespace tutti::coll {

class CallRecords;

/// The call records of one process.
class CallMatcher final : public Observer {
public:
    /// Members visited per step if no calls need comparison; every 16 calls compared count as one more visit.
    static constexpr int visits_per_step = 64;
    /// Visits in MPI_Finalize that need no allowance, in addition to those of the neighbours.
    static constexpr std::uint64_t visits_at_end = 4096;

    explicit CallMatcher(Process& process);

    /// Records must be removed before they are destroyed.
    void add(CallRecords& records);
    void remove(CallRecords const& records);
    /// Returns the records of the communicator with this context, or null.
    CallRecords* find(std::uint64_t context);

    /// Continues the round, or performs it for the launcher's request. Does not return if it finds an error.
    void on_long_wait(std::int64_t waited_ns) override;
    /// Called in MPI_Finalize when all calls of all ranks have been recorded: compares completely with the neighbours,
    /// and with other members as far as the allowance permits.
    void compare_at_end();
    /// Called by all ranks in MPI_Finalize: compares all calls between nodes. Does nothing on one node.
    void finish_between_nodes();

    bool const enabled, compares_each_call;                          ///< TUTTI_DIAGNOSIS is not "no"; it is "full"
    std::unique_ptr<NodeExchange> const nodes;                       ///< null: there is only one node
    std::unique_ptr<AmountExchange> const amounts;                   ///< null unless --check is on
    Datatype const* (*predefined_type)(unsigned number) = nullptr;   ///< as in NameLookup

    /// Work done so far, for tests.
    struct Work {
        std::uint64_t visits = 0;           ///< members visited
        std::uint64_t calls_compared = 0;   ///< with those of another member
        std::uint64_t steps = 0;
    };
    Work work;

private:
    struct Entry {
        std::uint64_t context;
        CallRecords* records;
    };
    /// A member of a communicator.
    struct Position {
        std::uint64_t context = 0;
        int member = 0;
    };
    /// Describes a rank on this node: the contexts of the communicators on which, at the last check, it had made a call
    /// that this rank had not (`ahead`), and the reverse (`behind`); 0: no communicator.
    struct Order {
        std::uint64_t ahead = 0, behind = 0;
    };

    std::vector<Entry>::iterator lower_bound(std::uint64_t context);
    void exchange_in_wait(bool requested);
    bool is_requested();
    void begin_round();
    void compare_blocked_communicator();
    void step();
    void continue_round(int& budget);
    bool visit_members(Position& position, int& budget);
    void visit(CallRecords& records, int member);
    void compare_order(CallRecords& records, int member);
    std::uint64_t last_collective_of(int world_rank) const;
    template <class Action>
    void run_measured(Action&& action);

    Process& process_;
    std::vector<Entry> entries_;   ///< by context
    Allowance allowance_;
    std::uint64_t last_query_ = 0;   ///< the last request of the launcher that was seen
    std::uint64_t wait_ = 0;         ///< Blocked::changes of the wait that the current round belongs to
    bool round_done_ = true;
    Position blocked_;                ///< the remaining members of the communicator waited on
    Position position_;               ///< where the round continues,
    std::uint64_t round_begin_ = 0;   ///< where it began,
    bool wrapped_ = false;            ///< and whether it has passed the end of the list
    std::vector<Order> order_;        ///< by local rank
};

}   // namespace tutti::coll
