// SPDX-License-Identifier: BSD-3-Clause
// A sequence of operations in memory of their own: numbers, channels, and which of them have ended. A communicator has
// one. So has each persistent request, because its starts are matched with the same request's starts elsewhere and need
// not come in the same order as other calls (MPI 4.0, 6.13: what is ordered is the initialisation).
#pragma once

#include <exception>

#include "coll/env/area.hpp"
#include "coll/env/progress.hpp"
#include "runtime/process.hpp"

namespace tutti {
class Comm;
}

namespace tutti::coll {

struct OperationSequence {
    /// Without memory (members on several nodes) it only numbers.
    OperationSequence(Process& p, Area a, int my_rank)
        : process(p), area(a), rank(my_rank), safe(a ? channel_depth : most_apart) {}
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
    /// Numbers an operation of a communicator with this sequence and waits for its channel.
    std::uint64_t begin(Comm const& comm, char const* operation) {
        std::uint64_t const number = take_numbers();
        if (number > safe) [[unlikely]]
            wait_for_channel(comm, operation, number);
        return number;
    }
    /// Operations may end in any order; the others hear of one when all before it have ended, too.
    [[gnu::always_inline]] void end(std::uint64_t number) {
        if (number == finished + 1 && beyond == 0) [[likely]]
            finished = number;
        else end_early(number);
        Flag& done = area.done(rank);
        void const* const next = &area.channel(rank, op + 1).cell;
        done.publish(finished);
        process.waiter.wake_sleepers(done.value);
        own_soon(next);
    }
    /// The operation has failed here and has let go of what it had: tells the members, and gives the channel up.
    void fail(std::uint64_t number) {
        area.fail(rank, number);
        process.waiter.wake_sleepers();   // of whatever words: who fails keeps all from waiting for theirs
        end(number);
    }

    /// Between nodes the number is a message's tag, of 30 bits: so far apart are operations under way at most.
    static constexpr std::uint64_t most_apart = 1 << 29;

    Process& process;
    Area area;
    int rank;
    std::uint64_t op = 0;             ///< operations numbered
    std::uint64_t finished = 0;       ///< operations up to this number have ended here,
    std::uint64_t beyond = 0;         ///< and bit i: so has operation finished + 1 + i
    std::uint64_t safe;               ///< operations up to this number may begin without asking
    std::uint64_t under_way = 0;      ///< without memory: requests' operations that have begun and not ended
    std::uint64_t owned_offset = 0;   ///< of the area, without its regions, if it lies in this rank's heap; else 0
    Queue queue;                      ///< requests that wait for their first channel

private:
    bool look_for_channel(std::uint64_t number);
    void wait_for_channel(Comm const& comm, char const* operation, std::uint64_t number);
    void end_early(std::uint64_t number);
};

/// Why this rank waits in a blocking call that is, or uses, that operation. `member`: as Comm::reason has it.
Reason reason_in(Comm const& comm, char const* operation, int member = -1);

/// Was what ended an operation found after this rank's last step (that something is longer than its place)? Its peers
/// have all that they need of it then.
bool concerns_this_rank_alone(std::exception_ptr const& error);

/// One operation's hold of its channel, which goes back however the operation ends. `Sequence` is an OperationSequence,
/// or what ranks that are threads have in its place: area, rank, end(number), fail(number).
template <class Sequence>
class ChannelGuard {
public:
    ChannelGuard(Sequence& sequence, std::uint64_t number) : sequence_(sequence), number_(number) {}
    ChannelGuard(ChannelGuard const&) = delete;
    ChannelGuard& operator=(ChannelGuard const&) = delete;
    ~ChannelGuard() {
        if (held_) sequence_.end(number_);
    }
    std::uint64_t number() const { return number_; }

    /// Instead of the end, for an operation that has failed here and whose coroutine is gone: tells the members, and
    /// returns when all of them have ended it, so that none reads or writes memory of this rank any more.
    /// wait(word, value, member) waits for a word of a member's.
    template <class Wait>
    void fail(Wait&& wait) {
        held_ = false;
        sequence_.fail(number_);
        for (int m = 0; m < sequence_.area.members(); ++m)
            if (m != sequence_.rank) wait(sequence_.area.done(m).value, number_, m);
    }

private:
    Sequence& sequence_;
    std::uint64_t const number_;
    bool held_ = true;
};

}   // namespace tutti::coll
