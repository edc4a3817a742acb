// SPDX-License-Identifier: BSD-3-Clause
// What follows when an operation cannot go on. See "When memory runs out" in coll/env/README.md.
#include "coll/call/drive.hpp"

namespace tutti::coll {
void fail_operation(Comm const& comm, char const* operation, std::uint64_t number) {
    ChannelGuard channel(static_cast<OperationSequence&>(state_of(comm)), number);
    Waiter& waiter = comm.process.waiter;
    comm.process.frames.hold();
    auto const wait = [&](std::atomic<std::uint64_t> const& word, std::uint64_t value, int member) {
        waiter.until([&] { return has_come(word.load(std::memory_order_acquire), value); },
                     comm.reason(operation, member));
    };
    if (!concerns_this_rank_alone(std::current_exception())) channel.fail(wait);
    comm.process.frames.let_go();
}

void fail_to_begin(Comm const& comm, char const* operation, std::uint64_t count) {
    CommState& state = state_of(comm);
    if (state.multi_node) return fail_between_nodes(comm, operation, std::current_exception());
    for (std::uint64_t i = 0; i < count; ++i) {
        ChannelGuard channel(static_cast<OperationSequence&>(state), state.begin(comm, operation));
        state.area.fail(state.rank, channel.number());
        comm.process.waiter.wake_sleepers();
    }
}

}   // namespace tutti::coll
