// SPDX-License-Identifier: BSD-3-Clause
// The prefix from rank to rank, whole messages, that scan and exscan share.
#pragma once

#include "coll/blocks/messages/messages.hpp"
#include "coll/blocks/prefix/buffers.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

template <class Env>
Task prefix_linear(Env& env, ReduceArgs const& a, bool inclusive) {
    std::size_t const element = element_of(a), bytes = a.bytes();
    Messages<Env> m(env, element);
    Reducer reducer(env.traffic(), a);
    PrefixBuffers<Env> buffers(env, a, Segments(bytes, element, whole), inclusive);
    int const rank = env.rank();
    bool const last = rank + 1 == env.size(), sums = !inclusive && rank > 0 && !last;
    if (bytes == 0) co_return;
    std::byte const* own = buffers.own(0);
    std::byte* prefix = buffers.prefix(0);
    if (inclusive && rank == 0 && own != prefix) env.copy(prefix, own, bytes, 0);
    // With exscan what the next rank gets is not this rank's result.
    PooledBytes const sum = sums ? PooledBytes(env.frames(), bytes) : PooledBytes();
    auto add = [&](std::byte const* from, std::size_t at, std::size_t n) {
        void const* operands[] = {from, own + at};
        if (inclusive || sums) reducer.combine(operands, 2, (inclusive ? prefix : sum.get()) + at, n / element);
        if (!inclusive) env.copy(prefix + at, from, n, 0);
    };
    if (rank > 0) co_await m.receive(rank - 1, bytes, add);
    std::byte const* next = inclusive ? prefix : sums ? sum.get() : own;
    if (!last) co_await m.send(rank + 1, packed_part(next, bytes));
    buffers.end(0);
    co_await m.close();
}

}   // namespace tutti::coll
