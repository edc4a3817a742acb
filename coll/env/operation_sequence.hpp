// SPDX-License-Identifier: BSD-3-Clause
// A sequence of operations in memory of their own: numbers, channels, and which of them have ended. A communicator has
// one. So has each persistent request, because its starts are matched with the same request's starts elsewhere and need
// not come in the same order as other calls (MPI 4.0, 6.13: what is ordered is the initialisation).
#pragma once

#include "coll/env/area.hpp"
#include "coll/env/progress.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {

struct OperationSequence {
    /// Without memory (members on several nodes) it only numbers.
    OperationSequence(Process& p, Area a, int my_rank)
        : process(p), area(a), rank(my_rank), safe(a ? channel_depth : last_operation) {}
    OperationSequence(OperationSequence const&) = delete;
    OperationSequence& operator=(OperationSequence const&) = delete;
    /// Leaves for good; whoever owns the memory gets it back when all members have.
    ~OperationSequence();

    /// Numbers so many operations and returns the first number. Members number theirs in the same order.
    std::uint64_t take_numbers(std::uint64_t count = 1) {
        std::uint64_t const first = op + 1;
        op += count;
        return first;
    }
    /// Is the operation's channel free everywhere? See area.hpp.
    bool may_begin(std::uint64_t number) { return number <= safe || look_for_channel(number); }
    /// Numbers an operation and waits for its channel.
    std::uint64_t begin(char const* operation) {
        std::uint64_t const number = take_numbers();
        if (number > safe) [[unlikely]] wait_for_channel(operation, number);
        return number;
    }
    /// Operations may end in any order; the others hear of one when all before it have ended, too.
    void end(std::uint64_t number) {
        if (number == finished + 1 && beyond == 0) [[likely]] finished = number;
        else end_early(number);
        area.done(rank).publish(finished);
        process.waiter.wake_sleepers();
        own_soon(&area.channel(rank, op + 1).cell);
    }

    Process& process;
    Area area;
    int rank;
    std::uint64_t op = 0;                     ///< operations numbered
    std::uint64_t finished = 0;               ///< operations up to this number have ended here,
    std::uint64_t beyond = 0;                 ///< and bit i: so has operation finished + 1 + i
    std::uint64_t safe;                       ///< operations up to this number may begin without asking
    std::uint64_t owned_offset = 0;           ///< of the area if it lies in this rank's heap, else 0
    Queue queue;                              ///< requests that wait for their first channel

private:
    bool look_for_channel(std::uint64_t number);
    void wait_for_channel(char const* operation, std::uint64_t number);
    void end_early(std::uint64_t number);
};

}  // namespace tutti::coll
