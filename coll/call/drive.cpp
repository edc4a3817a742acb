// SPDX-License-Identifier: BSD-3-Clause
// Failure of operations (see "When memory runs out" in coll/README.md), and operations on a node as parts of an
// operation between nodes.
#include "coll/call/drive.hpp"

#include "coll/choice/decision.hpp"
#include "coll/env/net_env.hpp"

namespace tutti::coll {
void fail_operation(Comm const& comm, char const* operation, std::uint64_t number) {
    ChannelGuard channel(static_cast<OperationSequence&>(state_of(comm)), number);
    Waiter& waiter = comm.process.waiter;
    comm.process.frames.retain();
    auto const wait = [&](std::atomic<std::uint64_t> const& word, std::uint64_t value, int member) {
        waiter.wait_until([&] { return has_reached(word.load(std::memory_order_acquire), value); },
                          comm.reason(operation, member));
    };
    if (!is_local_error(std::current_exception())) channel.fail(wait);
    comm.process.frames.release();
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

namespace {

/// Waits until the operation with this number may begin on the node (coll/env/area.hpp).
Task await_channel(NetEnv& env, CommState& state, std::uint64_t number) {
    Comm const& node = *env.multi_node().node;
    for (int m = 0; m < state.area.members() && !state.may_begin(number); ++m) {
        int const rank = env.comm().union_group->rank_of(node.world_rank(m));
        if (m != state.rank) co_await env.until(state.area.done(m).value, number - channel_depth, rank);
    }
    // What remains are earlier operations of this rank, which other requests advance.
    while (!state.may_begin(number))
        co_await env.until(state.area.done(state.rank).value, number - channel_depth, env.rank());
}

}   // namespace

template <class Args>
Task on_node(NetEnv& env, Collective which, Args args, Algorithm<Args> const* algorithm) {
    Comm const& node = *env.multi_node().node;
    CommState& state = state_of(node);
    args.first_group_size = 0;
    Decision const decision = algorithm ? Decision{} : decision_for(node, which, args);
    if (!algorithm) args.parameters = decision.setting->values;
    std::uint64_t const number = env.next_node_number();
    if (number > state.begin_limit) co_await await_channel(env, state, number);
    ChannelGuard const channel(static_cast<OperationSequence&>(state), number);
    ShmEnv shm(state.area, algorithm ? state.trees : *decision.trees, state.rank, number, node, env.operation(),
               state.localities.data(), env.suspension(), &env.frames());
    if (algorithm) co_await algorithm->shm(shm, args);
    else co_await run_in(shm, Chosen<Args>{node, decision}, args);
}

#define COLLECTIVE(name, Args) template Task on_node(NetEnv&, Collective, Args, Algorithm<Args> const*);
#define SHARES_ARGUMENTS(name, Args)
#include "runtime/settings/collectives.def"

Task skip_unused_node_numbers(NetEnv& env) {
    CommState& state = state_of(*env.multi_node().node);
    while (env.unused_node_numbers() > 0) {
        std::uint64_t const number = env.next_node_number();
        if (number > state.begin_limit) co_await await_channel(env, state, number);
        ChannelGuard const passed(static_cast<OperationSequence&>(state), number);
    }
}

}   // namespace tutti::coll
