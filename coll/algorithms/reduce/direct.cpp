// SPDX-License-Identifier: BSD-3-Clause
// Reduce by load and store in everybody's buffers: each rank combines its range of the indexes straight from all
// operands in one pass into the root's result. Two exchanges, no staging; p·s bytes are loaded by all ranks together
// and s stored.
//
// Each range of all operands is read by one rank alone, before it writes that range of the result: in place the root's
// operand may be the result. The first range is the root's, so that a vector that is not divided stays in its cache.
// Nobody returns before all have finished.
// Direct reduction: Hashmi et al., IPDPS 2018; the agreement and the way without it: direct_access.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/direct_access.hpp"
#include "coll/blocks/trees/tree_reduction.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task direct(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, shown_operand(a), env.rank() == a.root ? shown_result(a) : std::span<std::byte>{});
    co_await access.agree();
    if (!access.granted()) {
        TreeReduction<Env> reduction(env, env.one_team(), a, a.root, 1, a.parameters[0]);
        co_await reduction.run();
        co_return;
    }
    int const behind_root = (env.rank() - a.root + env.size()) % env.size();
    Share const share(a.bytes(), element_bytes(a), behind_root, env.size(), a.parameters[0]);
    Reducer(env.traffic(), a)
        .combine(access.operands(share.first), env.size(),
                 access.outs()[static_cast<std::size_t>(a.root)] + share.first,
                 (share.last - share.first) / element_bytes(a));
    co_await access.leave_together();
}

constexpr Parameter direct_parameters[] = {
    {"share", 1024, "bytes below which a rank's share is not divided further"},
    {"block", 32768, "bytes of a block where some rank's buffers cannot be reached"},
};
extern constinit const Algorithm<ReduceArgs> direct_algorithm = {
    "direct",          "every rank reduces its range of all buffers into the root's result",
    Family::tutti,     "direct reduction (Hashmi et al., IPDPS 2018) in one pass",
    requires_one_kind, direct_parameters,
    TUTTI_RUNS(direct)};

}   // namespace tutti::coll::algorithms::reduce
