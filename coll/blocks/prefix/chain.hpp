// SPDX-License-Identifier: BSD-3-Clause
// The chain that scan and exscan share: rank r waits for block b of the result of the ranks below, combines it with its
// own, and hands the sum to rank r + 1 through its staging memory, two blocks under way. Operators need not commute.
//
// A buffer of block b is written again for block b + 2, after rank r + 1 has acknowledged b. Rank r waits for r − 1 to
// be ready and for r + 1 to have read; rank 0 waits for no data and the last rank for no reader, so the chain always
// moves.
#pragma once

#include "coll/blocks/reduce/reducer.hpp"
#include "coll/env/env.hpp"
#include "coll/env/parameter.hpp"

namespace tutti::coll {

inline constexpr Parameter prefix_chain_parameters[] = {{"chunk", 32768, "bytes of a block"}};

/// `inclusive`: the result of rank r has its own operand in it (scan), else only those below (exscan).
template <class Env>
Task prefix_chain(Env& env, ReduceArgs const& a, bool inclusive, std::size_t chunk) {
    Reducer reducer(env.traffic(), a);
    std::size_t const element = std::max<std::size_t>(1, reducer.element_bytes()), total = a.bytes();
    std::size_t const block = std::max(element, std::min(chunk, env.staging_bytes() / 3) / element * element);
    std::size_t const stride = (block + cache_line - 1) / cache_line * cache_line;
    std::uint64_t const blocks = (total + block - 1) / block;
    int const rank = env.rank();
    bool const last = rank + 1 == env.size();
    env.reserve_staging(3 * stride);
    env.add_staging();

    for (std::uint64_t b = 0; b < blocks; ++b) {
        std::size_t const at = b * block, n = std::min(block, total - at);
        std::byte* sum = env.staging() + (b % 2) * stride;
        std::byte* own = env.staging() + 2 * stride;
        if (!last && b >= 2) co_await env.until_ack(rank + 1, 0, b - 1);
        if (rank == 0) {
            env.stage(sum, operand(a), at, n);
            if (inclusive) env.store(result(a), at, sum, n);
            if (!last) env.ready(0, b + 1);
            continue;
        }
        co_await env.until_ready(rank - 1, 0, b + 1);
        std::byte const* below = env.staging(rank - 1) + (b % 2) * stride;
        if (!last || inclusive) {
            env.stage(own, operand(a), at, n);
            void const* operands[] = {below, own};
            reducer.combine(operands, 2, sum, n / element);
        }
        if (!last) env.ready(0, b + 1);
        env.store(result(a), at, inclusive ? sum : below, n);
        env.ack(0, b + 1);
    }
    if (!last && blocks > 0) co_await env.until_ack(rank + 1, 0, blocks);
}

}   // namespace tutti::coll
