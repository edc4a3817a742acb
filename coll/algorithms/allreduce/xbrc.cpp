// SPDX-License-Identifier: BSD-3-Clause
// Allreduce by load from everybody's buffers: each rank reduces its share of the index range operand by operand into
// its own result, then copies the other shares from the results of their owners. Three exchanges, no staging.
// 5 (p − 1)·s bytes loaded and stored by all ranks together. Our `direct` takes all operands in one pass: 2p·s.
// XPMEM-based direct reduction, Hashmi et al., IPDPS 2018; the volume: YHCCL (Peng et al., SC 2023), section 5.5.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/direct_access.hpp"
#include "coll/blocks/reduce/multi_leader.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task xbrc(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, shown_operand(a), shown_result(a));
    co_await access.agree();
    if (!access.granted()) {
        co_await reduce_by_leaders(env, env.one_team(), a, Receives::all, Sum::of_two, a.parameters[2],
                                   a.parameters[1]);
        co_return;
    }
    constexpr int shares = 1;   // counter: my share is reduced
    std::size_t const smallest = a.parameters[0], element = element_bytes(a);
    Share const mine(a.bytes(), element, env.rank(), env.size(), smallest);
    std::byte* const out = shown_result(a).data();
    Reducer reducer(env.traffic(), a);
    // In place the result is this rank's operand, with which the sum begins.
    fold_from(reducer, {access.operands(mine.first), access.ins().size()}, static_cast<std::size_t>(env.rank()),
              out + mine.first, (mine.last - mine.first) / element, a.parameters[1]);
    env.ready(shares, 1);
    for (int i = 1, peer = env.rank(); i < env.size(); ++i) {
        if (++peer == env.size()) peer = 0;
        co_await env.until_ready(peer, shares, 1);
        Share const share(a.bytes(), element, peer, env.size(), smallest);
        env.count_message(peer);
        env.copy(out + share.first, access.outs()[static_cast<std::size_t>(peer)] + share.first,
                 share.last - share.first, 2 * a.bytes() * static_cast<std::size_t>(env.size()));
    }
    co_await access.leave_together();
}

extern constinit const Algorithm<ReduceArgs> xbrc_algorithm = {
    "xbrc",
    "every rank reduces its share of all buffers operand by operand, all copy the shares",
    Family::baseline,
    "XPMEM-based direct reduction (Hashmi et al., IPDPS 2018)",
    requires_one_kind,
    xbrc_parameters,
    TUTTI_RUNS(xbrc)};

}   // namespace tutti::coll::algorithms::allreduce
