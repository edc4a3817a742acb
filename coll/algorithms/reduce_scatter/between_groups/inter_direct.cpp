// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) between two groups by load from the other group's buffers: each rank combines its share
// straight from all operands there in one pass into its result. Two exchanges, no staging; (p + q)·s bytes are loaded
// by all ranks together and 2·s stored.
// Direct reduction: Hashmi et al., IPDPS 2018; the agreement: direct_access.hpp; the way without it: group_fold.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/reduce.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task inter_direct(Env& env, ReduceScatterArgs const& a) {
    if (a.bytes() == 0) co_return;
    DirectAccess<Env> access(env, shown_operand(a), {});
    co_await access.agree();
    if (!access.granted()) {
        co_await reduce_scatter_by_slices(env, a);
        co_return;
    }
    TwoGroups const groups(env, a);
    auto const count = a.counts.begin() + groups.place();
    std::size_t const n = static_cast<std::size_t>(*count), element = element_bytes(a),
                      first = element * std::accumulate(a.counts.begin(), count, std::size_t{0});
    void* const to = first_byte(Buffer{a.out, *count, a.type});
    void const* const* const in = access.operands(first, groups.other.first, groups.other.last);
    Reducer reducer(env.traffic(), a);
    // What does not stay in this rank's cache anyway is written past it.
    if (env.outgrows_core(2 * n * element)) reducer.stream(in, groups.other.size(), &to, 1, 0, n);
    else reducer.combine(in, groups.other.size(), to, n);
    co_await access.leave_together();
}

extern constinit const Algorithm<ReduceScatterArgs> inter_direct_algorithm = {
    "inter_direct",
    "every rank reduces its share straight from the other group's buffers",
    Family::tutti,
    "direct reduction (Hashmi et al., IPDPS 2018) in one pass",
    requires_one_kind | requires_two_groups,
    {},
    TUTTI_RUNS(inter_direct)};

}   // namespace tutti::coll::algorithms::reduce_scatter
