// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) pair by pair: in step i each rank sends its operand of the share of the rank i further on and
// combines what comes from the rank i before. Shares of any sizes; nothing is sent but operands.
// p − 1 steps; each rank sends and combines s (p − 1)/p. Operands come in rotated order: operators commute.
// Thakur, Rabenseifner, Gropp (IJHPCA 2005).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/messages.hpp"
#include "coll/blocks/reduce/reducer.hpp"
#include "coll/blocks/reduce/shares.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

/// In place the result lies where others still read: the sum is built beside it.
template <class Env>
Task pairwise(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    int const size = env.size(), rank = env.rank();
    Shares const shares(a, env.frames());
    Reducer reducer(env.traffic(), a);
    std::size_t const element = reducer.element_bytes(), mine = shares.bytes(rank);
    bool const straight = a.in && a.type->dense(a.count);
    PooledBytes const beside = straight ? PooledBytes() : PooledBytes(env.frames(), mine);
    std::byte* const sum = straight ? first_byte(shares.result(rank)) : beside.get();
    std::byte const* now = straight ? first_byte(operand(a)) + shares.start(rank) : sum;
    if (!straight) env.load(sum, operand(a), shares.start(rank), mine);
    auto const add = [&](std::byte const* from, std::size_t at, std::size_t n) {
        void const* operands[] = {now + at, from};
        reducer.combine(operands, 2, sum + at, n / element);
    };
    Messages<Env> m(env, element);
    for (int i = 1; i < size; ++i) {
        int const to = (rank + i) % size, from = (rank - i + size) % size;
        MessagePart const given{operand(a), shares.start(to), shares.bytes(to)};
        co_await m.exchange(to, given, from, mine, add);
        now = sum;
    }
    shares.deliver(env, now);
    co_await m.close();
}

extern constinit const Algorithm<ReduceScatterArgs> pairwise_algorithm = {
    "pairwise",
    "p − 1 steps, in each of which a rank's share comes from one rank more",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_commuting_operator | requires_grouping,
    {},
    TUTTI_RUNS_ANYWHERE(pairwise)};

}   // namespace tutti::coll::algorithms::reduce_scatter
