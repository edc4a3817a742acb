// SPDX-License-Identifier: BSD-3-Clause
// Allreduce of small messages in slots, along a tree in each team: parents combine their children's slots into their
// own, all copy the result from their parent's. As many steps up as down, one where a team has at most `degree` others;
// s bytes written and combined per rank, and as many read on the way down. Nobody waits for those who read.
// XHC (Katevenis, Ploumidis, Marazakis), section IV, the copy-in-copy-out path.
//
// A slot is written twice: the sum below it (step 1), then the result (step 2). The parent has read the former before
// it publishes the latter, which its child waits for before it writes again.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reduce/reducer.hpp"
#include "coll/blocks/trees/tree_place.hpp"

namespace tutti::coll::algorithms::allreduce {
namespace {

enum Step : std::uint64_t { sum_is_there = 1, result_is_there };

/// The leader of a team has further children in the next one.
TreePlace place_in_teams(FramePool& frames, topo::Hierarchy const& tree, int rank, std::size_t degree) {
    TreePlace place(frames);
    for (int level = 0; level < tree.levels_of(rank); ++level) {
        topo::Team const team = tree.team(level, rank);
        int const group = static_cast<int>(std::max<std::size_t>(1, degree)) + 1;
        TreePlace const t = tree_of_groups(frames, team.my_index, static_cast<int>(team.members.size()), group);
        if (t.parent >= 0) place.parent = team.members[t.parent];
        for (int child : t.children) place.children.push_back(team.members[child]);
    }
    return place;
}

}   // namespace

template <class Env>
Task hierarchical_slots(Env& env, ReduceArgs const& a) {
    std::size_t const bytes = a.bytes();
    TreePlace const place = place_in_teams(env.frames(), env.hierarchy(), env.rank(), a.parameters[1]);
    Reducer reducer(env.traffic(), a);
    std::size_t const elements = bytes / std::max<std::size_t>(1, reducer.element_bytes());   // some have no bytes
    std::byte* const own = env.slot(bytes);
    env.load(own, operand(a), 0, bytes);
    for (int child : place.children) {
        co_await env.until(child, sum_is_there);
        void const* const operands[] = {own, env.slot(child, bytes)};
        reducer.combine(operands, 2, own, elements);
    }
    std::byte const* sum = own;
    if (place.parent >= 0) {
        env.publish(sum_is_there);
        co_await env.until(place.parent, result_is_there);
        sum = env.slot(place.parent, bytes);
        if (!place.children.empty()) {
            env.count(bytes, bytes);
            copy_bytes(own, sum, bytes);
        }
    }
    if (!place.children.empty()) env.publish(result_is_there);
    env.store(result(a), 0, sum, bytes);
}

constexpr Parameter hierarchical_slots_parameters[] = {
    hierarchy_parameter, {"degree", 31, "children of a parent in each step of a team's tree", ParameterKind::number}};
extern constinit const Algorithm<ReduceArgs> hierarchical_slots_algorithm = {
    "hierarchical_slots",
    "parents combine slots up the levels of the hierarchy, and pass the result down",
    Family::tutti,
    "after XHC, section IV (copy-in-copy-out)",
    requires_slot | requires_commutative,
    hierarchical_slots_parameters,
    TUTTI_RUNS(hierarchical_slots)};

}   // namespace tutti::coll::algorithms::allreduce
