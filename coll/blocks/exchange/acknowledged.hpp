// SPDX-License-Identifier: BSD-3-Clause
// Waiting for the readers of memory that is to be written again.
#pragma once

#include <ranges>

#include "coll/env/env.hpp"

namespace tutti::coll {

/// All ranks.
template <class Env>
auto everybody(Env const& env) {
    return std::views::iota(0, env.size());
}

/// Waits until all of `ranks`, this one aside, have acknowledged so much; 0: nothing to wait for.
template <class Env, class Ranks>
Task acknowledged(Env& env, Ranks ranks, int level, std::uint64_t step) {
    for (int rank : ranks)
        if (step > 0 && rank != env.rank()) co_await env.until_ack(rank, level, step);
}

}   // namespace tutti::coll
