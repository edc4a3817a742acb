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

template <class Args>
Task on_node(NetEnv& env, Collective which, Args args, Algorithm<Args> const* algorithm) {
    Comm const& node = *env.multi_node().node;
    args.first_group_size = 0;
    Decision const decision = algorithm ? Decision{} : decision_for(node, which, args);
    if (!algorithm) args.parameters = decision.setting->values;
    std::uint64_t number = 0;
    co_await begin_on_node(env, number);
    NodeEnv here(env, algorithm ? state_of(node).trees : *decision.trees, number);
    if (algorithm) co_await algorithm->shm(here.shm, args);
    else co_await run_in(here.shm, Chosen<Args>{node, decision}, args);
}

#define COLLECTIVE(name, Args) template Task on_node(NetEnv&, Collective, Args, Algorithm<Args> const*);
#define SHARES_ARGUMENTS(name, Args)
#include "runtime/settings/collectives.def"

}   // namespace tutti::coll
