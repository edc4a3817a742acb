// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) along all ranks in their order, in segments, and from the last one to each its share: the same
// bits wherever ranks are, and operators need not commute. p + s/segment messages in a row. The last one keeps the
// sum of a slice at a time. In place a rank stores its share of a slice over operands of slices that are over.
// The definition as it stands: MPI 3.1, section 5.10.
#include "coll/blocks/messages/rank_order.hpp"
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/laid_out.hpp"
#include "coll/blocks/reduce/shares.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

/// The elements of `slice`, which begin at packed byte `start` of the vector.
template <class Env>
Task rank_order_slice(Env& env, Messages<Env>& m, ReduceScatterArgs const& a, Shares const& shares, ReduceArgs slice,
                      std::size_t start) {
    int const rank = env.rank(), last = env.size() - 1;
    std::size_t const end = start + slice.bytes();
    LaidOut const sum = rank == last ? LaidOut(*a.type, slice.count, &env.frames()) : LaidOut();
    slice.out = sum.origin();
    Segments const segments(slice.bytes(), element_of(a), a.parameters[0]);
    CombineUp<Env> up(env, m, slice, in_rank_order(env.frames(), rank, env.size()), segments, rank == last);
    co_await flow<Env>(env, up, nullptr, segments.count, 0);
    auto const from = [&](int r) { return std::clamp(shares.start(r), start, end); };
    auto const bytes = [&](int r) { return std::clamp(shares.end(r), start, end) - from(r); };
    if (rank == last) {
        for (int to = 0; to < last; ++to) co_await m.start(to, {result(slice), from(to) - start, bytes(to)});
        PooledBytes const mine(env.frames(), bytes(last));
        env.load(mine.get(), result(slice), from(last) - start, bytes(last));
        env.store(shares.result(last), from(last) - shares.start(last), mine.get(), bytes(last));
        for (int to = 0; to < last; ++to) co_await m.finish(to);
    } else {   // also of nothing: so that no rank runs ahead of the others by more than a slice
        co_await m.receive(last, bytes(rank), m.into(shares.result(rank), from(rank) - shares.start(rank)));
    }
}

template <class Env>
Task rank_order(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    Shares const shares(a, env.frames());
    Messages<Env> m(env, element_of(a));
    ReduceArgs whole_vector = a;
    whole_vector.in = operand(a).address;
    Segments const slices(a.bytes(), element_of(a), a.parameters[1] / 2);
    for (std::uint64_t k = 0; k < slices.count; ++k)
        co_await rank_order_slice(env, m, a, shares, slices.slice(whole_vector, k), slices.at(k));
    co_await m.close();
}

constexpr Parameter rank_order_in_slices_parameters[] = {
    rank_order_parameters[0], {"memory", 8 << 20, "bytes of memory of the last rank for sums that are under way"}};
extern constinit const Algorithm<ReduceScatterArgs> rank_order_algorithm = {
    "rank_order",
    "the sum runs along all ranks in their order, and the last one deals it out",
    Family::baseline,
    "the definition, MPI 3.1, section 5.10",
    requires_nothing,
    rank_order_in_slices_parameters,
    TUTTI_RUNS_ANYWHERE(rank_order)};

}   // namespace tutti::coll::algorithms::reduce_scatter
