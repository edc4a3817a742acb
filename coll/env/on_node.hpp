// SPDX-License-Identifier: BSD-3-Clause
// A collective of the communicator's part on this node, as a step of an operation over several nodes: the algorithm is
// chosen by the same table as for any communicator of one node, and takes the operation's next number there.
#pragma once

#include <exception>

#include "coll/env/net_env.hpp"
#include "runtime/base/error.hpp"

namespace tutti::coll {

/// Runs `which` over env.multi_node().node. Ranks, roots and parts are those of the node's part; kernels are known.
template <class Args>
Task on_node(NetEnv& env, Collective which, Args args);

/// The same where other nodes wait for this rank whatever happens on its own: what went wrong is kept.
template <class Args>
Task on_node(NetEnv& env, Collective which, Args args, std::exception_ptr& error) {
    try {
        co_await on_node(env, which, args);
    } catch (Error const&) { error = std::current_exception(); }
}

/// Passes over the numbers on the node that the operation did not need.
Task leave_node(NetEnv& env);

}   // namespace tutti::coll
