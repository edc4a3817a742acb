// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v): every rank says where its part lies and gets everybody else's, from rank + 1 on. Small parts travel in
// the slots and nobody waits for their readers; large ones are read from their owners' memory, or, in operations that
// suspend, copied by whoever comes first.
// p − 1 steps. Bytes per rank: n in and (p − 1) n out for small parts, (p − 1) n for large ones.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/packed.hpp"

namespace tutti::coll::algorithms::allgather {
namespace {

template <class Env>
Task any_parts(Env& env, AllgatherArgs const& a) {
    Gathering<Env> g(env, a);
    g.post();
    if (!a.is_in_place) g.take_own();
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
        g.take(peer);
    }
    if (g.unfinished()) co_await g.finish();
    g.check();
}

}   // namespace

template <class Env>
Task receiver_reading(Env& env, AllgatherArgs const& a) {
    if (goes_packed(env, a)) return packed_allgather(env, a);
    return goes_by_either_side(env, a) ? gather_by_either_side(env, a) : any_parts(env, a);
}

extern constinit const Algorithm<AllgatherArgs> receiver_reading_algorithm = {
    "receiver_reading",
    "small parts in slots, large ones read by everybody from their owners",
    Family::tutti,
    "Tutti",
    requires_nothing,
    movement_parameters,
    TUTTI_RUNS(receiver_reading)};

}   // namespace tutti::coll::algorithms::allgather
