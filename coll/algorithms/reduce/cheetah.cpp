// SPDX-License-Identifier: BSD-3-Clause
// Reduce composed of n-ary reductions, one per team; the root fixes the schedule: teams keep their leaders, data flows
// towards the root's team, which comes last; large messages go as several fragments at once. Sum over levels of
// log_n(team) steps; every rank but the root stages s bytes, every inner one reads n·s. An operator that does not
// commute goes up to the topmost leader, which hands the result to the root (the paper names no order of operands).
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), sections V and VI.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/schedule/run.hpp"

namespace tutti::coll::algorithms::reduce {
namespace {

enum Part : std::size_t { fragment = 1, in_flight, fan_in };

void compose_towards_root(Schedule& s, topo::Hierarchy const& tree, int rank, ReduceArgs const& a) {
    int const last = level_towards(a.root, tree, rank);
    auto const reduce = [&](int level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_in(team.members, team.my_index, nearest_to(a.root, tree, level, team),
                 static_cast<int>(a.parameters.at(fan_in, level)));
    };
    for (int level = 0; level < tree.levels_of(rank); ++level)
        if (level != last) reduce(level);
    if (last >= 0) reduce(last);
}

void compose_in_rank_order(Schedule& s, topo::Hierarchy const& tree, int rank, ReduceArgs const& a) {
    for (int level = 0; level < tree.levels_of(rank); ++level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_in(team.members, team.my_index, team.leader_index, static_cast<int>(a.parameters.at(fan_in, level)));
    }
    int const leader = tree.team(tree.levels() - 1, rank).leader;
    if (leader == a.root) return;
    if (rank == leader) s.pass(1, a.root);
    if (rank == a.root) s.receive(leader);
}

}   // namespace

template <class Env>
Task cheetah(Env& env, ReduceArgs const& a) {
    topo::Hierarchy const& tree = env.hierarchy();
    int const shown = a.op->commutative ? 1 : 2;
    Schedule schedule(env.frames(), Order::fixed, shown);
    if (a.op->commutative) compose_towards_root(schedule, tree, env.rank(), a);
    else compose_in_rank_order(schedule, tree, env.rank(), a);
    if (env.rank() == a.root) schedule.finish();
    Reducer reducer(env.traffic(), a);
    ScheduleRun<Env> run(env, schedule, {operand(a), result(a), &reducer, reducer.element_bytes()}, a.bytes(),
                         a.parameters[fragment], a.parameters[in_flight], shown + tree.levels());
    co_await run.run();
}

constexpr Parameter cheetah_parameters[] = {
    hierarchy_parameter,
    {"fragment", 32768, "bytes of a fragment of a large message"},
    {"in_flight", 4, "fragments under way at once", ParameterKind::number},
    {"fan_in", 4, "children of a rank in the reductions of each level", ParameterKind::numbers},
};
extern constinit const Algorithm<ReduceArgs> cheetah_algorithm = {
    "cheetah",
    "an n-ary reduction per team, the root's team last, in fragments",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, sections V and VI",
    requires_commutative,
    cheetah_parameters,
    TUTTI_RUNS(cheetah)};

}   // namespace tutti::coll::algorithms::reduce
