// SPDX-License-Identifier: BSD-3-Clause
// The blocking driver: takes the next operation's channel, runs a coroutine to its end, gives the channel back.
#pragma once

#include "coll/choice/state.hpp"
#include "coll/env/net_env.hpp"

namespace tutti::coll {

/// Within the handler of what has ended the operation: tells the members if it concerns them, then waits until none of
/// them needs memory of this rank, and gives its channel up.
void fail_operation(Comm const& comm, char const* operation, std::uint64_t number);
/// Within the handler of what was thrown before the call had its numbers: takes `count`, and fails in all of them.
void fail_to_begin(Comm const& comm, char const* operation, std::uint64_t count = 1);

/// `algorithm(env)` makes the task, which follows `trees`. It never suspends here: ShmEnv waits inside its awaiters.
/// Inlined: the hottest calls of all.
template <class MakeTask>
[[gnu::always_inline]] inline void drive(Comm const& comm, Trees const& trees, char const* operation,
                                         MakeTask&& algorithm) {
    CommState& state = state_of(comm);
    std::uint64_t const number = state.begin(comm, operation);
    {
        ShmEnv env(state.area, trees, state.rank, number, comm, operation, state.localities.data());
        try {
            Task task = algorithm(env);
            task.start();
            task.check();
        } catch (...) {
            fail_operation(comm, operation, number);
            throw;
        }
    }
    state.end(number);
}
/// The same for a communicator over several nodes; the task takes `on_node` operations of this node's part.
template <class MakeTask>
void drive_multi_node(Comm const& comm, Trees const& trees, char const* operation, std::uint64_t on_node,
                      MakeTask&& algorithm) {
    CommState& state = state_of(comm);
    Numbers numbers{state.begin(comm, operation), 0, on_node};
    if (on_node > 0) numbers.node_first = state_of(*state.multi_node->node).take_numbers(on_node);
    NetEnv env(comm, trees, operation, numbers);
    try {
        Task task = algorithm(env);
        task.start();
        task.check();
    } catch (...) {
        fail_between_nodes(comm, operation, std::current_exception());
        throw;
    }
}

template <class MakeTask>
void drive(Comm const& comm, char const* operation, MakeTask&& algorithm) {
    drive(comm, state_of(comm).trees, operation, std::forward<MakeTask>(algorithm));
}

}   // namespace tutti::coll
