// SPDX-License-Identifier: BSD-3-Clause
// Allreduce by recursive doubling: in step i the ranks 2^i apart exchange all they have and combine it. With p ranks,
// p no power of two, a rank of each of the first pairs of neighbours hands its operand over and gets the result.
// log2(p) steps (+ 2); each rank sends and combines log2(p)·s. Combined in rank order: operators need not commute.
// Thakur, Rabenseifner, Gropp (IJHPCA 2005).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/halving.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll::algorithms::allreduce {
namespace {

/// What a step sends stays as it is while the sum is built in the other one of two places; the last step builds it in
/// the first one where that can be.
template <class Env>
Task double_up(Env& env, Messages<Env>& m, ReduceArgs const& a, Folding const& folding, Partial<Env>& partial) {
    PooledBytes const spare(env.frames(), a.bytes());
    std::byte* const places[] = {partial.sum(), spare.get()};
    auto const build_for = [&](int steps_left) { partial.build_at(places[steps_left % 2]); };
    build_for(folding.steps());
    co_await fold(env, m, a, folding, partial);
    int const position = folding.position(env.rank());
    for (int step = 0; folding.takes_part(env.rank()) && step < folding.steps(); ++step) {
        build_for(folding.steps() - step - 1);
        if (partial.sum() == partial.now()) build_for(folding.steps() - step);
        int const peer = folding.rank_at(position ^ 1 << step);
        co_await m.exchange(peer, partial.part(0, a.bytes()), peer, a.bytes(),
                            partial.adding(0, (position & 1 << step) != 0));
        partial.combined();
    }
    if (folding.takes_part(env.rank())) deliver(env, a, partial);
}

}   // namespace

template <class Env>
Task recursive_doubling(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    Folding const folding(env.size());
    Partial<Env> partial(env, a, place_of_result(a, true));
    Messages<Env> m(env, partial.element());
    co_await double_up(env, m, a, folding, partial);
    co_await unfold(env, m, a, folding);
    co_await m.close();
}

extern constinit const Algorithm<ReduceArgs> recursive_doubling_algorithm = {
    "recursive_doubling",
    "ranks 1, 2, 4, … apart exchange all they have",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    requires_grouping,
    {},
    TUTTI_RUNS_ANYWHERE(recursive_doubling)};

}   // namespace tutti::coll::algorithms::allreduce
