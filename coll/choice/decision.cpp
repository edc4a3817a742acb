// SPDX-License-Identifier: BSD-3-Clause
// Makes the decision for a call, and warns if it is not the algorithm that the user requested.
#include "coll/choice/decision.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::coll {
namespace {

/// Returns the communicator's trees, or those of other levels, which are kept with the group layout.
Trees const& trees_of(Comm const& comm, topo::LevelChoice const* levels) {
    CommState& state = state_of(comm);
    if (!levels || state.multi_node) return state.trees;   // between nodes there is one level
    auto& others = state.layout->other_trees;
    for (auto const& [choice, trees] : others)
        if (choice == *levels) return *trees;
    ProcessState& node = state_of(state.process);
    auto tree = topo::make_hierarchy(node.machine, node.placement, places_of(comm.process, *comm.union_group), *levels);
    others.emplace_back(*levels, std::make_unique<Trees>(std::move(tree)));
    return *others.back().second;
}

/// Warns that another algorithm runs than the one requested: once per communicator, or once for all unnamed
/// communicators of the same size, whatever the size of the call.
void tell_of_another(Comm const& comm, Setting const& wish, CallTraits const& traits, Setting const& instead) try {
    std::string const asked = join(name_of(wish.algorithm->collective), "=", text_of(wish));
    std::string const place = join(comm.name.empty() ? "a communicator" : comm.name, " of ", traits.ranks, " ranks");
    std::string const why = hindrance(*wish.algorithm, traits);
    if (!state_of(comm.process).told.insert(join(asked, " ", why, " ", place)).second) return;
    comm.process.warn(join(asked, " was asked for, but ", wish.algorithm->name, " ", why, ": ", text_of(instead),
                           " runs instead (on ", place, ")"));
} catch (std::bad_alloc const&) {
    // The call does not fail because there is no memory for the message.
}

}   // namespace

std::vector<int> places_of(Process const& process, Group const& group) {
    std::vector<int> places;
    for (int world : group.world_ranks()) places.push_back(process.cluster.place_of(world));
    return places;
}

Decision decide_for(Comm const& comm, Collective collective, CallTraits const& traits, bool tells) {
    CommState& state = state_of(comm);
    ProcessState& node = state_of(state.process);
    Settings const& settings = state.settings ? *state.settings : node.settings;
    auto const trees = [&](topo::LevelChoice const* levels) -> Trees const& { return trees_of(comm, levels); };
    Decision decision = decide(collective, traits, settings, trees);
    Setting const& wish = settings.of[static_cast<std::size_t>(collective)];
    if (tells && wish.algorithm && decision.setting != &wish)
        tell_of_another(comm, wish, traits_for(wish, traits, trees), *decision.setting);
    decision.use = &state.use_of(collective);
    if (node.call_statistics)
        decision.line = &node.call_statistics->line(comm.name, comm.union_group->size(), name_of(collective),
                                                    text_of(*decision.setting));
    return decision;
}

void record(CallStatisticsRow& line, Use& use, std::size_t bytes, std::int64_t start) {
    auto const time = static_cast<std::uint64_t>(now_ns() - start);
    line.note(bytes, time);
    use.bytes.add(bytes);
    use.time.add(time);
}

}   // namespace tutti::coll
