// SPDX-License-Identifier: BSD-3-Clause
// KNEM-Coll's alltoall(v, w), in both directions: knem_rotated and knem_sender_writing. coll/blocks/knem.hpp has what
// the family shares.
//
// knem_rotated: all ranks expose their parts, and wait for the descriptions of all others (the allgather of cookies).
// Then rank r copies the parts for it from r itself, r + 1, r + 2, …, so that one rank reads from each at any time, if
// all keep pace; a barrier follows. Small equal parts are sent as `small` says. p steps. Bytes: n per part, copied by
// its receiver; 2n in place, for which KNEM-Coll has no scheme.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C, Fig. 3.
#include "coll/blocks/knem.hpp"
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange.hpp"
#include "coll/blocks/sender_writing.hpp"

namespace tutti::coll::algorithms::alltoall {

extern Algorithm<AlltoallArgs> const linear_algorithm, bruck_algorithm, pairwise_algorithm;

namespace {

constexpr Parameter knem_parameters[] = {knem_least_parameter, piece_parameter,
                                         knem_small_parameter("linear|bruck|pairwise"), knem_through_parameter};
constexpr Algorithm<AlltoallArgs> const* small_algorithms[] = {&linear_algorithm, &bruck_algorithm,
                                                               &pairwise_algorithm};
/// Of both algorithms.
constexpr char knem_bytes[] =
    "s < least ? (small < 1 ? alltoall_linear(p) : small < 2 ? alltoall_bruck(p) : "
    "alltoall_pairwise(p)) : 2*p*p*s";

bool is_small(AlltoallArgs const& a) { return a.equal_parts && a.part_bytes < a.parameters[PartsParameter::least]; }

/// The answers for which finish() waits show that this rank's memory has been read; the barrier also waits for copies
/// between other ranks.
template <class Env>
Task copy_in_rotated_order(Env& env, AlltoallArgs const& a) {
    ExchangeSpec const spec{.pattern = Pattern::all,
                            .root = 0,
                            .out = a.is_in_place ? a.receive : a.send,
                            .in = a.receive,
                            .in_place = a.is_in_place};
    Exchange<Env> x(env, spec, knem_limits(a));
    x.post();
    for (int i = 1; i < env.size(); ++i) co_await env.until((env.rank() + i) % env.size());
    if (!a.is_in_place) x.copy_own(a.send[env.rank()]);
    for (int i = 1; i < env.size(); ++i) x.receive((env.rank() + i) % env.size());
    if (x.unfinished()) co_await x.finish();
    env.ack(0, 1);
    co_await await_acks(env, all_ranks_of(env), 0, 1);
    x.check();
}

}   // namespace

template <class Env>
Task knem_rotated(Env& env, AlltoallArgs const& a) {
    if (is_small(a)) {
        co_await run_instead(env, a, *small_algorithms[a.parameters[PartsParameter::small]]);
        co_return;
    }
    copy_through(env, a.parameters[PartsParameter::through]);
    co_await copy_in_rotated_order(env, a);
}

extern constinit const Algorithm<AlltoallArgs> knem_rotated_algorithm = {
    "knem_rotated",
    "every rank copies its parts from the others' memory, in rotated order",
    Family::knem_coll,
    "KNEM-Coll, section V.C",
    requires_kernel_copies,
    knem_parameters,
    TUTTI_SHM_ONLY(knem_rotated),
    {knem_bytes}};

// knem_sender_writing: in the other direction. All ranks expose the destinations of their parts; each writes its parts
// for rank + 1, rank + 2, …. Small equal parts are sent as `small` says. p − 1 steps. Bytes: n per part, copied by its
// sender. In place, where a part must be read before it is overwritten, like knem_rotated: 2n.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), sections III.B (direction control) and V.C.

template <class Env>
Task knem_sender_writing(Env& env, AlltoallArgs const& a) {
    if (is_small(a)) {
        co_await run_instead(env, a, *small_algorithms[a.parameters[PartsParameter::small]]);
        co_return;
    }
    copy_through(env, a.parameters[PartsParameter::through]);
    if (a.is_in_place) {
        co_await copy_in_rotated_order(env, a);
        co_return;
    }
    ExchangeSpec const spec{.pattern = Pattern::all, .root = 0, .out = a.send, .in = a.receive};
    Buffer const own = a.send[env.rank()];
    SenderWriting<Env> w(env, spec, a.parameters[PartsParameter::least], a.parameters[PartsParameter::piece]);
    co_await w.run(&own);
    w.check();
}

extern constinit const Algorithm<AlltoallArgs> knem_sender_writing_algorithm = {
    "knem_sender_writing",
    "every rank writes its parts into the others' memory, in rotated order",
    Family::knem_coll,
    "KNEM-Coll, sections III.B and V.C",
    requires_kernel_copies,
    knem_parameters,
    TUTTI_SHM_ONLY(knem_sender_writing),
    {knem_bytes}};

}   // namespace tutti::coll::algorithms::alltoall
