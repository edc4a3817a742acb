// SPDX-License-Identifier: BSD-3-Clause
// Broadcast composed of n-ary broadcasts, one per team. The root determines the schedule: teams keep their leaders, and
// the team of the root comes first. Large messages run through it as several fragments at the same time. Sum over
// levels of log_n(team) steps; every rank with children stages s bytes, every rank but the root copies s bytes out.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), sections III.C, IV (the primitive) and VI.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/run_schedule.hpp"

namespace tutti::coll::algorithms::bcast {
namespace {

enum ParameterIndex : std::size_t { fragment = 1, in_flight, fan_out };

}   // namespace

template <class Env>
Task cheetah(Env& env, BcastArgs const& a) {
    topo::Hierarchy const& tree = env.hierarchy();
    Schedule schedule(env.frames(), Order::fixed, 1);
    int const first = level_towards(a.root, tree, env.rank());
    auto const broadcast = [&](int level) {
        topo::Team const team = tree.team(level, env.rank());
        schedule.fan_out(team.members, team.my_index, nearest_to(a.root, tree, level, team),
                         static_cast<int>(a.parameters.at(fan_out, level)));
    };
    if (first >= 0) broadcast(first);
    for (int level = tree.levels_of(env.rank()) - 1; level >= 0; --level)
        if (level != first) broadcast(level);
    if (env.rank() != a.root) schedule.finish();
    std::size_t const element = std::max<std::size_t>(1, static_cast<std::size_t>(a.data.type->size()));
    ScheduleRun<Env> run(env, schedule, {a.data, a.data, nullptr, element}, a.data.bytes(), a.parameters[fragment],
                         a.parameters[in_flight], 1);
    co_await run.run();
}

constexpr Parameter cheetah_parameters[] = {
    hierarchy_parameter,
    {"fragment", 32768, "bytes of a fragment of a large message"},
    {"in_flight", 4, "fragments in flight", ParameterKind::number},
    {"fan_out", 2, "children of a rank in the broadcasts of each level", ParameterKind::numbers},
};
extern constinit const Algorithm<BcastArgs> cheetah_algorithm = {
    "cheetah",
    "an n-ary broadcast per team, the root's team first, in fragments",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, sections III to VI",
    requires_nothing,
    cheetah_parameters,
    TUTTI_SHM_ONLY(cheetah),
    {"2*(p - 1 + parents(fan_out))*s"}};

}   // namespace tutti::coll::algorithms::bcast
