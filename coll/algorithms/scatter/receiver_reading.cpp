// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v): the root says where each leaf's part lies, every leaf gets its own. Small parts travel together in the
// root's slot, and the root returns at once; large ones in one piece are read by the leaves from the root's memory, all
// at the same time; where both sides lie in arenas a root in place writes 1/p of each part itself. Two steps. Bytes: 2n
// per small part, n per large one.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B, receiver-reading.
#include "coll/blocks/exchange/receiver_reading.hpp"
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/packed.hpp"

namespace tutti::coll::algorithms::scatter {
namespace {

template <class Env>
Task any_parts(Env& env, RootedArgs const& a) {
    return scatter_by_reading(env, a, Limits::of(a), true, a.parameters[3]);
}

template <class Env>
Task packed(Env& env, RootedArgs const& a) {
    std::size_t const n = a.mine.bytes();
    if (env.rank() == a.root) {
        PackedParts const out(a.parts);
        post_packed(env, out);
        if (!a.in_place_at_root) copy_own(env, first_byte(a.mine), out[a.root], n);
        co_return;
    }
    co_await env.until(a.root);
    if (!take_packed(env, a.root, first_byte(a.mine), n, env.rank(), env.size())) co_await any_parts(env, a);
}

}   // namespace

template <class Env>
Task receiver_reading(Env& env, RootedArgs const& a) {
    return goes_packed(env, a, env.size()) ? packed(env, a) : any_parts(env, a);
}

extern constinit const Algorithm<RootedArgs> receiver_reading_algorithm = {
    "receiver_reading",
    "small parts in the root's slot, large ones read by the leaves",
    Family::tutti,
    "after KNEM-Coll, section V.B",
    requires_nothing,
    shared_movement_parameters,
    TUTTI_RUNS(receiver_reading)};

}   // namespace tutti::coll::algorithms::scatter
