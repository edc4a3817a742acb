// SPDX-License-Identifier: BSD-3-Clause
// Allreduce between two groups by load and store in everybody's buffers: each rank combines its share of the index
// range straight from the other group's operands in one pass and writes it into all results of its own group. Two
// exchanges, no staging; with groups of p and q ranks (p + q)·s bytes are loaded by all together and as many stored.
// Direct reduction: Hashmi et al., IPDPS 2018; the agreement: direct_access.hpp; the way without it: group_fold.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/reduce.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task inter_direct(Env& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, shown_operand(a), shown_result(a));
    co_await access.agree();
    if (!access.granted()) {
        co_await allreduce_by_slices(env, a, a.parameters[0]);
        co_return;
    }
    TwoGroups const groups(env, a);
    GroupSlice const mine = slice_of(a, groups.own, env.rank(), a.parameters[0]);
    std::vector<void*> to;   // the own one first: it alone stays in this rank's cache
    for (int i = 0; i < groups.own.size(); ++i) {
        int const rank = groups.own.first + (groups.place() + i) % groups.own.size();
        to.push_back(access.outs()[static_cast<std::size_t>(rank)] + mine.first);
    }
    std::size_t const n = mine.bytes / element_bytes(a);
    void const* const* const in = access.operands(mine.first, groups.other.first, groups.other.last);
    Reducer reducer(env.traffic(), a);
    if (env.outgrows_core(2 * a.bytes())) reducer.stream(in, groups.other.size(), to.data(), groups.own.size(), 1, n);
    else reducer.spread(in, groups.other.size(), to.data(), groups.own.size(), n);
    co_await access.leave_together();
}

constexpr Parameter inter_direct_parameters[] = {share_parameter};
extern constinit const Algorithm<ReduceArgs> inter_direct_algorithm = {
    "inter_direct",
    "every rank reduces its range of the other group's buffers into all results of its own",
    Family::tutti,
    "direct reduction (Hashmi et al., IPDPS 2018) in one pass",
    requires_one_kind | requires_two_groups,
    inter_direct_parameters,
    TUTTI_RUNS(inter_direct)};

}   // namespace tutti::coll::algorithms::allreduce
