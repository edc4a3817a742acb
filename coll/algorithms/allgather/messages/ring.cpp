// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) round a ring: each rank hands to the next one what came in last.
// p − 1 steps of one part each. Bytes per rank: (p − 1)·n by single copy, else 2·(p − 1)·n.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Allgather" (long messages).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/movement.hpp"
#include "coll/blocks/messages/messages.hpp"

namespace tutti::coll::algorithms::allgather {

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
                                                                  "parts go round, one step at a time",
                                                                  Family::baseline,
                                                                  "Thakur, Rabenseifner, Gropp, IJHPCA 2005, Allgather",
                                                                  requires_nothing,
                                                                  {},
                                                                  TUTTI_RUNS_ANYWHERE(ring)};

}   // namespace tutti::coll::algorithms::allgather
