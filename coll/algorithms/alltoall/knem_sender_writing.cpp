// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w) in the other direction: all ranks show where their parts belong, then each writes what it has for
// rank + 1, rank + 2, … Small parts go as messages, to all at once.
// p − 1 steps. Bytes: n per part, copied by its sender. In place, where a part must be read before its place is
// written, as knem_rotated: 2n.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), sections III.B (direction control) and V.C.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/knem.hpp"
#include "coll/blocks/exchange/rotated.hpp"
#include "coll/blocks/exchange/sender_writing.hpp"
#include "coll/blocks/messages/linear.hpp"

namespace tutti::coll::algorithms::alltoall {

template <class Env>
Task knem_sender_writing(Env& env, AlltoallArgs const& a) {
    if (a.equal && a.each < a.parameters[0]) {
        co_await linear_alltoall(env, a);
        co_return;
    }
    if (a.is_in_place) {
        co_await rotated_alltoall(env, a, knem_limits(a), false);
        co_return;
    }
    Sides const sides{.pattern = Pattern::all, .root = 0, .out = a.send, .in = a.receive};
    Buffer const own = a.send[env.rank()];
    Writing<Env> w(env, sides, a.parameters[0], a.parameters[1]);
    co_await w.run(&own);
    w.check();
}

extern constinit const Algorithm<AlltoallArgs> knem_sender_writing_algorithm = {
    "knem_sender_writing",
    "every rank writes its parts into the others' memory, in rotated order",
    Family::knem_coll,
    "KNEM-Coll, sections III.B and V.C",
    requires_nothing,
    knem_movement_parameters,
    TUTTI_RUNS(knem_sender_writing)};

}   // namespace tutti::coll::algorithms::alltoall
