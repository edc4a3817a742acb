// SPDX-License-Identifier: BSD-3-Clause
// Reduce by load from everybody's buffers: each rank reduces its share of the index range operand by operand into the
// root's result. Two exchanges, no staging.
// 3 (p − 1)·s bytes loaded and stored by all ranks together. Our `direct` takes all operands in one pass: (p + 1)·s.
// XPMEM-based direct reduction, Hashmi et al., IPDPS 2018.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/direct_access.hpp"
#include "coll/blocks/reduce/multi_leader.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task xbrc(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, shown_operand(a), env.rank() == a.root ? shown_result(a) : std::span<std::byte>{});
    co_await access.agree();
    if (!access.granted()) {
        co_await reduce_by_leaders(env, env.one_team(), a, Receives::root, Sum::of_two, a.parameters[2],
                                   a.parameters[1]);
        co_return;
    }
    Share const share(a.bytes(), element_bytes(a), env.rank(), env.size(), a.parameters[0]);
    auto const root = static_cast<std::size_t>(a.root);
    Reducer reducer(env.traffic(), a);
    // In place the result is the root's operand: with that the sum begins.
    fold_from(reducer, {access.operands(share.first), access.ins().size()}, root, access.outs()[root] + share.first,
              (share.last - share.first) / element_bytes(a), a.parameters[1]);
    co_await access.leave_together();
}

extern constinit const Algorithm<ReduceArgs> xbrc_algorithm = {
    "xbrc",
    "every rank reduces its share of all buffers operand by operand into the root's result",
    Family::baseline,
    "XPMEM-based direct reduction (Hashmi et al., IPDPS 2018)",
    requires_one_kind,
    xbrc_parameters,
    TUTTI_RUNS(xbrc)};

}   // namespace tutti::coll::algorithms::reduce
