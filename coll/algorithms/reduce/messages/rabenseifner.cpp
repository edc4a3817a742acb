// SPDX-License-Identifier: BSD-3-Clause
// Reduce as reduce_scatter and gather: recursive vector halving with doubling distance, then a binomial gather to the
// root over the same pairs back, all in rank order. With p no power of two one of each of the first pairs of neighbours
// hands its operand over first, never the root. 2 log2(p) steps (+ 1); each rank combines s (p − 1)/p bytes, the root
// gets as many.
// Rabenseifner (ICCS 2004); Thakur, Rabenseifner, Gropp (IJHPCA 2005).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/halving.hpp"

namespace tutti::coll::algorithms::reduce {
namespace {

/// Of each pair the one that is nearer to the root gets what the other one has.
template <class Env>
Task gather_halves(Env& env, Messages<Env>& m, Folding const& folding, int root, std::byte* sum,
                   HalvingWay const& way) {
    int const position = folding.position(env.rank()), away = position ^ folding.position(root);
    for (int step = way.steps - 1; step >= 0; --step) {
        int const peer = folding.rank_at(position ^ 1 << step);
        if (away & 1 << step) {
            Range const mine = way.kept(step);
            co_await m.send(peer, packed_part(sum + mine.first, mine.bytes()));
            co_return;
        }
        Range const other = way.given(step);
        co_await m.receive(peer, other.bytes(), copying(env, sum + other.first));
    }
}

}   // namespace

template <class Env>
Task rabenseifner(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    bool const is_root = env.rank() == a.root;
    Folding const folding(env.size(), a.root);
    Partial<Env> partial(env, a, place_of_result(a, is_root));
    Messages<Env> m(env, partial.element());
    co_await fold(env, m, a, folding, partial);
    if (folding.takes_part(env.rank())) {
        HalvingWay way;
        co_await halve(env, m, folding, partial, a.bytes(), way);
        co_await gather_halves(env, m, folding, a.root, partial.sum(), way);
        if (is_root) deliver(env, a, partial);
    }
    co_await m.close();
}

extern constinit const Algorithm<ReduceArgs> rabenseifner_algorithm = {
    "rabenseifner",
    "reduce_scatter by recursive halving, binomial gather to the root",
    Family::baseline,
    "Rabenseifner, ICCS 2004; Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_grouping,
    {},
    TUTTI_RUNS_ANYWHERE(rabenseifner)};

}   // namespace tutti::coll::algorithms::reduce
