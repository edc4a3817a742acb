// SPDX-License-Identifier: BSD-3-Clause
// Broadcast composed of n-ary broadcasts, one per team, on one node (shared memory) and over several (messages between
// nodes). The root determines the schedule: teams keep their leaders, and the team of the root comes first. Large
// messages run through it as several fragments at the same time. Sum over levels of log_n(team) steps; every rank with
// children stages s bytes, every rank but the root copies s bytes out.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), sections III.C, IV (the primitive) and VI.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/run_schedule.hpp"

namespace tutti::coll::algorithms::bcast {
namespace {

enum ParameterIndex : std::size_t { large = 1, fragment, in_flight, fan_out };

void compose(Schedule& s, ScheduleLevels const& levels, BcastArgs const& a) {
    auto const& [tree, rank, several_nodes] = levels;
    int const first = level_towards(a.root, tree, rank);
    auto const broadcast = [&, &tree = tree, rank = rank](int level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_out(team.members, team.my_index, nearest_to(a.root, tree, level, team),
                  static_cast<int>(a.parameters.at(fan_out, level)), levels.mechanism(level));
    };
    if (first >= 0) broadcast(first);
    for (int level = tree.levels_of(rank) - 1; level >= 0; --level)
        if (level != first) broadcast(level);
    if (rank != a.root) s.finish();
}

}   // namespace

template <class Env>
Task cheetah(Env& env, BcastArgs const& a) {
    auto const make = [&] {
        auto schedule = std::make_shared<Schedule>(Order::fixed, 1);
        compose(*schedule, {env.hierarchy(), env.rank(), std::is_same_v<Env, NetEnv>}, a);
        return schedule;
    };
    std::size_t const element = std::max<std::size_t>(1, static_cast<std::size_t>(a.data.type->size()));
    Plans::Shape const shape{"bcast/cheetah", a.root, 0, &env.trees(), a.parameters.values()};
    co_await run_schedule(env, shape, {a.data, a.data, nullptr, a.data.bytes(), element},
                          {a.parameters[large], a.parameters[fragment], a.parameters[in_flight]}, make);
}

std::uint64_t cheetah_operations(BcastArgs const&, NodePartition const&) { return 1; }

constexpr Parameter cheetah_parameters[] = {
    hierarchy_parameter,
    large_parameter,
    fragment_of_schedule,
    in_flight_parameter,
    {"fan_out", 2, "children of a rank in the broadcasts of each level", ParameterKind::numbers},
};
extern constinit const Algorithm<BcastArgs> cheetah_algorithm = {
    "cheetah",
    "an n-ary broadcast per team, the root's team first, in fragments",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, sections III to VI",
    requires_nothing,
    cheetah_parameters,
    TUTTI_SHM_AND_NODES(cheetah),
    {"2*(p - 1 + parents(fan_out))*s"}};

}   // namespace tutti::coll::algorithms::bcast
