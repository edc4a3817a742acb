// SPDX-License-Identifier: BSD-3-Clause
// Reduce from one group to a root in the other by load and store in everybody's buffers: the root and each rank of the
// operands' group combine a range of the indexes straight from all operands into the root's result, in one pass. Two
// exchanges, no staging; q·s bytes are loaded and s stored. The root's own group has nothing to do.
// Direct reduction: Hashmi et al., IPDPS 2018; the agreement: direct_access.hpp; the way without it: group_fold.hpp.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/reduce.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task inter_direct(Env& env, ReduceArgs const& a) {
    TwoGroups const groups(env, a);
    bool const root = env.rank() == a.root;
    if (a.bytes() == 0 || (!root && !groups.other.has(a.root))) co_return;
    Ranks const givers = root ? groups.other : groups.own;
    Participants const all{givers.first, givers.last, a.root};
    DirectAccess<Env> access(env, root ? std::span<std::byte const>{} : shown_operand(a),
                             root ? shown_result(a) : std::span<std::byte>{}, all);
    co_await access.agree();
    if (!access.granted()) {
        co_await reduce_by_slices(env, a, a.parameters[0]);
        co_return;
    }
    Share const share(a.bytes(), element_bytes(a), root ? 0 : env.rank() - givers.first + 1, all.count(),
                      a.parameters[0]);
    Reducer(env.traffic(), a)
        .combine(access.operands(share.first, givers.first, givers.last), givers.size(),
                 access.outs()[static_cast<std::size_t>(a.root)] + share.first,
                 (share.last - share.first) / element_bytes(a));
    co_await access.leave_together();
}

constexpr Parameter inter_direct_parameters[] = {share_parameter};
extern constinit const Algorithm<ReduceArgs> inter_direct_algorithm = {
    "inter_direct",
    "the other group and the root reduce a range each into the root's result",
    Family::tutti,
    "direct reduction (Hashmi et al., IPDPS 2018) in one pass",
    requires_one_kind | requires_two_groups,
    inter_direct_parameters,
    TUTTI_RUNS(inter_direct)};

}   // namespace tutti::coll::algorithms::reduce
