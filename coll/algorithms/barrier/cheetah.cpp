// SPDX-License-Identifier: BSD-3-Clause
// Barrier composed of primitives: n-ary fan-ins up the levels, recursive k-ing at the top, n-ary fan-outs down, in a
// general schedule: of what a rank waits for, whichever comes first is taken first; only what it tells depends on it.
// 2 sum over lower levels of log_n(team) + log_k(top) (+ 2 with extra ranks) steps; no data.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), section III.C.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/schedule/run.hpp"

namespace tutti::coll::algorithms::barrier {
namespace {

enum Part : std::size_t { radix = 1, fan_in, fan_out };

}   // namespace

template <class Env>
Task cheetah(Env& env, BarrierArgs const& a) {
    topo::Hierarchy const& tree = env.hierarchy();
    topo::Team const top = tree.team(tree.levels() - 1, env.rank());
    RecursiveKIngPlan const plan(top.members.size(), static_cast<int>(a.parameters[radix]), false);
    Schedule schedule(env.frames(), Order::general, plan.buffers(), false);
    compose_for_all(schedule, tree, env.rank(), plan, a.parameters, fan_in, fan_out);
    ScheduleRun<Env> run(env, schedule, {}, 0, 0, 1, plan.buffers());
    co_await run.run();
}

constexpr Parameter cheetah_parameters[] = {
    hierarchy_parameter,
    {"radix", 4, "ranks that tell each other in a step at the top", ParameterKind::number},
    {"fan_in", 4, "children of a rank in the fan-ins of each level", ParameterKind::numbers},
    {"fan_out", 4, "children of a rank in the fan-outs of each level", ParameterKind::numbers},
};
extern constinit const Algorithm<BarrierArgs> cheetah_algorithm = {
    "cheetah",          "fan in up the levels, recursive k-ing at the top, fan out down, in any order",
    Family::cheetah,    "Gorentla Venkata et al., CLUSTER 2013, section III.C",
    requires_nothing,   cheetah_parameters,
    TUTTI_RUNS(cheetah)};

}   // namespace tutti::coll::algorithms::barrier
