// SPDX-License-Identifier: BSD-3-Clause
// Allreduce on several nodes with all ranks at once: a reduce_scatter inside each node, a ring allreduce of each slice
// among the ranks that hold it, one on each node, and an allgather inside. As many slices as the smallest node has
// ranks: further ranks of others have none. 2 (N − 1) steps along a ring of N nodes, by as many connections as there
// are slices; 2 (N − 1)/N·s bytes leave each node and come in, in fragments: some combine while others travel.
// YHCCL (Peng et al., SC 2023), section 5.5, multi-node.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/share_fold.hpp"
#include "coll/blocks/reduce/laid_out.hpp"
#include "coll/env/on_node.hpp"

namespace tutti::coll::algorithms::allreduce {

extern const Algorithm<ReduceArgs> rabenseifner_algorithm, ring_algorithm;
namespace {

/// How many elements each rank of a node has, and where they begin.
struct Cut {
    Cut(FramePool& frames, std::int64_t elements, int ranks, int sequences) : counts(frames), starts(frames) {
        std::int64_t const each = (elements + sequences - 1) / sequences;
        for (int i = 0; i < ranks; ++i) {
            std::int64_t const first = std::min(elements, each * i), end = std::min(elements, first + each);
            starts.push_back(static_cast<int>(first));
            counts.push_back(i < sequences ? static_cast<int>(end - first) : 0);
        }
    }
    PooledVector<int> counts, starts;
};

Task among_nodes(NetEnv& env, ReduceArgs const& slice, int index) {
    PooledVector<int> holders(env.frames());
    for (int n = 0; n < env.map().count(); ++n)
        holders.push_back(env.map().members(n)[static_cast<std::size_t>(index)]);
    NetEnv team(env, std::move(holders), env.multi_node().masters);
    bool const ring = slice.parameters[0] == 0 && slice.op->commutative;
    if (ring) co_await ring_algorithm.net(team, slice);
    else if (slice.parameters[0] == 1) co_await allreduce_by_shares(team, slice);
    else co_await rabenseifner_algorithm.net(team, slice);
}

Task all_ranks(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() == 0) co_return;
    Division const& map = env.map();
    Cut const cut(env.frames(), a.count, map.size(map.mine()), map.smallest());
    int const index = map.index_of(env.rank());
    auto const mine = static_cast<std::size_t>(index);
    LaidOut const memory(*a.type, cut.counts[mine], &env.frames());
    ReduceScatterArgs inside{};
    static_cast<ReduceArgs&>(inside) = a;
    inside.in = operand(a).address;
    inside.out = memory.origin();
    inside.counts = cut.counts;
    co_await on_node(env, Collective::reduce_scatter, inside);
    if (cut.counts[mine] > 0) {
        ReduceArgs slice = a;
        slice.in = in_place;
        slice.out = memory.origin();
        slice.count = cut.counts[mine];
        co_await among_nodes(env, slice, index);
    }
    AllgatherArgs back{};
    back.mine = {memory.origin(), cut.counts[mine], a.type};
    back.parts = Parts::irregular(a.out, cut.counts.data(), cut.starts.data(), *a.type);
    back.largest = static_cast<std::size_t>(cut.counts.front() * a.type->size());
    co_await on_node(env, Collective::allgather, back);
}

std::uint64_t all_ranks_operations(ReduceArgs const&, Division const&) { return 2; }

}   // namespace

constexpr Parameter all_ranks_parameters[] = {
    {"between", 0, "how those who hold a slice combine it", ParameterKind::word, "ring|shares|rabenseifner"},
    fragment_parameter,
};
extern constinit const Algorithm<ReduceArgs> all_ranks_algorithm = {
    "all_ranks",
    "slices reduced inside each node, combined by all ranks at once between nodes, gathered inside",
    Family::yhccl,
    "YHCCL (Peng et al., SC 2023), section 5.5, multi-node",
    requires_commutative | requires_grouping,
    all_ranks_parameters,
    TUTTI_RUNS_ON_NODES(all_ranks)};

}   // namespace tutti::coll::algorithms::allreduce
