// SPDX-License-Identifier: BSD-3-Clause
// The call records of all communicators of a rank: when they are compared, in which order, and how much at a time.
//
// In a long wait a rank makes one round through all communicators and their members, beginning with the communicator of
// its last collective call. It goes on from where the last round ended, a bounded number of members at a time, within
// an allowance of 1 % of its time (runtime/base/allowance.hpp). Each call is compared with each member once. When the
// launcher suspects this rank of a deadlock, the communicator waited on is compared with all of its members first,
// and with the communicator in which each member that has not come there was last, whatever is left of the allowance;
// half of what may be saved up is kept for the rest of that round.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coll/match/amount_exchange.hpp"
#include "coll/match/node_exchange.hpp"
#include "runtime/base/allowance.hpp"

namespace tutti {
class Datatype;
class Process;
}   // namespace tutti

namespace tutti::coll {

class CallRecords;

/// Of a process; those that record their calls.
class AllCallRecords {
public:
    /// Visits of a member in a step, if no calls are to be compared; each 16 calls that are count as one more.
    static constexpr int visits_per_step = 64;
    /// Visits in MPI_Finalize that need no allowance, besides those of the neighbours.
    static constexpr std::uint64_t visits_at_end = 4096;

    explicit AllCallRecords(Process& process);

    /// These must be removed before they go.
    void add(CallRecords& records);
    void remove(CallRecords const& records);
    /// Those of the communicator with that context; null: none.
    CallRecords* find(std::uint64_t context);

    /// In a long wait: goes on with its round, or does it for the launcher's question. Does not return where it finds
    /// an error.
    void compare_in_wait();
    /// In MPI_Finalize, when all calls of all ranks have been recorded: with the neighbours all of them, with the other
    /// members as many as is granted.
    void compare_at_end();
    /// MPI_Finalize, by all ranks: the same between nodes, of all calls. On one node that is nothing.
    void finish_between_nodes();

    bool const on, at_every_call;                    ///< TUTTI_DIAGNOSIS
    std::unique_ptr<NodeExchange> const nodes;       ///< null: there is one node
    std::unique_ptr<AmountExchange> const amounts;   ///< null: only --check has it
    Datatype const* (*predefined_type)(unsigned number) = nullptr;

    /// What has been done, for tests.
    struct Work {
        std::uint64_t visits = 0;           ///< of a member of a communicator
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
    struct Place {
        std::uint64_t context = 0;
        int member = 0;
    };
    /// Of a rank of this node: communicators on which it has made a call that this rank has not, and the other way
    /// round, when they were seen last; 0: none.
    struct Order {
        std::uint64_t ahead = 0, behind = 0;
    };

    std::vector<Entry>::iterator from(std::uint64_t context);
    void exchange_in_wait(bool asked);
    bool is_asked();
    void begin_round();
    void compare_where_it_waits();
    void step();
    void go_on(int& left);
    bool visit_members(Place& place, int& left);
    void visit(CallRecords& records, int member);
    void compare_order(CallRecords& records, int member);
    std::uint64_t last_collective_of(int world_rank) const;
    template <class Act>
    void measured(Act&& act);

    Process& process_;
    std::vector<Entry> all_;   ///< by context
    Allowance allowance_;
    std::uint64_t question_ = 0;   ///< the launcher's last one that was seen
    std::uint64_t wait_ = 0;       ///< Blocked::changes of the wait whose round it is
    bool round_over_ = true;
    Place first_;                     ///< what is left of the communicator waited on
    Place next_;                      ///< where the round goes on,
    std::uint64_t round_begin_ = 0;   ///< where it began,
    bool wrapped_ = false;            ///< and whether it has been at the end
    std::vector<Order> order_;        ///< by place on this node
};

}   // namespace tutti::coll
