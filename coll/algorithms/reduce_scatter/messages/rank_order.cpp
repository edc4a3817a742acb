// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) along all ranks in their order, in segments, and from the last one to each its share: the same
// bits wherever ranks are, and operators need not commute. p + s/segment messages in a row. See rank_order.hpp.
// The definition as it stands: MPI 3.1, section 5.10.
#include "coll/blocks/messages/rank_order.hpp"
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/laid_out.hpp"
#include "coll/blocks/reduce/shares.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task rank_order(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    int const rank = env.rank(), last = env.size() - 1;
    Shares const shares(a, env.frames());
    ReduceArgs whole_vector = a;
    LaidOut const sum = rank == last ? LaidOut(*a.type, a.count, &env.frames()) : LaidOut();
    whole_vector.in = operand(a).address;
    whole_vector.out = sum.origin();
    Messages<Env> m(env, element_of(a));
    Segments const segments(a.bytes(), element_of(a), a.parameters[0]);
    CombineUp<Env> up(env, m, whole_vector, in_rank_order(env.frames(), rank, env.size()), segments, rank == last);
    co_await flow<Env>(env, up, nullptr, segments.count, 0);
    if (rank == last) {
        for (int to = 0; to < last; ++to)
            co_await m.start(to, {result(whole_vector), shares.start(to), shares.bytes(to)});
        std::unique_ptr<std::byte[]> const mine(new std::byte[shares.bytes(last)]);
        env.load(mine.get(), result(whole_vector), shares.start(last), shares.bytes(last));
        env.store(shares.result(last), 0, mine.get(), shares.bytes(last));
        for (int to = 0; to < last; ++to) co_await m.finish(to);
    } else {
        co_await m.receive(last, shares.bytes(rank), m.into(shares.result(rank), 0));
    }
    co_await m.close();
}

extern constinit const Algorithm<ReduceScatterArgs> rank_order_algorithm = {
    "rank_order",
    "the sum runs along all ranks in their order, and the last one deals it out",
    Family::baseline,
    "the definition, MPI 3.1, section 5.10",
    requires_nothing,
    rank_order_parameters,
    TUTTI_RUNS_ANYWHERE(rank_order)};

}   // namespace tutti::coll::algorithms::reduce_scatter
