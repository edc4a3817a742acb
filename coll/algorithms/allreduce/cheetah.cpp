// SPDX-License-Identifier: BSD-3-Clause
// Allreduce composed of primitives: n-ary reductions up the levels, recursive k-ing among the leaders at the top, n-ary
// broadcasts down; a sequential schedule. Large messages run through it as several fragments at once.
// 2 sum over lower levels of log_n(team) + log_k(top) (+ 2 with extra ranks) steps; every rank but those at the top
// stages s and copies s out; those at the top stage log_k(top)·s and read (k − 1)·log_k(top)·s.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), sections IV and VI.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/schedule/run.hpp"

namespace tutti::coll::algorithms::allreduce {
namespace {

enum Part : std::size_t { fragment = 1, in_flight, radix, fan_in, fan_out };

}   // namespace

template <class Env>
Task cheetah(Env& env, ReduceArgs const& a) {
    topo::Hierarchy const& tree = env.hierarchy();
    topo::Team const top = tree.team(tree.levels() - 1, env.rank());
    RecursiveKIngPlan const plan(top.members.size(), static_cast<int>(a.parameters[radix]), !a.op->commutative);
    Schedule schedule(env.frames(), Order::sequential, plan.buffers());
    compose_for_all(schedule, tree, env.rank(), plan, a.parameters, fan_in, fan_out);
    schedule.finish();
    Reducer reducer(env.traffic(), a);
    ScheduleRun<Env> run(env, schedule, {operand(a), result(a), &reducer, reducer.element_bytes()}, a.bytes(),
                         a.parameters[fragment], a.parameters[in_flight], plan.buffers() + tree.levels());
    co_await run.run();
}

constexpr Parameter cheetah_parameters[] = {
    hierarchy_parameter,
    {"fragment", 32768, "bytes of a fragment of a large message"},
    {"in_flight", 4, "fragments under way at once", ParameterKind::number},
    {"radix", 4, "ranks that combine their data in a step at the top", ParameterKind::number},
    {"fan_in", 4, "children of a rank in the reductions of each level", ParameterKind::numbers},
    {"fan_out", 2, "children of a rank in the broadcasts of each level", ParameterKind::numbers},
};
extern constinit const Algorithm<ReduceArgs> cheetah_algorithm = {
    "cheetah",
    "reduce up the levels, recursive k-ing at the top, broadcast down, in fragments",
    Family::cheetah,
    "Gorentla Venkata et al., CLUSTER 2013, sections IV and VI",
    requires_commutative,
    cheetah_parameters,
    TUTTI_RUNS(cheetah)};

}   // namespace tutti::coll::algorithms::allreduce
