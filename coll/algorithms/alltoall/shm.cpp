// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w) in shared memory, in rotated order: rotated (ours), knem_rotated and knem_sender_writing (KNEM-Coll).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange.hpp"
#include "coll/blocks/linear.hpp"
#include "coll/blocks/movement.hpp"
#include "coll/blocks/packed.hpp"
#include "coll/blocks/sender_writing.hpp"

namespace tutti::coll {

/// The common part of rotated and knem_rotated, which differ in their limits and in the treatment of small equal parts.
/// Each rank obtains its parts from rank + 1, rank + 2, …. `packed`: small parts of one size need no table, and in
/// operations that suspend, the rank that is ready first copies.
template <class Env>
Task rotated_alltoall(Env& env, AlltoallArgs const& a, Limits limits, bool packed) {
    int const rank = env.rank();
    auto const table = 2 * sizeof(Entry) * static_cast<std::size_t>(env.size());
    bool const either =
        packed && env.suspends() && !a.is_in_place && env.size() <= max_sharing_ranks && table <= env.slot_bytes();
    ExchangeSpec const spec{.pattern = Pattern::all,
                            .root = 0,
                            .out = a.is_in_place ? a.receive : a.send,
                            .in = a.receive,
                            .equal_parts = packed && a.equal_parts,
                            .in_place = a.is_in_place,
                            .either_side = either};
    Exchange<Env> x(env, spec, limits);
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

}   // namespace tutti::coll

// knem_rotated: alltoall(v, w). All ranks expose their parts; each copies the parts for it from rank + 1, rank + 2, …,
// so that one rank reads from each at any time. Small parts are sent as messages to all ranks at the same time. p − 1
// steps. Bytes: n per part, copied by its receiver; 2n in place, for which KNEM-Coll has no scheme.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C, Fig. 3.

namespace tutti::coll::algorithms::alltoall {

template <class Env>
Task knem_rotated(Env& env, AlltoallArgs const& a) {
    if (a.equal_parts && a.part_bytes < a.parameters[0]) {
        co_await linear_alltoall(env, a);
        co_return;
    }
    co_await rotated_alltoall(env, a, knem_limits(a), false);
}

extern constinit const Algorithm<AlltoallArgs> knem_rotated_algorithm = {
    "knem_rotated",
    "every rank copies its parts from the others' memory, in rotated order",
    Family::knem_coll,
    "KNEM-Coll, section V.C",
    requires_copyable_buffers,
    knem_movement_parameters,
    TUTTI_SHM_ONLY(knem_rotated),
    {"p*(2*p*s + (s < least ? (p - 1)*staged(s) : 2*min(p - 1, floor(max(0, slot - 24*p)/s))*s))"}};

// knem_sender_writing: alltoall(v, w) in the other direction. All ranks expose the destinations of their parts; each
// writes its parts for rank + 1, rank + 2, …. Small parts are sent as messages to all ranks at the same time. p − 1
// steps. Bytes: n per part, copied by its sender. In place, where a part must be read before it is overwritten, like
// knem_rotated: 2n.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), sections III.B (direction control) and V.C.

template <class Env>
Task knem_sender_writing(Env& env, AlltoallArgs const& a) {
    if (a.equal_parts && a.part_bytes < a.parameters[0]) {
        co_await linear_alltoall(env, a);
        co_return;
    }
    if (a.is_in_place) {
        co_await rotated_alltoall(env, a, knem_limits(a), false);
        co_return;
    }
    ExchangeSpec const spec{.pattern = Pattern::all, .root = 0, .out = a.send, .in = a.receive};
    Buffer const own = a.send[env.rank()];
    SenderWriting<Env> w(env, spec, a.parameters[0], a.parameters[1]);
    co_await w.run(&own);
    w.check();
}

extern constinit const Algorithm<AlltoallArgs> knem_sender_writing_algorithm = {
    "knem_sender_writing",
    "every rank writes its parts into the others' memory, in rotated order",
    Family::knem_coll,
    "KNEM-Coll, sections III.B and V.C",
    requires_copyable_buffers,
    knem_movement_parameters,
    TUTTI_SHM_ONLY(knem_sender_writing),
    {"p*(2*p*s + (p - 1)*(s < least ? staged(s) : 0))"}};

// rotated: alltoall(v, w). Every rank publishes where its parts for the others are, and obtains its own from rank + 1,
// rank + 2, …, so that no two ranks read from the same one at the same time. Small parts are copied through the slots
// without waiting for their readers; large contiguous parts are read from their owner's memory. p − 1 steps. Bytes: 2n
// per small part, n per large one.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.

template <class Env>
Task rotated(Env& env, AlltoallArgs const& a) {
    return fits_packed(env, a) ? packed_alltoall(env, a) : rotated_alltoall(env, a, Limits::of(a), true);
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
