// SPDX-License-Identifier: BSD-3-Clause
// A sequence of operations in shared memory of its own: their numbers, their channels, and which of them have ended. A
// communicator has one. Each persistent collective request also has one, because its starts are matched with the starts
// of the same request at other ranks and need not be ordered with other calls (MPI 4.0, 6.13: only the initialisation
// is ordered). The file also declares the progress engine, whose queue a sequence holds.
#pragma once

#include <exception>

#include "coll/env/area.hpp"
#include "runtime/objects/request.hpp"
#include "runtime/process.hpp"

// The progress engine of the collectives: holds the requests in flight and advances those whose flag has been
// published, whenever the Waiter polls it. An idle request costs one load per poll. Requests that wait for a channel of
// their communicator stay in its queue and cost nothing except for the first one.

namespace tutti::coll {

class CollectiveRequest;

class Progress final : public Pollable {
public:
    explicit Progress(Waiter& waiter);
    ~Progress() override;

    /// Advances each request that can be advanced, once.
    bool poll() override;
    bool is_quiescent() const override { return in_flight_ == 0; }
    bool awaits_local_stores() const override { return in_flight_ != 0; }
    /// Reports collectives in flight: they progress while this rank waits for something else, and other ranks may wait
    /// for that.
    void describe(BlockedCall& blocked) const override;
    void add(CollectiveRequest& request);
    void remove(CollectiveRequest& request);
    int in_flight() const { return in_flight_; }

private:
    Waiter& waiter_;
    CollectiveRequest* first_ = nullptr;
    CollectiveRequest* last_ = nullptr;
    int in_flight_ = 0;
};

/// Requests of one communicator that have not begun, in the order in which they were issued.
struct RequestQueue {
    CollectiveRequest* first = nullptr;
    CollectiveRequest* last = nullptr;
};

}   // namespace tutti::coll

namespace tutti {
class Comm;
}

namespace tutti::coll {

struct OperationSequence {
    /// Without memory (`a` is empty: members on several nodes) it only numbers operations.
    OperationSequence(Process& p, Area a, int my_rank)
        : process(p), area(a), rank(my_rank), begin_limit(a ? channel_depth : max_distance) {}
    OperationSequence(OperationSequence const&) = delete;
    OperationSequence& operator=(OperationSequence const&) = delete;
    /// Leaves the sequence permanently. The owner of the memory gets it back after all members have left.
    ~OperationSequence();

    /// Numbers `count` operations and returns the first number. Members number theirs in the same order.
    std::uint64_t allocate_numbers(std::uint64_t count = 1) {
        std::uint64_t const first = last_number + 1;
        last_number += count;
        return first;
    }
    /// True if the operation's channel is free at all members; see area.hpp.
    bool may_begin(std::uint64_t number) { return number <= begin_limit || update_begin_limit(number); }
    /// Numbers the next operation of `comm`, which owns this sequence, and waits for its channel.
    std::uint64_t begin(Comm const& comm, char const* operation) {
        std::uint64_t const number = allocate_numbers();
        if (number > begin_limit) [[unlikely]]
            wait_for_channel(comm, operation, number);
        return number;
    }
    /// Ends an operation. Operations may end in any order; the end is published when all earlier operations have ended
    /// too.
    [[gnu::always_inline]] void end(std::uint64_t number) {
        if (number == finished + 1 && ended_out_of_order == 0) [[likely]]
            finished = number;
        else end_out_of_order(number);
        Flag& done = area.done(rank);
        void const* const next = &area.channel(rank, last_number + 1).cell;
        done.publish(finished);
        process.waiter.wake_sleepers(done.value);
        prefetch_write(next);
    }
    /// Called when the operation has failed here and has released its resources: marks it as failed for all members and
    /// releases the channel.
    void fail(std::uint64_t number) {
        area.fail(rank, number);
        process.waiter.wake_sleepers();   // of any word: a failure releases every member that waits in this operation
        end(number);
    }

    /// Between nodes the number is a message tag of 30 bits, so concurrent operations may be at most this far apart.
    static constexpr std::uint64_t max_distance = 1 << 29;

    Process& process;
    Area area;
    int rank;
    std::uint64_t last_number = 0;          ///< operations numbered
    std::uint64_t finished = 0;             ///< all operations up to this number have ended here,
    std::uint64_t ended_out_of_order = 0;   ///< bit i: and so has operation finished + 1 + i
    std::uint64_t begin_limit;              ///< operations up to this number may begin without checking other members
    std::uint64_t active = 0;               ///< without memory: operations of requests that have begun and not ended
    std::uint64_t owned_offset = 0;         ///< of the area without its regions, if it lies in this rank's heap; else 0
    RequestQueue queue;                     ///< requests that wait for their first channel

private:
    bool update_begin_limit(std::uint64_t number);
    void wait_for_channel(Comm const& comm, char const* operation, std::uint64_t number);
    void end_out_of_order(std::uint64_t number);
};

/// Returns the reason for a blocking wait in a call that is, or uses, this operation. `member`: as in Comm::reason.
Reason wait_reason(Comm const& comm, char const* operation, int member = -1);

/// True if the error was detected after this rank's last step (a message longer than its buffer). Peers then already
/// have everything that they need from this rank.
bool is_local_error(std::exception_ptr const& error);

/// Holds one operation's channel, and releases it however the operation ends. `Sequence` is an OperationSequence, or
/// its replacement where ranks are threads: area, rank, end(number), fail(number).
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

    /// Replaces the normal end for an operation that has failed here and whose coroutine is destroyed: notifies the
    /// members and returns when all of them have ended it, so that no member reads or writes memory of this rank any
    /// more. wait(word, value, member) must wait for a word of a member.
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
