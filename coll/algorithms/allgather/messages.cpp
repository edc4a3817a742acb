// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) by messages, in shared memory and between nodes: bruck, recursive_doubling, ring.
//
// bruck: Bruck's concatenation. Each rank collects the parts from its own one on in temporary memory; in each step it
// receives as many parts as it has from the rank that many positions further; finally it copies them to their
// destinations. ⌈log2 p⌉ steps for any number of ranks. Bytes per rank: (p − 1)·n by single copy, otherwise twice that;
// p·n for the final copies.
// Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997 (concatenation).
#include "coll/blocks/messages.hpp"
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/block_row.hpp"
#include "coll/blocks/movement.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll::algorithms::allgather {

template <class Env>
Task bruck(Env& env, AllgatherArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    int const size = env.size(), rank = env.rank();
    BlockRow row{};   // block i is the part of rank + i
    row.offsets.push_back(0);
    for (int i = 0; i < size; ++i) row.offsets.push_back(row.offsets.back() + a.parts[(rank + i) % size].bytes());
    std::size_t const total = row.offsets.back();
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
    "the number of parts that a rank holds doubles in each step, for any number of ranks",
    Family::baseline,
    "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 1997",
    requires_bounded_gather,
    {},
    TUTTI_SHM_AND_NET(bruck),
    {"4*p*p*s + p*doubling(d, p, staged(min(d, p - d)*s))"}};

// recursive_doubling: in each step two ranks exchange all the parts that they have. log2 p steps; if p is no power of
// two, ⌊log2 p⌋ + 2, and one rank of some pairs does not participate in the steps between. Bytes per rank: (p − 1)·n by
// single copy, otherwise 2·(p − 1)·n; packed once more if a rank's parts are not contiguous.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Allgather"; the pairs are those of its allreduce.

template <class Env>
Task recursive_doubling(Env& env, AllgatherArgs const& a) {
    return recursive_doubling_allgather(env, a);
}

extern constinit const Algorithm<AllgatherArgs> recursive_doubling_algorithm = {
    "recursive_doubling",
    "pairs of ranks exchange all that they hold, which doubles in each step",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005, Allgather",
    requires_bounded_gather,
    {},
    TUTTI_SHM_AND_NET(recursive_doubling),
    {"q = power(p, 2); r = p - q; "
     "2*p*p*s + sum(j, r, staged(s) + staged((2*j + 1)*s) + staged((p - 2*j - 2)*s)) + "
     "doubling(d, q, d*sum(g, q/d, staged((d + min((g + 1)*d, r) - min(g*d, r))*s)))"}};

// ring: each rank forwards to the next one the part that it received last. p − 1 steps of one part each. Bytes per
// rank: (p − 1)·n by single copy, otherwise 2·(p − 1)·n.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Allgather" (long messages).

template <class Env>
Task ring(Env& env, AllgatherArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    int const size = env.size(), rank = env.rank(), next = (rank + 1) % size, last = (rank + size - 1) % size;
    std::size_t all = 0;
    for (int i = 0; i < size; ++i) all += a.parts[i].bytes();
    std::size_t const working_set = all * static_cast<std::size_t>(size + 1);
    if (!a.is_in_place) deliver_own(env, a.parts[rank], a.mine, working_set, truncation);
    for (int step = 1, out = rank; step < size; ++step) {
        int const in = (out + size - 1) % size;
        Buffer const from = a.parts[in];
        co_await m.exchange(next, {a.parts[out], 0, a.parts[out].bytes()}, last, from.bytes(),
                            m.into(from, 0, working_set));
        truncation.compare(last, m.received(last), from.bytes());
        out = in;
    }
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<AllgatherArgs> ring_algorithm = {"ring",
                                                                  "parts move around a ring, one rank per step",
                                                                  Family::baseline,
                                                                  "Thakur, Rabenseifner, Gropp, IJHPCA 2005, Allgather",
                                                                  requires_nothing,
                                                                  {},
                                                                  TUTTI_SHM_AND_NET(ring),
                                                                  {"p*(2*p*s + (p - 1)*staged(s))"}};

}   // namespace tutti::coll::algorithms::allgather
