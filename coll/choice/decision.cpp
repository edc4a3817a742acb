// SPDX-License-Identifier: BSD-3-Clause
// Makes the decision for a call, and warns if it is not the algorithm that the user requested.
#include "coll/choice/decision.hpp"

#include <algorithm>

#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::coll {
namespace {

Trees const& trees_of(Comm const& comm, topo::LevelChoice const* levels);

/// Builds the trees of a communicator over several nodes: "flat" is one team of all ranks; other choices are the levels
/// inside the nodes, the node, and a team of the nodes' masters. A rank knows the levels inside its own node only: its
/// trees show the ranks of other nodes alone on these levels, where it never meets them.
Trees make_trees_between_nodes(Comm const& comm, topo::LevelChoice const& levels) {
    MultiNode const& nodes = *state_of(comm).multi_node;
    NodePartition const& partition = nodes.partition;
    int const ranks = comm.union_group->size();
    std::vector<topo::Grouping> groupings;
    if (levels.levels.empty()) return Trees(topo::Hierarchy::build(ranks, groupings, "cluster"));
    topo::Hierarchy const& inside = trees_of(*nodes.node, &levels).hierarchy;
    std::span<int const> const here = partition.members();
    for (int level = 0; level + 1 < inside.levels(); ++level) {
        topo::Grouping& grouping = groupings.emplace_back(topo::Grouping{inside.level_name(level), {}});
        for (int r = 0; r < ranks; ++r) {
            bool const is_here = partition.part_of(r) == partition.own_part();
            int const first = is_here ? inside.ranks_under(level, partition.index_of(r)).front() : 0;
            grouping.group.push_back(is_here ? here[static_cast<std::size_t>(first)] : r);
        }
    }
    topo::Grouping& by_node = groupings.emplace_back(topo::Grouping{"node", {}});
    for (int r = 0; r < ranks; ++r) by_node.group.push_back(partition.part_of(r));
    bool const only_nodes = levels.levels == std::vector{topo::Level::node};
    Trees trees(topo::Hierarchy::build(ranks, groupings, "cluster"), only_nodes);
    trees.nodes = partition;   // with one rank on each node, the hierarchy has no level of nodes
    return trees;
}

/// Returns the communicator's trees, or those of other levels, which are kept with the group layout.
Trees const& trees_of(Comm const& comm, topo::LevelChoice const* levels) {
    CommState& state = state_of(comm);
    if (!levels || (state.multi_node && levels->automatic)) return state.trees;
    auto& others = state.layout->other_trees;
    for (auto const& [choice, trees] : others)
        if (choice == *levels) return *trees;
    ProcessState& node = state_of(state.process);
    auto trees = state.multi_node
                     ? std::make_unique<Trees>(make_trees_between_nodes(comm, *levels))
                     : std::make_unique<Trees>(topo::make_hierarchy(
                           node.machine, node.placement, local_ranks_of(comm.process, *comm.union_group), *levels));
    others.emplace_back(*levels, std::move(trees));
    return *others.back().second;
}

/// Warns that another algorithm runs than the one requested: once per communicator, or once for all unnamed
/// communicators of the same size, whatever the size of the call.
void warn_substitution(Comm const& comm, Setting const& requested, CallTraits const& traits, Setting const& instead,
                       Refusal const& refusal) try {
    std::string const requested_text = join(name_of(requested.algorithm->collective), "=", text_of(requested));
    std::string const comm_text =
        join(comm.name.empty() ? "a communicator" : comm.name, " of ", traits.ranks, " ranks");
    std::string reason = unmet_requirement(*requested.algorithm, traits);
    if (requested.algorithm->requirements & refusal.requirements)
        reason += join(", which those of rank ", comm.reported_rank(refusal.owner), " are not");
    if (!state_of(comm.process).warned.insert(join(requested_text, " ", reason, " ", comm_text)).second) return;
    comm.process.warn(join(requested_text, " was requested, but ", requested.algorithm->name, " ", reason, ": ",
                           text_of(instead), " runs instead (on ", comm_text, ")"));
} catch (std::bad_alloc const&) {
    // The call does not fail because there is no memory for the message.
}

/// Returns false if the system copies no memory between some members of this node. A container or a filter of system
/// calls may forbid that to ranks and not to mpiexec, so the members are asked, which have called MPI_Init
/// (await_members). All get the same answer.
bool kernel_copies_between_members(Comm const& comm) {
    Process const& process = comm.process;
    return std::ranges::all_of(comm.union_group->world_ranks(), [&](int world_rank) {
        if (!process.cluster.is_local(world_rank)) return true;
        return process.single_copy.may_copy_by_kernel(static_cast<unsigned>(process.cluster.local_rank_of(world_rank)));
    });
}

}   // namespace

std::vector<int> local_ranks_of(Process const& process, Group const& group) {
    std::vector<int> local_ranks;
    for (int world : group.world_ranks()) local_ranks.push_back(process.cluster.local_rank_of(world));
    return local_ranks;
}

Decision decide_for(Comm const& comm, Collective collective, CallTraits traits, bool is_reporter,
                    Refusal const& refusal) {
    CommState& state = state_of(comm);
    ProcessState& node = state_of(state.process);
    Settings const& settings = state.settings ? *state.settings : node.settings;
    auto const trees = [&](topo::LevelChoice const* levels) -> Trees const& { return trees_of(comm, levels); };
    Decision decision = decide(collective, traits, settings, trees);
    if ((decision.algorithm->requirements & requires_kernel_copies) && !kernel_copies_between_members(comm)) {
        traits.kernel_copies = false;
        decision = decide(collective, traits, settings, trees);
    }
    Setting const& requested = settings.requested[static_cast<std::size_t>(collective)];
    if (is_reporter && requested.algorithm && decision.setting != &requested)
        warn_substitution(comm, requested, traits_for(requested, traits, trees), *decision.setting, refusal);
    decision.counters = &state.counters_of(collective);
    if (node.call_statistics)
        decision.statistics = &node.call_statistics->row(comm.name, comm.union_group->size(), name_of(collective),
                                                         text_of(*decision.setting));
    return decision;
}

void record(CallStatisticsRow& statistics, CollectiveCounters& counters, std::size_t bytes, std::int64_t start) {
    auto const time = static_cast<std::uint64_t>(now_ns() - start);
    statistics.record(bytes, time);
    counters.bytes.add(bytes);
    counters.time.add(time);
}

}   // namespace tutti::coll
