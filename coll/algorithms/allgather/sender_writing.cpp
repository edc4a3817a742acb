// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v): every rank says where everybody's part goes and writes its own into all the others' buffers, a grain at
// a time, so that each part is loaded from memory once in place of p times. For large parts in arenas; what lies
// elsewhere is read by its receivers as by receiver_reading.
// Two steps. Bytes per rank: p·n stored, n loaded (and p·n from cache).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/gathering.hpp"

namespace tutti::coll::algorithms::allgather {

namespace {

template <class Env>
Task everybody_writes(Env& env, AllgatherArgs const& a) {
    Gathering<Env> g(env, a, true);
    g.post();
    for (int peer = 0; peer < env.size(); ++peer)
        if (peer != env.rank()) co_await env.until(peer);
    g.write(a.parameters[3]);
    for (int i = 1; i < env.size(); ++i) g.take((env.rank() + i) % env.size());
    if (g.unfinished()) co_await g.finish();
    g.check();
}

}   // namespace

/// Of two ranks that may compute meanwhile, who waits copies for both, and loads nothing twice.
template <class Env>
Task sender_writing(Env& env, AllgatherArgs const& a) {
    return env.size() == 2 && goes_by_either_side(env, a) ? gather_by_either_side(env, a) : everybody_writes(env, a);
}

constexpr Parameter sender_writing_parameters[] = {
    direct_parameter,
    piece_parameter,
    cma_parameter,
    {"grain", 16384, "bytes that are written to everybody before the next ones are loaded"}};
extern constinit const Algorithm<AllgatherArgs> sender_writing_algorithm = {
    "sender_writing",
    "every rank writes its part into all the others' buffers",
    Family::tutti,
    "Tutti",
    requires_nothing,
    sender_writing_parameters,
    TUTTI_RUNS(sender_writing)};

}   // namespace tutti::coll::algorithms::allgather
