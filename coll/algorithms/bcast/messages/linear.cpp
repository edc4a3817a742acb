// SPDX-License-Identifier: BSD-3-Clause
// Broadcast by a message from the root to each of the others, all under way at once.
// One step for everybody, p − 1 for the root where the message is staged. Bytes: s per receiver in one copy, else 2s.
#include "coll/blocks/messages/linear.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task linear(Env& env, BcastArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    std::size_t const bytes = a.data.bytes(), working_set = bytes * static_cast<std::size_t>(env.size());
    if (env.rank() == a.root) {
        co_await start_all(env, m, [&](int) -> MessagePart { return {a.data, 0, bytes}; });
        co_await finish_all(env, m);
    } else {
        co_await receive_part(env, m, a.root, a.data, working_set, truncation);
    }
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<BcastArgs> linear_algorithm = {
    "linear", "the root sends to everybody", Family::baseline, "folklore", requires_nothing,
    {},       TUTTI_RUNS_ANYWHERE(linear)};

}   // namespace tutti::coll::algorithms::bcast
