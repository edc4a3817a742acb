// SPDX-License-Identifier: BSD-3-Clause
// An algorithm in the environment of its operation.
#pragma once

#include <exception>

#include "coll/algorithms/algorithm.hpp"
#include "coll/env/on_node.hpp"

namespace tutti::coll {

/// How many operations of each node's own a call is made of.
template <class Args>
std::uint64_t node_operations(Algorithm<Args> const& algorithm, Args const& args, MultiNode const& multi_node) {
    return algorithm.node_operations ? algorithm.node_operations(args, multi_node.map) : 0;
}

/// An algorithm in the environment of its operation, to its end.
template <class Args>
Task run_in(ShmEnv& env, Algorithm<Args> const& algorithm, Args const& args) {
    return algorithm.shm(env, args);
}
template <class Args>
Task run_in(NetEnv& env, Algorithm<Args> const& algorithm, Args const& args) {
    std::exception_ptr error;
    try {
        co_await algorithm.net(env, args);
    } catch (...) {
        error = std::current_exception();
        fail_between_nodes(env.comm(), env.operation(), error);
    }
    co_await leave_node(env);
    if (error) std::rethrow_exception(error);
}

}   // namespace tutti::coll
