// SPDX-License-Identifier: BSD-3-Clause
// The blocking driver: takes the next operation's channel, runs a coroutine to its end, says that it is done.
#pragma once

#include "coll/env/net_env.hpp"
#include "coll/choice/state.hpp"

namespace tutti::coll {

/// `algorithm(env)` makes the task, which follows `trees`. It never suspends here: ShmEnv waits inside its awaiters.
template <class MakeTask>
void drive(Comm const& comm, Trees const& trees, char const* operation, MakeTask&& algorithm) {
    CommState& state = state_of(comm);
    std::uint64_t const op = state.begin(operation);
    ShmEnv env(state.area, trees, state.rank, op, comm, operation, state.localities.data());
    Task task = algorithm(env);
    task.resume();
    state.end(op);
    task.check();
}
/// The same for a communicator over several nodes; the task takes `on_node` operations of this node's part.
template <class MakeTask>
void drive_multi_node(Comm const& comm, Trees const& trees, char const* operation, std::uint64_t on_node,
                  MakeTask&& algorithm) {
    CommState& state = state_of(comm);
    Numbers numbers{state.take_numbers(), 0, on_node};
    if (on_node > 0) numbers.node_first = state_of(*state.multi_node->node).take_numbers(on_node);
    NetEnv env(comm, trees, operation, numbers);
    Task task = algorithm(env);
    task.resume();
    task.check();
}

template <class MakeTask>
void drive(Comm const& comm, char const* operation, MakeTask&& algorithm) {
    drive(comm, state_of(comm).trees, operation, std::forward<MakeTask>(algorithm));
}

}  // namespace tutti::coll
