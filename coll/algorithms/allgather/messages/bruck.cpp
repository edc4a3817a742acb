// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) by Bruck's concatenation: each rank has the parts from its own on in memory of its own; in each step it
// gets as many again from the rank that is as many places further, then deals them out.
// ⌈log2 p⌉ steps with any number of ranks. Bytes per rank: (p − 1)·n by single copy, else twice that; p·n to deal out.
// Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997 (concatenation).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/block_row.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll::algorithms::allgather {

template <class Env>
Task bruck(Env& env, AllgatherArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    int const size = env.size(), rank = env.rank();
    BlockRow row{};   // block i is the part of rank + i
    row.at.push_back(0);
    for (int i = 0; i < size; ++i) row.at.push_back(row.at.back() + a.parts[(rank + i) % size].bytes());
    std::size_t const total = row.at.back();
    PooledBytes const packed(env.frames(), total);
    row.buffer = packed_buffer(packed.get(), total);
    if (!a.is_in_place) deliver_own(env, a.parts[rank], a.mine, 2 * total, truncation);
    env.load(packed.get(), a.parts[rank], 0, a.parts[rank].bytes());

    for (int have = 1; have < size; have *= 2) {
        int const blocks = std::min(have, size - have), from = (rank + have) % size;
        std::size_t const bytes = row.bytes(have, have + blocks);
        co_await m.exchange((rank + size - have) % size, row.part(0, blocks), from, bytes,
                            m.into(row.buffer, row.start(have)));
        truncation.compare(from, m.received(from), bytes);
    }
    co_await m.close();
    for (int i = 1; i < size; ++i)
        env.store(a.parts[(rank + i) % size], 0, packed.get() + row.start(i), row.bytes(i, i + 1));
    truncation.check(env);
}

extern constinit const Algorithm<AllgatherArgs> bruck_algorithm = {
    "bruck",
    "as many parts again in each step, from ever further on",
    Family::baseline,
    "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 1997",
    requires_room,
    {},
    TUTTI_RUNS_ANYWHERE(bruck)};

}   // namespace tutti::coll::algorithms::allgather
