// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w): every rank says where its parts for the others lie, then gets its own from rank + 1, rank + 2, …, so
// that no two ranks read from the same one at the same time. Small parts travel in the slots and nobody waits for their
// readers; large ones in one piece are read from their owner's memory.
// p − 1 steps. Bytes: 2n per small part, n per large one.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.
#include "coll/algorithm.hpp"
#include "coll/exchange.hpp"

namespace tutti::coll::algorithms::alltoall {

template <class Env>
Task rotated(Env& env, AlltoallArgs const& a) {
    int const rank = env.rank();
    Sides const sides{.pattern = Pattern::all,
                      .root = 0,
                      .out = a.is_in_place ? a.receive : a.send,
                      .in = a.receive,
                      .equal = a.equal,
                      .in_place = a.is_in_place};
    Exchange<Env> x(env, sides, Limits::of(a));
    x.post();
    if (!a.is_in_place) x.take_own(a.send[rank]);
    for (int i = 1, peer = rank; i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
        x.take(peer);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

constinit const Algorithm<AlltoallArgs> rotated_algorithm = {
    "rotated", "small parts in slots, large ones read from their owners in rotated order", Family::tutti,
    "after KNEM-Coll, section V.C", needs_nothing, movement_parameters, TUTTI_RUNS(rotated)};

}  // namespace tutti::coll::algorithms::alltoall
