// SPDX-License-Identifier: BSD-3-Clause
// The blocking driver: takes the next operation's channel, runs a coroutine to its end, says that it is done.
#pragma once

#include "coll/net_env.hpp"
#include "coll/state.hpp"

namespace tutti::coll {

/// `algorithm(env)` makes the task, which follows `trees`. It never suspends here: ShmEnv waits inside its awaiters.
template <class MakeTask>
void drive(Comm const& comm, Trees const& trees, char const* operation, MakeTask&& algorithm) {
    CommState& state = state_of(comm);
    std::uint64_t const op = state.begin(operation);
    ShmEnv env(state.area, trees, state.rank, op, comm, operation, state.crossings.data());
    Task task = algorithm(env);
    task.resume();
    state.end(op);
    task.check();
}
/// The same for a communicator over several nodes; `algorithm(env)` needs no operations on the node.
template <class MakeTask>
void drive_across(Comm const& comm, char const* operation, MakeTask&& algorithm) {
    CommState& state = state_of(comm);
    NetEnv env(comm, state.trees, operation, {state.issue()});
    Task task = algorithm(env);
    task.resume();
    task.check();
}

template <class MakeTask>
void drive(Comm const& comm, char const* operation, MakeTask&& algorithm) {
    drive(comm, state_of(comm).trees, operation, std::forward<MakeTask>(algorithm));
}

}  // namespace tutti::coll
