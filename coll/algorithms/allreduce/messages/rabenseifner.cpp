// SPDX-License-Identifier: BSD-3-Clause
// Allreduce as reduce_scatter and allgather: recursive vector halving with doubling distance, then the same way back.
// With p ranks, p no power of two, one of each of the first pairs of neighbours hands its operand over first.
// 2 log2(p) steps (+ 2); each rank sends 2 s (p − 1)/p and combines s (p − 1)/p. In rank order: operators need not
// commute. (The paper also halves the vectors of those pairs; this is the plain form of the second one.)
// Rabenseifner (ICCS 2004); Thakur, Rabenseifner, Gropp (IJHPCA 2005).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/halving.hpp"

namespace tutti::coll::algorithms::allreduce {
namespace {

/// From step to step back each rank gets the half that its peer has kept.
template <class Env>
Task gather_halves(Env& env, Messages<Env>& m, Folding const& folding, std::byte* sum, HalvingWay const& way) {
    int const position = folding.position(env.rank());
    for (int step = way.steps - 1; step >= 0; --step) {
        int const peer = folding.rank_at(position ^ 1 << step);
        Range const mine = way.kept(step), other = way.given(step);
        co_await m.exchange(peer, packed_part(sum + mine.first, mine.bytes()), peer, other.bytes(),
                            copying(env, sum + other.first));
    }
}

}   // namespace

template <class Env>
Task rabenseifner(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    Folding const folding(env.size());
    Partial<Env> partial(env, a, place_of_result(a, true));
    Messages<Env> m(env, partial.element());
    co_await fold(env, m, a, folding, partial);
    if (folding.takes_part(env.rank())) {
        HalvingWay way;
        co_await halve(env, m, folding, partial, a.bytes(), way);
        co_await gather_halves(env, m, folding, partial.sum(), way);
        deliver(env, a, partial);
    }
    co_await unfold(env, m, a, folding);
    co_await m.close();
}

extern constinit const Algorithm<ReduceArgs> rabenseifner_algorithm = {
    "rabenseifner",
    "reduce_scatter by recursive halving, allgather by recursive doubling",
    Family::baseline,
    "Rabenseifner, ICCS 2004; Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_grouping,
    {},
    TUTTI_RUNS_ANYWHERE(rabenseifner)};

}   // namespace tutti::coll::algorithms::allreduce
