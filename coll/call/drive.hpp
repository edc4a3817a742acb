// SPDX-License-Identifier: BSD-3-Clause
// The blocking driver: takes the channel of the next operation, runs a coroutine to its end, and returns the channel.
#pragma once

#include <exception>

#include "coll/algorithms/algorithm.hpp"
#include "coll/choice/decision.hpp"
#include "coll/env/net_env.hpp"

namespace tutti::coll {

/// Must be called in the handler of the exception that ended the operation. Unless the failure concerns this rank
/// alone, records it in the communicator's area and waits until no member needs memory of this rank any more. Then
/// returns the channel.
void fail_operation(Comm const& comm, char const* operation, std::uint64_t number);
/// Must be called in the handler of an exception that was thrown before the call had its numbers. Takes `count` numbers
/// and records a failure for each of these operations.
void fail_to_begin(Comm const& comm, char const* operation, std::uint64_t count = 1);

/// Runs the task that `algorithm(env)` returns, which uses `trees`, as one operation of a communicator on one node. The
/// task never suspends, because ShmEnv waits inside its awaiters. Throws the task's error, after fail_operation().
/// Always inlined: this is on the path of the most frequent calls.
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
/// Runs the task as one operation of a communicator over several nodes. The task consists of `node_count` operations on
/// this node.
template <class MakeTask>
void drive_multi_node(Comm const& comm, Trees const& trees, char const* operation, std::uint64_t node_count,
                      MakeTask&& algorithm) {
    CommState& state = state_of(comm);
    OperationNumbers numbers{state.begin(comm, operation), 0, node_count};
    if (node_count > 0) numbers.node_first = state_of(*state.multi_node->node).allocate_numbers(node_count);
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

// Running an algorithm in the environment of its operation.

/// Returns the number of operations on each node of which a call consists.
template <class Args>
std::uint64_t node_operations(Algorithm<Args> const& algorithm, Args const& args, MultiNode const& multi_node) {
    return algorithm.node_operations ? algorithm.node_operations(args, multi_node.partition) : 0;
}

/// The algorithm that was chosen for a call.
template <class Args>
struct Chosen {
    Comm const& comm;
    Decision const& decision;
    CallStatisticsRow** statistics = nullptr;   ///< changed if another algorithm replaces it; null: not recorded

    Algorithm<Args> const& algorithm() const {
        return *static_cast<Algorithm<Args> const*>(decision.algorithm->record);
    }
};

/// Runs an algorithm that may refuse the operation. Then the one that is next in the order of choice, and whose
/// requirements the buffers meet, runs in the next phase. All ranks refuse alike, so all choose the same one.
template <class Args>
Task run_or_replace(ShmEnv& env, Chosen<Args> chosen, Args const& args) {
    Decision next = chosen.decision;   // a copy, because the cached one may be forgotten
    Refusal refusal;
    co_await chosen.algorithm().shm(env, args);
    while (env.refused_for() >= 0) {
        refusal.requirements |= next.algorithm->requirements & buffer_requirements;
        refusal.owner = env.refused_for();
        next = decision_for(chosen.comm, next.algorithm->collective, args, refusal);
        env.begin_phase(*next.trees);
        next.counters->algorithm = next.algorithm;
        if (chosen.statistics) *chosen.statistics = next.statistics;
        Args again = args;
        again.parameters = next.setting->values;
        co_await Chosen<Args>{chosen.comm, next}.algorithm().shm(env, again);
    }
}

/// Runs an algorithm to its end. Between nodes it then passes the channels of the announced operations on the node that
/// it has not used.
template <class Args>
[[gnu::always_inline]] inline Task run_in(ShmEnv& env, Chosen<Args> const& chosen, Args const& args) {
    if (chosen.decision.algorithm->requirements & buffer_requirements) return run_or_replace(env, chosen, args);
    return chosen.algorithm().shm(env, args);
}
template <class Args>
Task run_in(NetEnv& env, Chosen<Args> chosen, Args const& args) {
    std::exception_ptr error;
    try {
        co_await chosen.algorithm().net(env, args);
    } catch (...) {
        error = std::current_exception();
        fail_between_nodes(env.comm(), env.operation(), error);
    }
    co_await skip_unused_node_numbers(env);
    if (error) std::rethrow_exception(error);
}

}   // namespace tutti::coll
