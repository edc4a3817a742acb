// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w) in shared memory, in rotated order: rotated.
//
// Every rank publishes where its parts for the others are, and obtains its own from rank + 1, rank + 2, …, so that no
// two ranks read from the same one at the same time. Small parts are copied through the slots without waiting for
// their readers; large contiguous parts are read from their owner's memory. p − 1 steps. Bytes: 2n per small part, n
// per large one.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange.hpp"
#include "coll/blocks/packed.hpp"

namespace tutti::coll::algorithms::alltoall {
namespace {

/// Small parts of one size need no table, and in operations that suspend, the rank that is ready first copies.
template <class Env>
Task rotated_alltoall(Env& env, AlltoallArgs const& a) {
    int const rank = env.rank();
    auto const table = 2 * sizeof(Entry) * static_cast<std::size_t>(env.size());
    bool const either =
        env.suspends() && !a.is_in_place && env.size() <= max_sharing_ranks && table <= env.slot_bytes();
    ExchangeSpec const spec{.pattern = Pattern::all,
                            .root = 0,
                            .out = a.is_in_place ? a.receive : a.send,
                            .in = a.receive,
                            .equal_parts = a.equal_parts,
                            .in_place = a.is_in_place,
                            .either_side = either};
    Exchange<Env> x(env, spec, Limits::of(a));
    x.post();
    co_await env.defer();
    if (!a.is_in_place) x.copy_own(a.send[rank]);
    for (int i = 1, peer = rank; i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until(peer);
        x.receive(peer);
        x.copy_unclaimed(peer);
    }
    if (x.unfinished()) co_await x.finish();
    x.check();
}

}   // namespace

template <class Env>
Task rotated(Env& env, AlltoallArgs const& a) {
    return fits_packed(env, a) ? packed_alltoall(env, a) : rotated_alltoall(env, a);
}

extern constinit const Algorithm<AlltoallArgs> rotated_algorithm = {
    "rotated",
    "small parts are copied through slots, large ones are read from their owners in rotated order",
    Family::tutti,
    "after KNEM-Coll, section V.C",
    requires_nothing,
    movement_parameters,
    TUTTI_SHM_ONLY(rotated),
    {"2*p*(p + (copyable*s < direct ? p - 1 : min(p - 1, floor(max(0, slot - 24*p)/s))))*s"}};

}   // namespace tutti::coll::algorithms::alltoall
