// SPDX-License-Identifier: BSD-3-Clause
// KNEM-Coll's gather(v) and scatter(v), each by reading and by writing. A leaf is a rank other than the root.
// coll/blocks/knem.hpp has what the family shares.
//
// gather/knem_receiver_reading: the leaves expose their parts, and the root's core alone copies all of them. The paper
// advises against this direction; it is here for comparison with knem_sender_writing. Small equal parts are sent as
// `small` says. p − 1 steps. Bytes: n per part, copied by the root's core.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section III.A (receivers copying in all-to-one).
#include "coll/blocks/knem.hpp"
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange.hpp"
#include "coll/blocks/receiver_reading.hpp"
#include "coll/blocks/sender_writing.hpp"

namespace tutti::coll {

constexpr Parameter rooted_knem_parameters[] = {knem_least_parameter, piece_parameter,
                                                knem_small_parameter("linear|binomial"), knem_through_parameter};

/// Gather or scatter: senders write into the memory that the receivers expose.
template <class Env>
Task rooted_by_writing(Env& env, RootedArgs const& a, Pattern pattern) {
    bool const gathers = pattern == Pattern::to_root, copies_own = env.rank() == a.root && !a.in_place_at_root;
    Parts const mine = Parts::same(a.mine.address, a.mine.count, *a.mine.type);
    ExchangeSpec const spec{
        .pattern = pattern, .root = a.root, .out = gathers ? mine : a.parts, .in = gathers ? a.parts : mine};
    Buffer const own = copies_own ? spec.out[a.root] : Buffer{};
    SenderWriting<Env> w(env, spec, a.parameters[PartsParameter::least], a.parameters[PartsParameter::piece]);
    co_await w.run(copies_own ? &own : nullptr);
    w.check();
}

/// Runs `small` for small equal parts, and `other` for all others.
template <class Env, class Record, class Other>
Task unless_small(Env& env, RootedArgs const& a, Record const* const* small, Other other) {
    if (a.equal_parts && a.max_part_bytes < a.parameters[PartsParameter::least]) {
        co_await run_instead(env, a, *small[a.parameters[PartsParameter::small]]);
        co_return;
    }
    copy_through(env, a.parameters[PartsParameter::through]);
    co_await other();
}

}   // namespace tutti::coll

namespace tutti::coll::algorithms::gather {

extern Algorithm<RootedArgs> const linear_algorithm, binomial_algorithm;

namespace {

constexpr Algorithm<RootedArgs> const* small_algorithms[] = {&linear_algorithm, &binomial_algorithm};

}   // namespace

template <class Env>
Task knem_receiver_reading(Env& env, RootedArgs const& a) {
    return unless_small(env, a, small_algorithms, [&] { return gather_by_reading(env, a, knem_limits(a)); });
}

extern constinit const Algorithm<RootedArgs> knem_receiver_reading_algorithm = {
    "knem_receiver_reading",
    "the root copies all parts from the leaves' memory",
    Family::knem_coll,
    "KNEM-Coll, section III.A",
    requires_kernel_copies,
    rooted_knem_parameters,
    TUTTI_SHM_ONLY(knem_receiver_reading),
    {"s < least ? (small < 1 ? gather_linear(p, root) : gather_binomial(p, root)) : 2*p*s"}};

// gather/knem_sender_writing: the root exposes once where the parts belong; the leaves write their parts there
// concurrently and then signal the root. Small equal parts are sent as `small` says. Two steps. Bytes: n per part,
// copied by the leaf's core.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B.

template <class Env>
Task knem_sender_writing(Env& env, RootedArgs const& a) {
    return unless_small(env, a, small_algorithms, [&] { return rooted_by_writing(env, a, Pattern::to_root); });
}

extern constinit const Algorithm<RootedArgs> knem_sender_writing_algorithm = {
    "knem_sender_writing",
    "the leaves write their parts into the root's memory concurrently",
    Family::knem_coll,
    "KNEM-Coll, section V.B",
    requires_kernel_copies,
    rooted_knem_parameters,
    TUTTI_SHM_ONLY(knem_sender_writing),
    {"s < least ? (small < 1 ? gather_linear(p, root) : gather_binomial(p, root)) : 2*p*s"}};

}   // namespace tutti::coll::algorithms::gather

// scatter/knem_receiver_reading: the root exposes each leaf's part; the leaves copy their parts from there concurrently
// and acknowledge; then the root returns. Small equal parts are sent as `small` says. Two steps. Bytes: n per part,
// copied by the leaf's core.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.B.

namespace tutti::coll::algorithms::scatter {

extern Algorithm<RootedArgs> const linear_algorithm, binomial_algorithm;

namespace {

constexpr Algorithm<RootedArgs> const* small_algorithms[] = {&linear_algorithm, &binomial_algorithm};

}   // namespace

template <class Env>
Task knem_receiver_reading(Env& env, RootedArgs const& a) {
    return unless_small(env, a, small_algorithms, [&] { return scatter_by_reading(env, a, knem_limits(a), false, 0); });
}

extern constinit const Algorithm<RootedArgs> knem_receiver_reading_algorithm = {
    "knem_receiver_reading",
    "the leaves copy their parts from the root's memory concurrently",
    Family::knem_coll,
    "KNEM-Coll, section V.B",
    requires_kernel_copies,
    rooted_knem_parameters,
    TUTTI_SHM_ONLY(knem_receiver_reading),
    {"s < least ? (small < 1 ? scatter_linear(p, root) : scatter_binomial(p, root)) : 2*p*s"}};

// scatter/knem_sender_writing: the leaves expose where their parts belong, and the root's core alone writes all of
// them. The paper advises against this direction; it is here for comparison with knem_receiver_reading. Small equal
// parts are sent as `small` says. p − 1 steps. Bytes: n per part, copied by the root's core.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section III.A (the serialized one-to-all pattern).

template <class Env>
Task knem_sender_writing(Env& env, RootedArgs const& a) {
    return unless_small(env, a, small_algorithms, [&] { return rooted_by_writing(env, a, Pattern::from_root); });
}

extern constinit const Algorithm<RootedArgs> knem_sender_writing_algorithm = {
    "knem_sender_writing",
    "the root writes all parts into the leaves' memory",
    Family::knem_coll,
    "KNEM-Coll, section III.A",
    requires_kernel_copies,
    rooted_knem_parameters,
    TUTTI_SHM_ONLY(knem_sender_writing),
    {"s < least ? (small < 1 ? scatter_linear(p, root) : scatter_binomial(p, root)) : 2*p*s"}};

}   // namespace tutti::coll::algorithms::scatter
